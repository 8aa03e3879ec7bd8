"""What are torch.cuda.FloatTensor and the other legacy types of CUDA tensors?

Mirrors: torch/csrc/tensor/python_tensor.cpp, torch/cuda/__init__.py
Differs: classes, as those of CPU tensors are.
"""

from __future__ import annotations

from glasstorch.core.dtype import bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, uint8
from glasstorch.python_forms.tensor_types import named

BFloat16Tensor = named(bfloat16, "BFloat16", on="cuda")
BoolTensor = named(bool_, "Bool", on="cuda")
ByteTensor = named(uint8, "Byte", on="cuda")
CharTensor = named(int8, "Char", on="cuda")
DoubleTensor = named(float64, "Double", on="cuda")
FloatTensor = named(float32, "Float", on="cuda")
HalfTensor = named(float16, "Half", on="cuda")
IntTensor = named(int32, "Int", on="cuda")
LongTensor = named(int64, "Long", on="cuda")
ShortTensor = named(int16, "Short", on="cuda")
