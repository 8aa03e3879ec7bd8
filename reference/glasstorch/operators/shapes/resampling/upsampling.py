"""What shape have signals, images and volumes of another size, and which are refused?

Mirrors: aten/src/ATen/native/UpSample.h (upsample_1d_common_check, upsample_2d_common_check, upsample_3d_common_check),
    UpSampleBilinear2d.cpp (TORCH_META_FUNC) and the files beside it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.dtype import FLOATS, bfloat16, dtype, float16, uint8
from glasstorch.core.errors import ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.pooling.windows import laid_out_as
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

AXES = ("D", "H", "W")


class Rule(NamedTuple):
    """What an operator accepts, and the names of PyTorch's kernels in messages."""

    dims: int
    kernel: str
    backward: str
    dtypes: frozenset[dtype]


def _check_sizes(sizes: Sequence[int], output_size: Sequence[int], dims: int) -> None:
    """As many sizes as dimensions, all of them positive."""
    for name, given, expected in (("output_size", output_size, dims), ("input_size", sizes, dims + 2)):
        if len(given) != expected:
            raise ShapeError(f"It is expected {name} equals to {expected}, but got size {len(given)}")
    if any(size <= 0 for size in (*sizes[2:], *output_size)):
        before, after = (
            ", ".join(f"{axis}: {size}" for axis, size in zip(AXES[-dims:], each, strict=True))
            for each in (sizes[2:], output_size)
        )
        joint = " and" if dims == 1 else ""
        raise ShapeError(
            f"Input and output sizes should be greater than 0, but got input ({before}){joint} output ({after})"
        )


def _forward(rule: Rule) -> Callable[..., Result]:
    def shape(self: Tensor, output_size: Sequence[int], *how: object) -> Result:
        _check_sizes(self._shape, output_size, rule.dims)
        if not prod(self._shape[1:]):
            raise ShapeError(
                f"Non-empty {rule.dims + 2}D data tensor expected but got a tensor with sizes {list(self._shape)}"
            )
        if self.dtype not in rule.dtypes:
            raise not_implemented_for(rule.kernel, self.dtype)
        sizes = (*self._shape[:2], *output_size)
        return Result(sizes, self.dtype, laid_out_as(self, sizes), same_dtype)

    return shape


def _backward(rule: Rule) -> Callable[..., Result]:
    def shape(grad_output: Tensor, output_size: Sequence[int], input_size: Sequence[int], *how: object) -> Result:
        _check_sizes(input_size, output_size, rule.dims)
        _check_gradient(grad_output._shape, (*input_size[:2], *output_size))
        if grad_output.dtype not in rule.dtypes - {uint8}:
            raise not_implemented_for(rule.backward, grad_output.dtype)
        sizes = tuple(input_size)
        return Result(sizes, grad_output.dtype, laid_out_as(grad_output, sizes), same_dtype)

    return shape


def _check_gradient(sizes: Shape, expected: Shape) -> None:
    """The sizes of the result, in PyTorch's two wordings."""
    differs = [dim for dim, size in enumerate(expected) if sizes[dim : dim + 1] != (size,)]
    if len(expected) == 3 and (differs or len(sizes) != 3):
        dim = 0 if len(sizes) != 3 else differs[0]
        raise ShapeError(
            f"Expected a tensor of dimension 3 and tensor.size[{dim}] == {expected[dim]} but got: "
            f"dimension {len(sizes)} and tensor.size[{dim}] = {sizes[dim] if sizes else 'none'}"
        )
    if len(sizes) != len(expected):
        raise ShapeError(
            f"Expected grad_output to be a tensor of dimension {len(expected)} but got: dimension {len(sizes)}"
        )
    if differs:
        dim = differs[0]
        raise ShapeError(
            f"Expected grad_output to have the same shape as output; output.size({dim}) = {expected[dim]} but got "
            f"grad_output.size({dim}) = {sizes[dim]}"
        )


WITH_BYTES = FLOATS | {uint8}

NEAREST = "compute_indices_weights_nearest"
LINEAR = "compute_indices_weights_linear"
CUBIC = "compute_indices_weights_cubic"
RANGES = "compute_index_ranges_weights"
WIDE_WITH_BYTES = WITH_BYTES - {float16, bfloat16}

_nearest1d = Rule(1, NEAREST, "upsample_nearest1d_backward", WITH_BYTES)
_nearest2d = Rule(2, "upsample_nearest2d_channels_last", "upsample_nearest2d_backward", WITH_BYTES)
_nearest3d = Rule(3, NEAREST, "upsample_nearest3d_backward", WITH_BYTES)
_exact1d = Rule(1, NEAREST, "_upsample_nearest_exact1d_backward", WITH_BYTES)
_exact2d = Rule(2, "upsample_nearest2d_channels_last", "_upsample_nearest_exact2d_backward", WITH_BYTES)
_exact3d = Rule(3, NEAREST, "_upsample_nearest_exact3d_backward", WITH_BYTES)
_linear1d = Rule(1, LINEAR, "upsample_linear1d_backward", FLOATS)
_bilinear2d = Rule(2, "upsample_bilinear2d_channels_last", "upsample_bilinear2d_backward", WITH_BYTES)
_trilinear3d = Rule(3, LINEAR, "upsample_trilinear3d_backward", FLOATS)
_bicubic2d = Rule(2, CUBIC, "upsample_bicubic2d_backward", WITH_BYTES)
_bilinear2d_aa = Rule(2, RANGES, "upsample_bilinear2d_aa_backward_cpu", WIDE_WITH_BYTES)
_bicubic2d_aa = Rule(2, RANGES, "upsample_bicubic2d_aa_backward_cpu", WIDE_WITH_BYTES)
_lanczos2d_aa = Rule(2, RANGES, "upsample_lanczos2d_aa_backward_cpu", WIDE_WITH_BYTES)

upsample_nearest1d, upsample_nearest1d_backward = _forward(_nearest1d), _backward(_nearest1d)
upsample_nearest2d, upsample_nearest2d_backward = _forward(_nearest2d), _backward(_nearest2d)
upsample_nearest3d, upsample_nearest3d_backward = _forward(_nearest3d), _backward(_nearest3d)
_upsample_nearest_exact1d, _upsample_nearest_exact1d_backward = _forward(_exact1d), _backward(_exact1d)
_upsample_nearest_exact2d, _upsample_nearest_exact2d_backward = _forward(_exact2d), _backward(_exact2d)
_upsample_nearest_exact3d, _upsample_nearest_exact3d_backward = _forward(_exact3d), _backward(_exact3d)
upsample_linear1d, upsample_linear1d_backward = _forward(_linear1d), _backward(_linear1d)
upsample_bilinear2d, upsample_bilinear2d_backward = _forward(_bilinear2d), _backward(_bilinear2d)
upsample_trilinear3d, upsample_trilinear3d_backward = _forward(_trilinear3d), _backward(_trilinear3d)
upsample_bicubic2d, upsample_bicubic2d_backward = _forward(_bicubic2d), _backward(_bicubic2d)
_upsample_bilinear2d_aa, _upsample_bilinear2d_aa_backward = _forward(_bilinear2d_aa), _backward(_bilinear2d_aa)
_upsample_bicubic2d_aa, _upsample_bicubic2d_aa_backward = _forward(_bicubic2d_aa), _backward(_bicubic2d_aa)
_upsample_lanczos2d_aa, _upsample_lanczos2d_aa_backward = _forward(_lanczos2d_aa), _backward(_lanczos2d_aa)
