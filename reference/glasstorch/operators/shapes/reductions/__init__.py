"""What do reductions give, and over which dimensions?

Reading order: `sums` (with means, extrema, all and any), `moments` (with products, counts and hashes).

Mirrors: aten/src/ATen/native/ReduceOps.cpp, ReduceOpsUtils.h
"""
