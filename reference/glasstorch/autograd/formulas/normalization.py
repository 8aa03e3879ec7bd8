"""What are the derivatives of the gradients of normalization?

# Note [A projection, and its derivative]
With u = (x - mean) * rstd, the gradient of the input is rstd * P(grad * weight), where P(v) = v - mean(v) - u *
mean(v * u) takes away what would change the mean or the deviation. P is symmetric: a gradient g that arrives at that
of the input goes on to `grad * weight` as rstd * P(g). To x it goes in two ways. Through u in P, as rstd * P(h) with
h = -rstd * (g * mean(v * u) + v * mean(g * u)), because the derivative of u with respect to x is rstd * P. And
through rstd, whose derivative with respect to x is -rstd**2 * u / n: as -rstd**2 * u * mean(g * P(v)).

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (batchnorm_double_backward, layer_norm_double_backward)
Differs: one function for all kinds; PyTorch differentiates group_norm's gradient by composing it of operators. So
    it does weight_norm's, but treats the norms as constants, by which its second derivative lacks a term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Triple = tuple["Tensor | None", "Tensor | None", "Tensor | None"]


class _Seen(NamedTuple):
    """The arguments of a gradient, of shapes that broadcast, and the gradients that arrive at its results."""

    x: Tensor
    weight: Tensor | None
    grad: Tensor
    mean: Tensor
    rstd: Tensor
    to_input: Tensor | None
    to_weight: Tensor | None
    to_bias: Tensor | None
    over: list[int]  # the dimensions of the statistics
    shared: list[int]  # those along which the parameters are the same
    fixed: bool = False  # the statistics do not depend on the input

    def statistics(self) -> tuple[Tensor, Tensor]:
        """The mean and the scale, as functions of x: those that forward saved would be constants at the next order."""
        if self.fixed:
            return self.mean, self.rstd
        variance, mean = f.var_mean(self.x, self.over, correction=0, keepdim=True)
        added = self.rstd.detach().pow(-2) - variance.detach()
        return mean, (variance + added).rsqrt()

    def project(self, v: Tensor, unit: Tensor) -> Tensor:
        if self.fixed:
            return v
        along = (v * unit).mean(self.over, keepdim=True)
        return v - v.mean(self.over, keepdim=True) - unit * along


def _second(seen: _Seen) -> Triple:
    """The gradients of x, weight and grad; see Note [A projection, and its derivative]."""
    x, weight, grad, g = seen.x, seen.weight, seen.grad, seen.to_input
    mean, rstd = seen.statistics()
    unit = (x - mean) * rstd
    to_x = to_weight = to_grad = None
    if g is not None:
        projected = rstd * seen.project(g, unit)
        v = grad if weight is None else grad * weight
        to_grad = projected if weight is None else projected * weight
        if weight is not None:  # `sum` over no dimensions would be that over all
            to_weight = (projected * grad).sum(seen.shared) if seen.shared else projected * grad
        if not seen.fixed:
            through_unit = -(
                g * (v * unit).mean(seen.over, keepdim=True) + v * (g * unit).mean(seen.over, keepdim=True)
            )
            through_rstd = unit * (g * seen.project(v, unit)).mean(seen.over, keepdim=True)
            to_x = rstd.square() * (seen.project(through_unit, unit) - through_rstd)
    if seen.to_weight is not None:
        to_x = _plus(to_x, rstd * seen.project(seen.to_weight * grad, unit))
        to_grad = _plus(to_grad, seen.to_weight * unit)
    if seen.to_bias is not None:
        to_grad = _plus(to_grad, seen.to_bias.expand_as(grad))
    return to_x, to_weight, to_grad


def _plus(sum: Tensor | None, term: Tensor) -> Tensor:
    return term if sum is None else sum + term


def _viewed(tensor: Tensor | None, shape: Sequence[int]) -> Tensor | None:
    return None if tensor is None else tensor.reshape(shape)


def batchnorm_double_backward(
    input: Tensor,
    weight: Tensor | None,
    ggI: Tensor | None,
    ggG: Tensor | None,
    ggB: Tensor | None,
    gO: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    eps: float,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
) -> Triple:
    """The gradients of input, weight and grad_out of native_batch_norm_backward."""
    dims = input.dim()
    channels = (1, -1, *(1,) * (dims - 2))
    if training:
        assert save_mean is not None
        assert save_invstd is not None
        mean, rstd = save_mean, save_invstd
    else:
        assert running_mean is not None
        assert running_var is not None
        mean, rstd = running_mean, f.rsqrt(running_var + eps)
    over = [dim for dim in range(dims) if dim != 1]
    arrived = (ggI, _viewed(ggG, channels), _viewed(ggB, channels))
    stats = (mean.view(channels), rstd.view(channels))
    return _second(_Seen(input, _viewed(weight, channels), gO, *stats, *arrived, over, over, not training))


def layer_norm_double_backward(
    input: Tensor,
    weight: Tensor | None,
    ggI: Tensor | None,
    ggG: Tensor | None,
    ggB: Tensor | None,
    gO: Tensor,
    mean: Tensor,
    rstd: Tensor,
    normalized_shape: Sequence[int],
) -> Triple:
    """The gradients of input, weight and grad_out of native_layer_norm_backward."""
    dims = len(normalized_shape)
    over = list(range(-dims, 0))
    shared = list(range(input.dim() - dims))
    seen = _Seen(input, weight, gO, mean, rstd, ggI, ggG, ggB, over, shared)
    return _second(seen)


def group_norm_double_backward(
    input: Tensor,
    weight: Tensor | None,
    ggI: Tensor | None,
    ggG: Tensor | None,
    ggB: Tensor | None,
    gO: Tensor,
    mean: Tensor,
    rstd: Tensor,
    N: int,
    C: int,
    HxW: int,
    group: int,
) -> Triple:
    """The gradients of input, weight and grad_out of native_group_norm_backward."""
    whole = (N, group, C // group, HxW)
    parameters = (group, C // group, 1)
    seen = _Seen(
        input.reshape(whole),
        _viewed(weight, parameters),
        gO.reshape(whole),
        mean.view(N, group, 1, 1),
        rstd.view(N, group, 1, 1),
        _viewed(ggI, whole),
        _viewed(ggG, parameters),
        _viewed(ggB, parameters),
        [2, 3],
        [0, 3],
    )
    to_input, to_weight, to_grad = _second(seen)
    return _viewed(to_input, input.shape), _viewed(to_weight, (C,)), _viewed(to_grad, input.shape)


def group_norm_backward(
    grads: Sequence[Tensor | None],
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
    mask: Sequence[bool],
) -> Triple:
    """The gradients of native_group_norm's arguments, given those of its three results."""
    grad, to_mean, to_rstd = grads
    found: list[Tensor | None] = [None, None, None]
    if grad is not None:
        found = list(f.native_group_norm_backward(grad, input, mean, rstd, weight, N, C, HxW, group, mask))
    if mask[0] and (to_mean is not None or to_rstd is not None):
        each = C // group * HxW
        x = input.reshape(N, group, each)
        from_both = f.zeros_like(x)
        if to_mean is not None:
            from_both = from_both + to_mean.unsqueeze(2) / each
        if to_rstd is not None:
            from_both = from_both - (to_rstd * rstd.pow(3)).unsqueeze(2) * (x - mean.unsqueeze(2)) / each
        found[0] = _plus(found[0], from_both.reshape(input.shape))
    return found[0], found[1], found[2]


def weight_norm_double_backward(grads: Sequence[Tensor | None], grad: Tensor, v: Tensor, g: Tensor, dim: int) -> Triple:
    """The gradients of _weight_norm_interface_backward's first three arguments, given those of its two results.

    With u = v / n, where n is the norm of v, its results are g / n * P(grad), where P(x) = x - u * sum(x * u) takes
    away what lies along v, and sum(grad * u). The norms that it was given are those of v, and are not constants here.
    """
    to_v, to_g = grads
    norms = f.norm_except_dim(v, 2, dim)
    unit, scale = v / norms, g.view(norms.shape) / norms
    others = [axis for axis in range(v.dim()) if axis != dim]

    def along(x: Tensor, y: Tensor) -> Tensor:
        return (x * y).sum(others, keepdim=True) if others else x * y  # `sum` over no dimensions would be that over all

    def across(x: Tensor) -> Tensor:
        return x - unit * along(x, unit)

    found: list[Tensor | None] = [None, None, None]
    if to_g is not None:
        found[0], found[1] = to_g * unit, across(to_g * grad) / norms
    if to_v is not None:
        share, both = along(grad, unit), along(to_v, across(grad))
        of_unit = across(to_v * share + along(to_v, unit) * grad) + unit * both
        found[0] = _plus(found[0], scale * across(to_v))
        found[1] = _plus(found[1], -scale / norms * of_unit)
        found[2] = (both / norms).view(g.shape)
    return found[0], found[1], found[2]
