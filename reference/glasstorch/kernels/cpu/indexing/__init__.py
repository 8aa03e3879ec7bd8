"""How are elements gathered and written by index on the CPU?

Reading order: `advanced` (tensors of indices), `along` (a vector of indices), `scattering` (an index for each element),
`placing` (flat indices and masks).

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp, cpu/IndexKernel.cpp, cpu/ScatterGatherKernel.cpp
"""
