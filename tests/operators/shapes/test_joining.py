"""Does the shape function of cat answer without touching an element?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.core.dtype import float32, float64, int64
from glasstorch.operators.shapes.joining import cat


def meta(*shape: int, dtype: glasstorch.dtype = float32) -> glasstorch.Tensor:
    return glasstorch.empty(shape, dtype=dtype, device="meta")


def test_sizes_add_up_along_the_dimension_and_dtypes_promote() -> None:
    result = cat([meta(2, 3), meta(2, 1, dtype=int64), meta(0, dtype=float64)], -1)
    assert (result.shape, result.dtype, result.strides) == ((2, 4), float64, None)


def test_channels_last_needs_all_tensors() -> None:
    last = glasstorch.empty(2, 3, 4, 5, device="meta", memory_format=glasstorch.channels_last)
    assert cat([last, last], 0).strides == (60, 1, 15, 3)
    assert cat([last, meta(2, 3, 4, 5)], 0).strides is None
    assert cat([last, meta(0)], 0).strides is None


def test_the_rule_of_out_is_its_own() -> None:
    result = cat([meta(2)], 0)
    result.check_out(float32, float64)
    with pytest.raises(TypeError, match="desired output type Long"):
        result.check_out(float32, int64)
