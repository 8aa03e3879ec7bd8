"""How is linear algebra computed on the CPU?

Reading order: `batches` (what every kernel does around a routine of LAPACK), `inverses` (square matrices: inverse,
solution, determinant), `factors`, `solvers`, `spectra`, `norms`, `matrix_exponential`.

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, BatchLinearAlgebraKernel.cpp, LinearAlgebra.cpp
"""
