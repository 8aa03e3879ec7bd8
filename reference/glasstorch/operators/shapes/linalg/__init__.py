"""What do the operators of linear algebra give?

Reading order: `decompositions`, `factors`, `solvers`, `norms`.

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp (TORCH_META_FUNC)
"""
