"""What do operators give that pick and place elements at indices?

Reading order: `advanced` (tensors of indices), `along` (a vector of indices), `placing` (positions, masks,
reductions).

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (TORCH_META_FUNC)
"""
