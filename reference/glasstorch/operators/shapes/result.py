"""What a shape function answers.

Mirrors: set_output_raw_strided in aten/src/ATen/TensorMeta.h
Differs: a value, returned, instead of a call on the kernel's object.
"""

from __future__ import annotations

from typing import NamedTuple

from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Shape


class Result(NamedTuple):
    """Sizes, dtype and strides of one result; strides None are row-major."""

    shape: Shape
    dtype: dtype
    strides: Shape | None = None
