"""How are pointwise operators computed on a CUDA device?

Reading order: `expressions` (how an expression becomes a kernel), `binary`, `unary`, `ternary`, `power`, `select`.

Mirrors: aten/src/ATen/native/cuda/BinaryOpsKernel.cu (and its neighbours), cuda/jit_utils.cpp
"""
