"""How do tensors exchange data with Python objects, NumPy and other libraries?

Reading order: `nested` (numbers and sequences), `from_data` (constructors), `dlpack` (the capsules), `exchange` (out of
a tensor), `foreign_memory` (into one), `creation` (`tensor`, `as_tensor`), `asarray`.

Mirrors: torch/csrc/utils/tensor_new.cpp, torch/csrc/utils/tensor_numpy.cpp, aten/src/ATen/DLConvertor.cpp
"""
