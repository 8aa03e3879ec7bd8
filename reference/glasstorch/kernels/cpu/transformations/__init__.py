"""How are elements reordered, repeated and masked to triangles on the CPU?

Reading order: `order` (flip and roll), `repeats`, `triangles`.

Mirrors: aten/src/ATen/native/TensorTransformations.cpp, TriangularOps.cpp
"""
