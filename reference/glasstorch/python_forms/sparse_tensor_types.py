"""What are torch.sparse.FloatTensor and the other legacy types of COO tensors?

Mirrors: torch/csrc/tensor/python_tensor.cpp, torch/csrc/utils/tensor_types.cpp
Differs: classes, as those of strided tensors are.
"""

from __future__ import annotations

from glasstorch.core.dtype import bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8
from glasstorch.core.layout import sparse_coo
from glasstorch.python_forms.tensor_types import named

BFloat16Tensor = named(bfloat16, "BFloat16", layout=sparse_coo)
ByteTensor = named(uint8, "Byte", layout=sparse_coo)
CharTensor = named(int8, "Char", layout=sparse_coo)
DoubleTensor = named(float64, "Double", layout=sparse_coo)
FloatTensor = named(float32, "Float", layout=sparse_coo)
HalfTensor = named(float16, "Half", layout=sparse_coo)
IntTensor = named(int32, "Int", layout=sparse_coo)
LongTensor = named(int64, "Long", layout=sparse_coo)
ShortTensor = named(int16, "Short", layout=sparse_coo)
