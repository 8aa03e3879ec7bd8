"""What do operators give that put elements in another order or cut them off?

Reading order: `order` (flip and roll), `triangles`.

Mirrors: aten/src/ATen/native/TensorTransformations.cpp, TriangularOps.cpp
"""
