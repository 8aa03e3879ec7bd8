"""How are special functions of large tensors made fast on the CPU?

Reading order: `functions` (lines between samples, fits and series), `error_function`, `polynomials`.

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/Math.h
"""
