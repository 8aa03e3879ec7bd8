"""How does data from outside become a tensor, and a tensor data for others?

Reading order: `nested` (numbers and sequences), `from_data` (constructors), `exchange` (NumPy, DLPack and CUDA's array
interface, out of a tensor), `dlpack` (the capsules).

Mirrors: torch/csrc/utils/tensor_new.cpp, torch/csrc/utils/tensor_numpy.cpp, aten/src/ATen/DLConvertor.cpp
"""
