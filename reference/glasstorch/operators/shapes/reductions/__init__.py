"""What shape and dtype do reductions have, and over which dimensions do they run?

Reading order: `sums` (with means, extrema, all and any), `moments` (with products, counts and hashes).

Mirrors: aten/src/ATen/native/ReduceOps.cpp, ReduceOpsUtils.h
"""
