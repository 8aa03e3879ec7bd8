"""What shape and dtype do losses have, and which inputs are refused?

Mirrors: aten/src/ATen/native/LossNLL.cpp, LossNLL2d.cpp, Loss.cpp (TORCH_META_FUNC and checks)
Differs: nll_loss checks the targets' dtype before its sizes; nll_loss2d shares the checks of nll_loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, dtype, int64, uint8
from glasstorch.core.errors import ArgumentValueError, DimensionError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

NONE, MEAN, SUM = 0, 1, 2  # the integers that stand for a reduction in schemas


# nll_loss -------------------------------------------------------------------------------------------------------


def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Result, Result]:
    """The loss, of the target's shape unless reduced, and the total weight, a single element."""
    _check_nll(self, target, weight)
    _check_floating("nll_loss_out_frame", self)
    batched = len(self._shape) == 2
    shape = target._shape if reduction == NONE and batched else ()
    return Result(shape, self.dtype, None, same_dtype), Result((), self.dtype, None, same_dtype)


def nll_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Result:
    """The shape and dtype of the input."""
    _check_nll(self, target, weight)
    if reduction == NONE and len(self._shape) == 2:
        if grad_output._shape != target._shape:
            raise ShapeError(
                f"Expected a tensor of dimension 1 and tensor.size[0] == {self._shape[0]} but got: dimension "
                f"{len(grad_output._shape)} and tensor.size[0] = {(*grad_output._shape, 0)[0]}"
            )
    else:
        _check_single("grad_output", grad_output)
    return _nll_gradient("nll_loss", grad_output, self, total_weight)


def nll_loss2d_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Result, Result]:
    """As nll_loss_forward, with a target for each pixel."""
    _check_nll2d(self, target, weight)
    _check_floating("nll_loss2d_forward_out_frame", self)
    shape = target._shape if reduction == NONE else ()
    return Result(shape, self.dtype, None, same_dtype), Result((), self.dtype, None, same_dtype)


def nll_loss2d_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Result:
    """The shape and dtype of the input."""
    _check_nll2d(self, target, weight)
    if reduction == NONE:
        if len(grad_output._shape) != 3:
            raise ShapeError(
                f"grad_output must have same dimension as target (3) but got dimension: {list(grad_output._shape)}"
            )
        if grad_output._shape != target._shape:
            raise ShapeError(
                f"size mismatch (got grad_output: {list(grad_output._shape)} target: {list(target._shape)}"
            )
    else:
        _check_single("grad_output", grad_output)
    return _nll_gradient("nll_loss2d", grad_output, self, total_weight)


def _nll_gradient(name: str, grad_output: Tensor, self: Tensor, total_weight: Tensor) -> Result:
    if total_weight.numel() != 1:
        raise ShapeError(
            f"expected total_weight to be a single element tensor, got: {list(total_weight._shape)} "
            f"({total_weight.numel()} elements)"
        )
    _check_floating(f"{name}_backward_out_frame", self)
    _check_same(self.dtype, grad_output.dtype)
    _check_same(self.dtype, total_weight.dtype)
    return Result(self._shape, self.dtype, None, same_dtype)


def _check_nll(self: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """(C) with a single target, or (N, C) with (N); a weight for each class."""
    _check_target(target, (int64, uint8))
    scores, targets = self._shape, target._shape
    if len(scores) not in (1, 2):
        raise ShapeError(f"input tensor should be 1D or 2D, got sizes {list(scores)}")
    if len(targets) > 1:
        raise ShapeError(f"0D or 1D target tensor expected, multi-target not supported, got sizes {list(targets)}")
    if len(scores) == 1:
        if targets not in ((), (1,)):
            raise ArgumentValueError(f"For 1D input, 1D target must have size 1, but got target size: {targets[0]}")
    elif not targets:
        raise DimensionError("Dimension specified as 0 but tensor has no dimensions: a batch needs a 1D target")
    elif scores[0] != targets[0]:
        raise ShapeError(f"size mismatch (got input: {list(scores)}, target: {list(targets)})")
    _check_weight(self, weight)


def _check_nll2d(self: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """(N, C, H, W) with (N, H, W); a weight for each class."""
    _check_target(target, (int64,))
    scores, targets = self._shape, target._shape
    if len(targets) != 3:
        raise ShapeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(targets)}"
        )
    if len(scores) != 4:
        raise ShapeError(
            f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {len(scores)}"
        )
    if (scores[0], *scores[2:]) != targets:
        raise ShapeError(f"size mismatch (got input: {list(scores)} , target: {list(targets)}")
    _check_weight(self, weight)


def _check_target(target: Tensor, accepted: tuple[dtype, ...]) -> None:
    """Class indices are int64; nll_loss also accepts uint8."""
    if target.dtype not in (int64, uint8):
        raise DtypeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")
    if target.dtype not in accepted:
        _check_same(accepted[0], target.dtype)


def _check_weight(self: Tensor, weight: Tensor | None) -> None:
    """A weight for each class, of the input's dtype."""
    if weight is None:
        return
    classes = self._shape[0] if len(self._shape) == 1 else self._shape[1]
    if weight.numel() != classes or (len(self._shape) <= 2 and len(weight._shape) != 1):
        raise ShapeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor "
            f"of shape: {list(weight._shape)}"
        )
    _check_same(self.dtype, weight.dtype)


def _check_single(name: str, tensor: Tensor) -> None:
    if tensor.numel() != 1:
        raise ShapeError(f"Expected a single element {name} tensor, but got: {list(tensor._shape)}")


# mse_loss -------------------------------------------------------------------------------------------------------


def mse_loss(self: Tensor, target: Tensor, reduction: int) -> Result:
    """The broadcast shape of both unless reduced."""
    shape = broadcast_shapes(self._shape, target._shape)
    computed = result_type(self, target)
    if computed not in FLOATS:
        raise not_implemented_for("mse_cpu", computed)
    return Result(shape if reduction == NONE else (), computed)


def mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Result:
    """The broadcast shape of all three."""
    shape = broadcast_shapes(self._shape, target._shape, grad_output._shape)
    computed = result_type(self, target, grad_output)
    if computed not in FLOATS:
        raise not_implemented_for("mse_backward_cpu_out", computed)
    return Result(shape, computed)


# dtypes ---------------------------------------------------------------------------------------------------------


def _check_same(expected: dtype, found: dtype) -> None:
    if expected is not found:
        raise DtypeError(f"expected scalar type {expected.scalar_name} but found {found.scalar_name}")


def _check_floating(kernel: str, tensor: Tensor) -> None:
    if tensor.dtype not in FLOATS:
        raise not_implemented_for(kernel, tensor.dtype)
