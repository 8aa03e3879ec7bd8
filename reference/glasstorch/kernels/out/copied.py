"""How is a result computed and then copied to the tensor given as out=?

See Note [The ways to write to out=].

Mirrors: gen_composite_out_kernel in torchgen/native_function_generation.py; resize_out_helper and copy_arg in
    aten/src/ATen/templates/CompositeViewCopyKernels.cpp; aten/src/ATen/native/TensorShape.cpp (unbind_copy_int_out,
    split_copy_Tensor_out, split_with_sizes_copy_out, narrow_copy_dense_cpu_out)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.errors import DeviceError, DtypeError, ShapeError
from glasstorch.core.return_types import named_result
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import check_writable, resize_output
from glasstorch.operators.composite.dropout import native_dropout
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.operator_row import OperatorRow
from glasstorch.operators.shapes.result import C_NAMES

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)


def copy_out(result: Tensor, out: Tensor) -> Tensor:
    """Resize `out` to the result's sizes and copy the result to it; `out` must have its dtype and device."""
    check_out(result, out)
    resize_output(out, result._shape)
    return out.copy_(result)


def copy_outs(results: Sequence[Tensor], outs: Sequence[Tensor]) -> list[Tensor]:
    """`copy_out` for several results; if one of them is refused, none is written."""
    pairs = list(zip(results, outs, strict=True))
    for result, out in pairs:
        check_out(result, out)
    return [copy_out(result, out) for result, out in pairs]


def check_out(result: Tensor, out: Tensor) -> None:
    """Refuse an `out` that overlaps itself, or whose dtype or device differs from the result's."""
    if out.dtype is not result.dtype:
        raise DtypeError(
            f"Expected out tensor to have dtype {C_NAMES[result.dtype.name]}, but got {C_NAMES[out.dtype.name]} instead"
        )
    if out.device != result.device:
        raise DeviceError(f"Expected out tensor to have device {result.device}, but got {out.device} instead")
    if out._shape == result._shape:
        check_writable(out, ())


def copied_out(row: OperatorRow) -> Callable[..., Any]:
    """The out= kernel that computes the results and copies them."""
    operator: Callable[..., Any] = on_tensors(str(row.functional))
    count = row.schema.rpartition(" -> ")[2].count("!")  # number of results; the schema is only parsed on first use

    def with_out(*arguments: Any) -> Tensor:
        *inputs, out = arguments
        return copy_out(operator(*inputs), out)

    def with_outs(*arguments: Any) -> Any:
        return named_result(str(row.functional), copy_outs(operator(*arguments[:-count]), arguments[-count:]))

    return with_out if count == 1 else with_outs


@COMPOSED.impl("narrow_copy.out")
def narrow_copy_out(self: Tensor, dim: int, start: int, length: int, out: Tensor) -> Tensor:
    """The view that `narrow` returns, copied to `out`, which is resized without a warning."""
    result = self.narrow(dim, start, length)
    if out.dtype is not self.dtype:
        raise DtypeError(f"narrow_copy: expected an out= of dtype {self.dtype}, as the input has, but got {out.dtype}")
    return out.resize_(result._shape).copy_(result)


# Several results ------------------------------------------------------------------------------------------------


def copied_outs(form: str, views: Callable[..., Sequence[Tensor]], named: str) -> None:
    """Register the out= form of an operator that returns a list; each `out` must have the sizes of its piece."""

    def with_outs(*arguments: Any) -> None:
        *inputs, outs = arguments
        for piece, out in _paired(views(*inputs), outs, named):
            out.copy_(piece)

    COMPOSED.add(form, with_outs)


def _paired(pieces: Sequence[Tensor], outs: Sequence[Tensor], named: str) -> list[tuple[Tensor, Tensor]]:
    if len(outs) != len(pieces):
        raise ShapeError(f"{named} expected an out= argument of size {len(pieces)}, got size {len(outs)}")
    return list(zip(pieces, outs, strict=True))


@COMPOSED.impl("native_dropout.out")
def native_dropout_out(
    input: Tensor, p: float, train: bool | None, out0: Tensor, out1: Tensor
) -> tuple[Tensor, Tensor]:
    """What dropout leaves and the mask of it, each copied to its own `out`."""
    first, second = copy_outs(native_dropout(input, p, train), (out0, out1))
    return first, second


copied_outs("split_copy.Tensor_out", on_tensor("split.Tensor"), "split_copy_Tensor_out()")
copied_outs("unbind_copy.int_out", on_tensor("unbind.int"), "unbind_copy_int_out")


@COMPOSED.impl("split_with_sizes_copy.out")
def split_with_sizes_copy_out(self: Tensor, split_sizes: Sequence[int], dim: int, out: Sequence[Tensor]) -> None:
    """Pieces of the given sizes, each copied to its own `out`, which is resized if necessary."""
    pieces = self.split_with_sizes(split_sizes, dim)
    copy_outs(*zip(*_paired(pieces, out, "split_with_sizes_copy_out"), strict=True))
