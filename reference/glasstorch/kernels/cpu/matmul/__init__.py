"""How are products of matrices and vectors computed on the CPU?

Reading order: `products`, `added` (products added to a tensor).

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp, Blas.cpp
"""
