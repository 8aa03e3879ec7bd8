"""How are elements put in another order, repeated and cut off on the CPU?

Reading order: `order` (flip and roll), `repeats`, `triangles`.

Mirrors: aten/src/ATen/native/TensorTransformations.cpp, TriangularOps.cpp
"""
