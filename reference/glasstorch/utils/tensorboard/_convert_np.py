"""Which NumPy array holds what a program wants to log?

Mirrors: torch/utils/tensorboard/_convert_np.py
Differs: bfloat16 becomes float32, so that every value is kept (PyTorch's float16 overflows at 65,520); a meta tensor is
    refused, where PyTorch logs a random number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bfloat16, float32


def make_np(x: Any) -> np.ndarray[Any, Any]:
    """The values of a tensor, an array or a number; a number becomes an array of one element."""
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if not isinstance(x, Tensor):
        raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
    if x.device.type == "meta":
        raise NotImplementedError(f"Got a meta tensor of shape {tuple(x.shape)}: it has no values that could be logged")
    x = x.detach()
    array: np.ndarray[Any, Any] = (x.to(float32) if x.dtype == bfloat16 else x).cpu().numpy()
    return array
