"""What the generator wrote from the declarations.

Reading order: `registry`, `functions`, `methods`, `public`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""
