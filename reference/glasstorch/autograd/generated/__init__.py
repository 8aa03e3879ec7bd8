"""What the generator wrote from the declarations.

Reading order: `autograd_kernels`, `inplace_or_view_kernels`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""
