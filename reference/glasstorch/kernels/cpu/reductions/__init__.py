"""How are dimensions of a tensor reduced on the CPU?

Reading order: `sums` (with means, extrema, all and any), `moments` (with products, counts and hashes).

Mirrors: aten/src/ATen/native/ReduceOps.cpp, cpu/ReduceOpsKernel.cpp
"""
