"""How are random numbers drawn on the CPU?

Reading order: `distributions` (numbers put into a tensor), `multinomial`.

Mirrors: aten/src/ATen/native/Distributions.cpp
"""
