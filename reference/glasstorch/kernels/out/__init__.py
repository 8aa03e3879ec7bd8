"""How is a result written to the tensor given as out= if the operator has no kernel that does so?

Reading order: `passed_on` (out= is passed on to another operator), `copied` (the result is computed, then copied),
`composed` (the same where PyTorch wrote it by hand; some cast), `diagonals`, `rows` (registers what the operator table
says).

Mirrors: gen_composite_out_kernel in torchgen/native_function_generation.py, `_out` functions of aten/src/ATen/native
"""
