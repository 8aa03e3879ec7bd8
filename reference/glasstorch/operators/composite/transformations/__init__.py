"""Which operators that reorder, repeat or lay out elements on a diagonal are composed of others?

Reading order: `order` (rot90, repeat, tile), `diagonals`.

Mirrors: aten/src/ATen/native/TensorTransformations.cpp, TensorShape.cpp, Repeat.cpp
"""
