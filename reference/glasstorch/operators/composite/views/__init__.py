"""Which views, and copies of views, are composed of others?

Reading order: `shapes`, `pieces`, `copies` (views as copies), `scatters` (copies of a tensor with a view replaced).

Mirrors: aten/src/ATen/native/TensorShape.cpp
"""
