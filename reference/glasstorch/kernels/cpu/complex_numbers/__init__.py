"""How are complex numbers computed on the CPU?

Reading order: `parts` (complex tensors from real ones), `conjugation`.

Mirrors: aten/src/ATen/native/cpu/ComplexKernel.cpp, cpu/UnaryOpsKernel.cpp (conj_kernel)
"""
