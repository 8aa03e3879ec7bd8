"""What shape and dtype do the results of indexing operators have?

Reading order: `advanced` (index tensors), `along` (an index vector), `placing` (flat indices, masks,
reductions).

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (TORCH_META_FUNC)
"""
