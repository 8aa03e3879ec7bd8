"""How does gradcheck compare derivatives with finite differences?

Reading order: `values` (what counts as an input and as an output), `messages` (what a failed check says), `numerical`
and `analytical` (the Jacobians, or their products with vectors, from differences and from autograd), `comparison`
(whether they agree, element by element or in one number), `complex_parts` (of complex functions real ones are checked),
`undefined` (gradients and tangents that are not there), `batched` (under vmap), `sparse_inputs`.

Mirrors: torch/autograd/gradcheck.py
Differs: split by question. There are no MKLDNN tensors.
"""
