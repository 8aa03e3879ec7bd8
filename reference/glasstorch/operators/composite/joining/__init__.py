"""Which ways of joining tensors are made of others?

Reading order: `stacks`, `grids` (all combinations of elements).

Mirrors: aten/src/ATen/native/TensorShape.cpp, Itertools.cpp
"""
