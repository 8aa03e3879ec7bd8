"""How does data from outside become a tensor, and a tensor data for others?

Reading order: `nested` (numbers and sequences), `from_data` (constructors), `dlpack` (the capsules), `exchange` (out of
a tensor), `foreign_memory` (into one), `creation` (`tensor`, `as_tensor`), `asarray`.

Mirrors: torch/csrc/utils/tensor_new.cpp, torch/csrc/utils/tensor_numpy.cpp, aten/src/ATen/DLConvertor.cpp
"""
