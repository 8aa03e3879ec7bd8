"""Which views, and copies of views, are made of others?

Reading order: `shapes`, `pieces`, `copies` (views as copies), `scatters` (a tensor with other elements where a view
looks).

Mirrors: aten/src/ATen/native/TensorShape.cpp
"""
