"""Which joining operators are composed of others?

Reading order: `stacks`, `grids` (all combinations of elements), `chunks` (of each tensor).

Mirrors: aten/src/ATen/native/TensorShape.cpp, Itertools.cpp
"""
