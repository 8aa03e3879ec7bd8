"""The generated autograd nodes and kernels, the rows of ADInplaceOrView kernels, and the rules of tangents.

Reading order: `autograd_kernels`, `inplace_or_view_kernels`, `forward_rules`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""
