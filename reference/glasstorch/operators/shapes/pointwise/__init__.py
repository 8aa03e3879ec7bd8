"""What shape, dtype and strides do pointwise operators return?

Reading order: `broadcast` (the common rule, and the operators that follow it), `rules` (those that refuse inputs or
promote dtypes in their own way).

Mirrors: aten/src/ATen/TensorIterator.cpp, aten/src/ATen/native/BinaryOps.cpp, UnaryOps.cpp, PointwiseOps.cpp
"""
