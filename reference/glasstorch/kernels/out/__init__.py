"""How is a result written into the tensor given as out= where no kernel does it itself?

Reading order: `passed_on` (another operator is handed the tensor), `copied` (the result is computed, then copied),
`composed` (as PyTorch wrote that by hand: some cast), `diagonals`, `rows` (what the operator table says is registered).

Mirrors: gen_composite_out_kernel in torchgen/native_function_generation.py, `_out` functions of aten/src/ATen/native
"""
