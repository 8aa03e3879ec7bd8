"""Which operators are made of others under vmap?

Mirrors: aten/src/ATen/functorch/BatchRulesDecompositions.cpp, torch/_decomp/decompositions.py
Differs: PyTorch has rules of their own for some of these.

Each function takes the arguments of its operator's schema.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import INTEGRAL, bool_, int64
from glasstorch.operators.generated import functions as f

# Products that are added to ------------------------------------------------------------------------------------------


def added(self: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """`beta * self + alpha * product`; a `self` that counts for nothing may hold NaN."""
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else (self if beta == 1 else self * beta) + product


def addmv(self: Tensor, matrix: Tensor, vector: Tensor, beta: Any, alpha: Any) -> Tensor:
    return added(self, f.mv(matrix, vector), beta, alpha)


def baddbmm(self: Tensor, left: Tensor, right: Tensor, beta: Any, alpha: Any) -> Tensor:
    return added(self, f.bmm(left, right), beta, alpha)


def addbmm(self: Tensor, left: Tensor, right: Tensor, beta: Any, alpha: Any) -> Tensor:
    return added(self, f.bmm(left, right).sum(0), beta, alpha)


def vdot(self: Tensor, other: Tensor) -> Tensor:
    return f.dot(self.conj(), other)


def addr(self: Tensor, left: Tensor, right: Tensor, beta: Any, alpha: Any) -> Tensor:
    for name, vector in (("vec1", left), ("vec2", right)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return added(self, left.unsqueeze(-1) * right, beta, alpha)


def trace(self: Tensor) -> Tensor:
    return self.diagonal().sum()


def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    blocks = f.atleast_2d(tensors)
    width, left, rows = sum(block._shape[1] for block in blocks), 0, []
    for block in blocks:
        rows.append(f.constant_pad_nd(block, [left, width - left - block._shape[1]], 0))
        left += block._shape[1]
    return f.cat(rows)


# Elements at positions -----------------------------------------------------------------------------------------------


def masked_fill(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return f.where(mask, value.to(self.dtype), self)


def fill(self: Tensor, value: Any) -> Tensor:
    return f.full_like(self, value)


def roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    if not dims:
        return roll(self.flatten(), shifts, [0]).view(self._shape)
    for shift, dim in zip(shifts, dims, strict=True):
        if self.ndim and (size := self._shape[dim]):
            split = -shift % size
            self = f.cat([self.narrow(dim, split, size - split), self.narrow(dim, 0, split)], dim)
    return self


def _positions(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """For each element of the result along a dimension, the position that an index of one dimension says."""
    rank = max(self.ndim, 1)
    shape = [1] * rank
    shape[dim % rank] = -1
    sizes = [*self._shape] or [1]
    sizes[dim % rank] = index.numel()
    return index.reshape(shape).expand(sizes)


def _as_vector(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function, given a vector of one element where it would be given a number."""

    def of_vector(self: Tensor, dim: int, index: Tensor, source: Any, *more: Any) -> Tensor:
        if self.ndim:
            return function(self, dim, index, source, *more)
        source = source.reshape(1) if isinstance(source, Tensor) else source
        return function(self.unsqueeze(0), dim, index, source, *more).squeeze(0)

    return of_vector


@_as_vector
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
    source = source if alpha == 1 else source * alpha
    return self.scatter_add(dim, _positions(self, dim, index), source.reshape(_positions(self, dim, index)._shape))


@_as_vector
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    return self.scatter(dim, _positions(self, dim, index), source.reshape(_positions(self, dim, index)._shape))


@_as_vector
def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    return self.scatter(dim, _positions(self, dim, index), value)


@_as_vector
def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    positions = _positions(self, dim, index)
    return self.scatter(dim, positions, value.expand(positions._shape).to(self.dtype))


@_as_vector
def index_reduce(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool) -> Tensor:
    source = source.reshape(_positions(self, dim, index)._shape)
    return self.scatter_reduce(dim, _positions(self, dim, index), source, reduce, include_self=include_self)


def new_empty_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], *options: Any) -> Tensor:
    dtype, _, device, _ = options
    span = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if all(size) else 0
    return self.new_empty((span,), dtype=dtype, device=device).as_strided(size, stride)


def one_hot(self: Tensor, num_classes: int) -> Tensor:
    if num_classes <= 0:
        raise RuntimeError(
            "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
        )
    if self.dtype.category != INTEGRAL:
        raise RuntimeError("one_hot is only applicable to index tensor.")
    return (self.unsqueeze(-1) == f.arange(num_classes, device=self.device)).to(int64)


def dropout(value: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if train is False or not value.numel():
        return value.clone(), f.ones_like(value, dtype=bool_)
    mask = f.empty_like(value).bernoulli_(1 - p)
    return value * mask * (0.0 if p == 1 else 1 / (1 - p)), mask.to(bool_)


# Layers that normalise -----------------------------------------------------------------------------------------------


def _affine(value: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    value = value if weight is None else value * weight.reshape(shape)
    return value if bias is None else value + bias.reshape(shape)


def _through(grad: Tensor, normal: Tensor, scale: Tensor, dims: list[int]) -> Tensor:
    """The gradient of what was normalised, over the dimensions of a mean and a variance."""
    return scale * (grad - grad.mean(dims, keepdim=True) - normal * (grad * normal).mean(dims, keepdim=True))


def layer_norm(
    value: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    dims = list(range(value.ndim - len(shape), value.ndim))
    variance, mean = f.var_mean(value, dims, correction=0, keepdim=True)
    scale = (variance + eps).rsqrt()
    return _affine((value - mean) * scale, weight, bias, shape), mean, scale


def layer_norm_backward(
    grad: Tensor,
    value: Tensor,
    shape: Sequence[int],
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    dims, outer = list(range(value.ndim - len(shape), value.ndim)), list(range(value.ndim - len(shape)))
    normal, scale = _normalized(value, dims, scale)
    by_weight = grad if weight is None else grad * weight
    return (
        _through(by_weight, normal, scale, dims) if mask[0] else None,
        (_summed(grad * normal, outer) if mask[1] and weight is not None else None),
        (_summed(grad, outer) if mask[2] and bias is not None else None),
    )


def _normalized(value: Tensor, dims: list[int], saved: Tensor) -> tuple[Tensor, Tensor]:
    """The normalized value and its scale, both as functions of the value: those that forward saved are constants here.

    What was added to the variance, which a backward operator is not told, follows from the scale that was saved.
    """
    variance, mean = f.var_mean(value, dims, correction=0, keepdim=True)
    added = saved.detach().pow(-2) - variance.detach()
    scale = (variance + added).rsqrt()
    return (value - mean) * scale, scale


def _summed(value: Tensor, dims: list[int]) -> Tensor:
    return value.sum(dims) if dims else value


def group_norm(
    value: Tensor, weight: Tensor | None, bias: Tensor | None, n: int, c: int, hxw: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    variance, mean = f.var_mean(value.reshape((n, group, c // group * hxw)), [2], correction=0)
    scale = (variance + eps).rsqrt()
    normal = (value.reshape((n, group, c // group * hxw)) - mean.unsqueeze(-1)) * scale.unsqueeze(-1)
    shape = (1, c, *[1] * (value.ndim - 2))
    return _affine(normal.reshape(value._shape), weight, bias, shape), mean, scale


def group_norm_backward(
    grad: Tensor,
    value: Tensor,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    n: int,
    c: int,
    hxw: int,
    group: int,
    mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    parts = (n, group, c // group * hxw)
    normal, scale = _normalized(value.reshape(parts), [2], scale.reshape((n, group, 1)))
    by_channel = (n, c, hxw)
    grad = grad.reshape(by_channel)
    by_weight = grad if weight is None else grad * weight.reshape((1, c, 1))
    return (
        _through(by_weight.reshape(parts), normal, scale, [2]).reshape(value._shape) if mask[0] else None,
        (grad * normal.reshape(by_channel)).sum([0, 2]) if mask[1] else None,
        grad.sum([0, 2]) if mask[2] else None,
    )


def batch_norm(
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    dims, shape = [0, *range(2, value.ndim)], (1, -1, *[1] * (value.ndim - 2))
    if not training:
        assert running_mean is not None, "the layer has checked it"
        assert running_var is not None, "the layer has checked it"
        normal = (value - running_mean.reshape(shape)) * (running_var + eps).rsqrt().reshape(shape)
        return _affine(normal, weight, bias, shape), value.new_empty((0,)), value.new_empty((0,))
    variance, mean = f.var_mean(value, dims, correction=0)
    scale = (variance + eps).rsqrt()
    count = value.numel() // value._shape[1]
    for running, new in ((running_mean, mean), (running_var, variance * (count / max(count - 1, 1)))):
        if running is not None:
            _follow(running, new.detach(), momentum)
    normal = (value - mean.reshape(shape)) * scale.reshape(shape)
    return _affine(normal, weight, bias, shape), mean, scale


def _follow(running: Tensor, new: Tensor, momentum: float) -> None:
    """Move a running statistic, which has to be one for each example."""
    try:
        running.copy_(running * (1 - momentum) + new * momentum)
    except RuntimeError as error:
        if "vmap:" not in str(error):
            raise
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
            "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please "
            "see the functorch website for resources on how to patch your module to work with vmap"
        ) from None


def batch_norm_backward(
    grad: Tensor,
    value: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Tensor | None,
    scale: Tensor | None,
    train: bool,
    eps: float,
    mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    dims, shape = [0, *range(2, value.ndim)], (1, -1, *[1] * (value.ndim - 2))
    if train:
        assert scale is not None, "forward has saved it"
        normal, scale = _normalized(value, dims, scale.reshape(shape))
    else:
        assert running_mean is not None, "the layer has checked it"
        assert running_var is not None, "the layer has checked it"
        scale = (running_var + eps).rsqrt().reshape(shape)
        normal = (value - running_mean.reshape(shape)) * scale
    by_weight = grad if weight is None else grad * weight.reshape(shape)
    by_value = _through(by_weight, normal, scale, dims) if train else by_weight * scale
    return (
        by_value if mask[0] else None,
        (grad * normal).sum(dims) if mask[1] else None,
        grad.sum(dims) if mask[2] else None,
    )


# Losses --------------------------------------------------------------------------------------------------------------

MEAN, SUM = 1, 2


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    return loss.mean() if reduction == MEAN else loss.sum() if reduction == SUM else loss


def _share(grad: Tensor, like: Tensor, reduction: int) -> Tensor:
    """The part of a reduced loss's gradient that is each element's."""
    return grad / like.numel() if reduction == MEAN else grad


def mse_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    difference = self - target
    return _reduced(difference * difference, reduction)


def mse_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    difference = self - target
    return 2 * difference * _share(grad, difference, reduction)


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    size = (self - target).abs()
    if beta == 0:
        return _reduced(size, reduction)
    return _reduced(f.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


def smooth_l1_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    difference = self - target
    slope = difference.sign() if beta == 0 else (difference / beta).clamp(-1, 1)
    return slope * _share(grad, difference, reduction)


def huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    size = (self - target).abs()
    return _reduced(f.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


def huber_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    difference = self - target
    return difference.clamp(-delta, delta) * _share(grad, difference, reduction)


def soft_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return _reduced((-target * self).exp().log1p(), reduction)


def soft_margin_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return -target * (-target * self).sigmoid() * _share(grad, self, reduction)


def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    loss = (target - 1) * (-self).log1p().clamp_min(-100) - target * self.log().clamp_min(-100)
    return _reduced(loss if weight is None else loss * weight, reduction)


def binary_cross_entropy_backward(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    found = _share(grad, self, reduction) * (self - target) / ((1 - self) * self).clamp_min(1e-12)
    return found if weight is None else found * weight


def log_sigmoid(self: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm, and what PyTorch saves of it on the CPU."""
    buffer = (-self.abs()).exp()
    return self.clamp_max(0) - buffer.log1p(), buffer


def log_sigmoid_backward(grad: Tensor, self: Tensor, buffer: Tensor) -> Tensor:
    return grad * (-self).sigmoid()


def norm_of_dims(self: Tensor, p: Any, dim: Sequence[int], keepdim: bool) -> Tensor:
    return f.linalg_vector_norm(self, 2 if p is None else p, list(dim) or None, keepdim)


def dist(self: Tensor, other: Tensor, p: Any) -> Tensor:
    return f.linalg_vector_norm(self - other, p)


def rsub(self: Tensor, other: Tensor, alpha: Any) -> Tensor:
    return other - (self if alpha == 1 else self * alpha)
