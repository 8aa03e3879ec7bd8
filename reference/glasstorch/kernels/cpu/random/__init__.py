"""How are random numbers drawn on the CPU?

Reading order: `distributions` (filling a tensor), `multinomial`.

Mirrors: aten/src/ATen/native/Distributions.cpp
"""
