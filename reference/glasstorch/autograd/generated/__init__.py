"""The generated autograd nodes and kernels, and the rows of ADInplaceOrView kernels.

Reading order: `autograd_kernels`, `inplace_or_view_kernels`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""
