"""Which helpers do the formulas of normalizations call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (batchnorm_double_backward, layer_norm_double_backward,
    infinitely_differentiable_native_group_norm_backward)
Differs: one formula for the second derivative of all normalizations; see Note [The second derivative of a
    normalization].

# Note [The second derivative of a normalization]
Let x be the standardized input (its mean is subtracted, and it is multiplied by r, the inverse deviation), and M the
mean over the elements that are normalized together. The gradient of x with respect to the input takes g to r P(g),
where

    P(g) = g - M(g) - x M(g x),

which is its own transpose. The gradient of <u, r P(g)> is therefore r P(u) with respect to g, and with respect to the
input, since r changes by -r^2 x / n and x by r P,

    -r^2 (x M(u P(g)) + P(u) M(g x) + P(g) M(u x)).

Where mean and deviation are constants P is the identity, and only the first of these gradients is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.geometry import Shape
from glasstorch.operators.generated.functions import native_group_norm_backward

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class Standardized(NamedTuple):
    """A standardized input, and over which dimensions its statistics and its parameters are shared."""

    x: Tensor
    rstd: Tensor
    dims: Shape  # that are normalized together; none where mean and deviation are constants
    shared: Shape  # along which weight and bias are the same

    def mean(self, tensor: Tensor) -> Tensor:
        """M of the note."""
        return tensor.mean(self.dims, True)

    def projected(self, grad: Tensor) -> Tensor:
        """P of the note."""
        return grad - self.mean(grad) - self.x * self.mean(grad * self.x) if self.dims else grad

    def to_input(self, grad: Tensor) -> Tensor:
        """The gradient of the input, given that of the standardized one."""
        return self.rstd * self.projected(grad)

    def second(self, u: Tensor, grad: Tensor) -> Tensor | None:
        """The gradient of `<u, to_input(grad)>` with respect to the input."""
        if not self.dims:
            return None
        x, mean, p = self.x, self.mean, self.projected
        terms = x * mean(u * p(grad)) + p(u) * mean(grad * x) + p(grad) * mean(u * x)
        return -self.rstd * self.rstd * terms

    def double_backward(
        self, grads: Sequence[Tensor | None], grad_out: Tensor, weight: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        """Of the three gradients that a backward operator gives: those of input, weight and its own gradient."""
        to_input, to_weight, to_bias = grads
        x, sums = self.x, [*self.shared]
        of_input: list[Tensor | None] = []
        of_weight: list[Tensor | None] = []
        of_grad: list[Tensor | None] = []
        if to_input is not None:
            transposed = self.to_input(to_input)
            of_grad.append(_times(transposed, weight))
            of_weight.append((transposed * grad_out).sum(sums, True))
            of_input.append(self.second(to_input, _times(grad_out, weight)))
        if to_weight is not None:
            of_grad.append(x * to_weight)
            of_input.append(self.to_input(grad_out * to_weight))
        if to_bias is not None:
            of_grad.append(to_bias.expand(x._shape))
        return _total(of_input), _total(of_weight), _total(of_grad)


def batch_norm_double_backward(
    grads: Sequence[Tensor | None],
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
) -> tuple[Tensor | None, ...]:
    """The gradients of native_batch_norm_backward with respect to input, weight and grad_out."""
    each_channel = (1, input._shape[1], *(1,) * (len(input._shape) - 2))
    dims = (0, *range(2, len(input._shape)))
    if train:
        mean, rstd = save_mean, save_invstd
    else:
        mean, rstd = running_mean, None if running_var is None else (running_var + eps).rsqrt()
    assert mean is not None
    assert rstd is not None
    rstd = rstd.view(each_channel)
    state = Standardized((input - mean.view(each_channel)) * rstd, rstd, dims if train else (), dims)
    return _double_backward(state, grads, grad_out, weight, input._shape, each_channel)


def layer_norm_double_backward(
    grads: Sequence[Tensor | None],
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
) -> tuple[Tensor | None, ...]:
    """The gradients of native_layer_norm_backward with respect to input, weight and grad_out."""
    sizes = (prod(input._shape[: -len(normalized_shape)]), prod(normalized_shape))
    rstd = rstd.reshape((sizes[0], 1))
    x = (input.reshape(sizes) - mean.reshape((sizes[0], 1))) * rstd
    return _double_backward(Standardized(x, rstd, (1,), (0,)), grads, grad_out, weight, sizes, (1, sizes[1]))


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
    grad_input_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias, given those of the result, of the mean and of the inverse deviation."""
    of_input: list[Tensor | None] = []
    of_parameters: tuple[Tensor | None, ...] = (None, None)
    if grads[0] is not None:
        sizes = (N, C, HxW, group)
        grad = grads[0].contiguous()
        first, *of_parameters = native_group_norm_backward(grad, input, mean, rstd, weight, *sizes, grad_input_mask)
        of_input.append(first)
    each_group, count = (N, group, 1), C // group * HxW
    if grads[1] is not None:
        of_input.append((grads[1].view(each_group) / count).expand((N, group, count)).reshape(input._shape))
    if grads[2] is not None:
        distance = input.reshape((N, group, count)) - mean.view(each_group)
        slope = grads[2].view(each_group) * -(rstd.view(each_group) ** 3) / count
        of_input.append((slope * distance).reshape(input._shape))
    return _total(of_input), *of_parameters


def group_norm_double_backward(
    grads: Sequence[Tensor | None],
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
) -> tuple[Tensor | None, ...]:
    """The gradients of native_group_norm_backward with respect to input, weight and grad_out."""
    sizes, each_group, each_channel = (N, group, C // group, HxW), (N, group, 1, 1), (1, group, C // group, 1)
    rstd = rstd.view(each_group)
    x = (input.reshape(sizes) - mean.view(each_group)) * rstd
    return _double_backward(Standardized(x, rstd, (2, 3), (0, 3)), grads, grad_out, weight, sizes, each_channel)


def _double_backward(
    state: Standardized,
    grads: Sequence[Tensor | None],
    grad_out: Tensor,
    weight: Tensor | None,
    sizes: Shape,
    parameter: Shape,
) -> tuple[Tensor | None, ...]:
    """With the input as a tensor of `sizes`, weight and bias of the sizes `parameter`; the results have their own."""
    given = zip(grads, (sizes, parameter, parameter), strict=True)
    grads = [None if grad is None else grad.reshape(shape) for grad, shape in given]
    weighted = None if weight is None else weight.reshape(parameter)
    to_input, to_weight, to_grad = state.double_backward(grads, grad_out.reshape(sizes), weighted)
    return (
        None if to_input is None else to_input.reshape(grad_out._shape),
        None if to_weight is None or weight is None else to_weight.reshape(weight._shape),
        None if to_grad is None else to_grad.reshape(grad_out._shape),
    )


def _times(tensor: Tensor, weight: Tensor | None) -> Tensor:
    return tensor if weight is None else tensor * weight


def _total(terms: Sequence[Tensor | None]) -> Tensor | None:
    found = [term for term in terms if term is not None]
    return None if not found else sum(found[1:], found[0])
