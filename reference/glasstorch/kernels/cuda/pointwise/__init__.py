"""How are pointwise operators computed on a CUDA device?

Reading order: `expressions` (how an expression becomes a kernel), `shared` (the kernels of the table of formulas),
`division`, `power`, `select`, `ternary`.

Mirrors: aten/src/ATen/native/cuda/BinaryOpsKernel.cu (and its neighbours), cuda/jit_utils.cpp
"""
