"""Which operators put elements in another order, repeat them or lay them on a diagonal with the help of others?

Reading order: `order` (rot90, repeat, tile), `diagonals`.

Mirrors: aten/src/ATen/native/TensorTransformations.cpp, TensorShape.cpp, Repeat.cpp
"""
