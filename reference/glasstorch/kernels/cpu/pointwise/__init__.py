"""How are pointwise operators computed on the CPU?

Reading order: `loops` (how a loop becomes a kernel), `steps` (what NumPy lacks), `shared` (the kernels of the table in
`kernels/pointwise`), `binary`, `ternary`, `power`, `rounding`, `logic`, `elementary`, `parts`.

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, cpu/UnaryOpsKernel.cpp, cpu/PointwiseOpsKernel.cpp
"""
