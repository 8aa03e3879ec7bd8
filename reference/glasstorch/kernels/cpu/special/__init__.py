"""How are special functions computed on the CPU?

Reading order: `scipy_ufuncs` (a function of SciPy as a loop), `functions`, `polynomials`.

Mirrors: aten/src/ATen/native/Math.h, cpu/UnaryOpsKernel.cpp, cpu/BinaryOpsKernel.cpp
"""
