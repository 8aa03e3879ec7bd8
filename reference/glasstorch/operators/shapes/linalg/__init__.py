"""What shapes and dtypes do the results of linear algebra have?

Reading order: `decompositions`, `factors`, `solvers`, `norms`.

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp (TORCH_META_FUNC)
"""
