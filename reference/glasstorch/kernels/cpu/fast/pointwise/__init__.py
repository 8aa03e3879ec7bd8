"""How are pointwise operators made fast on the CPU?

Reading order: `loops` (short paths for the arguments that most calls have), `threads`, `steps` (division in double
precision), `elementary`, `parts`; then the short paths of single operators: `rounding`, `shared`, `power`, `ternary`.

Mirrors: aten/src/ATen/native/cpu/Loops.h (vectorized_loop), aten/src/ATen/Parallel.h
"""
