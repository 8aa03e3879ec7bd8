"""Which helpers do the formulas of linear algebra call?

Reading order: `decompositions`, `norms`, `factors`.

Mirrors: torch/csrc/autograd/FunctionsManual.cpp
"""
