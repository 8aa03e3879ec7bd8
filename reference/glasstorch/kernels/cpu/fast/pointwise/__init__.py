"""How are pointwise operators made fast on the CPU?

Reading order: `loops` (short paths for the arguments that most calls have), `operators` (those of single operators),
`threads`, `steps` (division in double precision), `elementary`, `parts`.

Mirrors: aten/src/ATen/native/cpu/Loops.h (vectorized_loop), aten/src/ATen/Parallel.h
"""
