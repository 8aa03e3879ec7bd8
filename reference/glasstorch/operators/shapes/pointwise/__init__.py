"""What do pointwise operators give?

Reading order: `broadcast` (the rule that all share, and the operators that follow it), `rules` (those that refuse or
promote in a way of their own).

Mirrors: aten/src/ATen/TensorIterator.cpp, aten/src/ATen/native/BinaryOps.cpp, UnaryOps.cpp, PointwiseOps.cpp
"""
