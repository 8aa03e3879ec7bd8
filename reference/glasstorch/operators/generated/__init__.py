"""The table of all operators, and the functions and methods that call them, as the generator writes them.

Reading order: `registry`, `functions`, `methods`, `public`; what type checkers read: `methods.pyi`, `public.pyi`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""
