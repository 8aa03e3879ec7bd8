"""What shape and dtype do losses of classes have, and which inputs are refused?

Mirrors: aten/src/ATen/native/LossNLL.cpp, LossNLL2d.cpp, LossMulti.h, LossMultiMargin.cpp, LossMultiLabelMargin.cpp
    (TORCH_META_FUNC and checks)
Differs: nll_loss checks the targets' dtype before its sizes; nll_loss2d shares the checks of nll_loss. The gradients of
    multi_margin_loss and multilabel_margin_loss refuse a gradient of another size, where PyTorch reads beyond it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, Number, dtype, float32, float64, int64, uint8
from glasstorch.core.errors import (
    ArgumentError,
    ArgumentValueError,
    DimensionError,
    DtypeError,
    ShapeError,
    not_implemented_for,
)
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.loss.shared import NONE, check_same
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

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
    check_same(self.dtype, grad_output.dtype)
    check_same(self.dtype, total_weight.dtype)
    return Result(self._shape, self.dtype, None, same_dtype)


def _check_nll(self: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """(C) with a single target, or (N, C) with (N); a weight for each class."""
    scores, targets = self._shape, target._shape
    if len(scores) not in (1, 2):
        raise ShapeError(f"input tensor should be 1D or 2D, got sizes {list(scores)}")
    if len(targets) > 1:
        raise ShapeError(f"0D or 1D target tensor expected, multi-target not supported, got sizes {list(targets)}")
    _check_target(target)
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
    _check_target(target)
    _check_weight(self, weight)
    check_same(int64, target.dtype)


def _check_target(target: Tensor) -> None:
    """Class indices are int64; nll_loss also accepts uint8."""
    if target.dtype not in (int64, uint8):
        raise DtypeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")


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
    check_same(self.dtype, weight.dtype)


def _check_single(name: str, tensor: Tensor) -> None:
    if tensor.numel() != 1:
        raise ShapeError(f"Expected a single element {name} tensor, but got: {list(tensor._shape)}")


def _check_floating(kernel: str, tensor: Tensor, implemented: Collection[dtype] = FLOATS) -> None:
    if tensor.dtype not in implemented:
        raise not_implemented_for(kernel, tensor.dtype)


def _check_margins_of(kernel: str, scores: Tensor) -> None:
    """Margins are of float32 and float64; without scores, any dtype will do."""
    if scores.numel():
        _check_floating(kernel, scores, (float32, float64))


# multi_margin_loss ----------------------------------------------------------------------------------------------


def multi_margin_loss(
    self: Tensor, target: Tensor, p: Number, margin: Number, weight: Tensor | None, reduction: int
) -> Result:
    """The loss of each sample, of the target's shape, unless reduced."""
    _check_multi_margin(self, target, p, weight)
    _check_margins_of("multi_margin_loss_cpu_kernel", self)
    _check_operands(self, target, weight)
    return Result(target._shape if reduction == NONE else (), self.dtype, None, same_dtype)


def multi_margin_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None,
    reduction: int,
) -> Result:
    """The shape and dtype of the input."""
    _check_multi_margin(self, target, p, weight)
    _check_margins_of("multi_margin_loss_backward_cpu_kernel", self)
    _check_operands(self, target, weight)
    _check_gradient(grad_output, self, target, reduction)
    return Result(self._shape, self.dtype, None, same_dtype)


def _check_multi_margin(self: Tensor, target: Tensor, p: Number, weight: Tensor | None) -> None:
    """(C) with a single target, or (N, C) with (N); a weight for each class."""
    if p not in (1, 2):
        raise ArgumentError("only p == 1 and p == 2 supported")
    samples, classes = _samples_and_classes(self)
    if len(target._shape) > 1 or target.numel() != samples:
        raise ShapeError(
            f"multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{samples}], but got {list(target._shape)}. Input has shape "
            f"{list(self._shape)}."
        )
    if weight is not None and (len(weight._shape) > 1 or weight.numel() != classes):
        raise ShapeError(f"inconsistent weight size, expected {classes} but got {list(weight._shape)}")


def _samples_and_classes(self: Tensor) -> Shape:
    """The sizes N and C of scores (N, C) or (C) or ()."""
    if len(self._shape) > 2 or 0 in self._shape[-1:]:
        raise ShapeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self._shape)}"
        )
    return self._shape if len(self._shape) == 2 else (1, self.numel())


def _check_operands(self: Tensor, target: Tensor, weight: Tensor | None) -> None:
    check_same(int64, target.dtype)
    if weight is not None:
        check_same(self.dtype, weight.dtype)


def _check_gradient(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> None:
    """A gradient for each sample, or a single one."""
    check_same(self.dtype, grad_output.dtype)
    samples, _ = _samples_and_classes(self)
    each = reduction == NONE and len(grad_output._shape) > 0
    if grad_output.numel() != (samples if each else 1) or len(grad_output._shape) > 1:
        raise ShapeError(
            f"Expected a tensor of dimension 1 and tensor.size[0] == {samples if each else 1} but got: dimension "
            f"{len(grad_output._shape)} and tensor.size[0] = {(*grad_output._shape, 0)[0]}"
        )


# multilabel_margin_loss -----------------------------------------------------------------------------------------


def multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: int) -> tuple[Result, Result]:
    """The loss of each sample unless reduced, and a number for each target, 1 or 0."""
    _check_multilabel(self, target)
    _check_margins_of("multilabel_margin_loss_forward_out_frame", self)
    check_same(int64, target.dtype)
    each = reduction == NONE and len(target._shape) > 1
    return (
        Result(self._shape[:1] if each else (), self.dtype, None, same_dtype),
        Result(target._shape, self.dtype, None, same_dtype),
    )


def multilabel_margin_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Result:
    """The shape and dtype of the input."""
    _check_multilabel(self, target)
    if is_target._shape != target._shape:
        raise ShapeError(
            f"Expected tensor for argument #3 'target' to have same size as tensor for argument #5 'is_target'; but "
            f"{list(target._shape)} does not equal {list(is_target._shape)} (while checking arguments for "
            f"multilabel_margin_loss_backward_cpu_template)"
        )
    _check_margins_of("multilabel_margin_loss_backward_out_frame", self)
    check_same(int64, target.dtype)
    check_same(self.dtype, is_target.dtype)
    _check_gradient(grad_output, self, target, reduction)
    return Result(self._shape, self.dtype, None, same_dtype)


def _check_multilabel(self: Tensor, target: Tensor) -> None:
    """The target has the shape of the input; one of a single element may have any of the three."""
    _samples_and_classes(self)
    batched = len(self._shape) == 2
    fits = target._shape == self._shape if batched else len(target._shape) <= 1 and target.numel() == self.numel()
    if not fits:
        raise ShapeError(f"inconsistent target size: {list(target._shape)} for input of size: {list(self._shape)}")
