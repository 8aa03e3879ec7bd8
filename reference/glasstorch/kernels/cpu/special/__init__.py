"""How are special functions computed on the CPU?

Reading order: `error_function`, `functions`, `polynomials`.

Mirrors: aten/src/ATen/native/Math.h, cpu/UnaryOpsKernel.cpp, cpu/BinaryOpsKernel.cpp
"""
