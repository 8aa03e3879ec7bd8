"""How is it computed for tensors of which only some elements are specified?

Reading order: `tensors` (what every kernel asks about such a tensor), `sparse` (taken apart, coalesced, converted);
then, by family: `creation`, `pointwise`, `reductions`, `views`, `indexing`, `joining`, `copies`, `products`,
`times_dense`, `matmul`, `softmax`; in a folder of its own `compressed/` (CSR, CSC, BSR, BSC); and `on_meta`, without
elements.

Mirrors: aten/src/ATen/native/sparse
Differs: NumPy sorts and adds up, SciPy multiplies.
"""
