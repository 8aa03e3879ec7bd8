"""How are random numbers drawn on the CPU?

Reading order: `distributions` (filling a tensor), `multinomial`, `elementwise` (gamma, Dirichlet, Poisson and binomial
numbers, each with its parameters), `gradients` (of gamma and Dirichlet numbers).

Mirrors: aten/src/ATen/native/Distributions.cpp
"""
