"""What shape and strides do rearranged tensors and triangular parts have?

Reading order: `order` (flip and roll), `triangles`.

Mirrors: aten/src/ATen/native/TensorTransformations.cpp, TriangularOps.cpp
"""
