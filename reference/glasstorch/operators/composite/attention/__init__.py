"""How is attention composed, and which way of computing it is taken?

Reading order: `choice` (which ways are allowed, and which is taken), `scaled_dot_product`, `layers` (the operators of
a whole layer, without gradients).

Mirrors: aten/src/ATen/native/transformers
"""
