"""How are pointwise operators computed on the CPU?

Reading order: `loops` (how a loop becomes a kernel), `binary`, `unary`, `ternary`, `power`, `rounding`,
`logic`, `elementary`, `parts`, `select`.

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, cpu/UnaryOpsKernel.cpp, cpu/PointwiseOpsKernel.cpp
"""
