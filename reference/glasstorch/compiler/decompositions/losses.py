"""Of what are losses and their gradients made?

Mirrors: torch/_decomp/decompositions.py (smooth_l1_loss, huber_loss, mse_loss, binary_cross_entropy, soft_margin_loss,
    _nll_loss_forward, multi_margin_loss, multilabel_margin_loss_forward and their gradients)
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import MEAN, NONE, SUM, in_float32, reduced
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import Number
from glasstorch.operators.generated import functions as f

# Of pairs of elements -------------------------------------------------------------------------------------------


@decomposes("mse_loss")
@in_float32
def mse_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """The square of the difference."""
    return reduced(f.pow(self - target, 2), reduction)


@decomposes("mse_loss_backward")
@in_float32
def mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Twice the difference."""
    factor = 2.0 / self.numel() if reduction == MEAN and self.numel() else 2.0
    return factor * (self - target) * grad_output


@decomposes("smooth_l1_loss")
@in_float32
def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Tensor:
    """The absolute difference, but half its square over beta below beta."""
    loss = f.abs(self - target)
    if beta > 0:
        loss = f.where(loss < beta, 0.5 * loss**2 / beta, loss - 0.5 * beta)
    return reduced(loss, reduction)


@decomposes("smooth_l1_loss_backward")
@in_float32
def smooth_l1_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """The sign of the difference, but the difference over beta below beta."""
    difference = self - target
    grad = grad_output / self.numel() if reduction == MEAN and self.numel() else grad_output
    straight = f.sign(difference) * grad
    if beta == 0:
        return straight
    return f.where(f.abs(difference) < beta, difference / beta * grad, straight)


@decomposes("huber_loss")
@in_float32
def huber_loss(self: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    """Half the square of the difference, but straight from delta on."""
    size = f.abs(self - target)
    return reduced(f.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


@decomposes("huber_loss_backward")
@in_float32
def huber_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    """The difference, between -delta and delta."""
    factor = 1.0 / self.numel() if reduction == MEAN and self.numel() else 1.0
    difference = self - target
    return f.where(
        difference < -delta,
        -factor * grad_output * delta,
        f.where(difference > delta, factor * grad_output * delta, factor * difference * grad_output),
    )


@decomposes("soft_margin_loss")
@in_float32
def soft_margin_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """log(1 + exp(-y x))."""
    return reduced(f.log1p(f.exp(-self * target)), reduction)


@decomposes("soft_margin_loss_backward")
@in_float32
def soft_margin_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """-y sigmoid(-y x)."""
    grad = target * grad_output * (f.sigmoid(target * self) - 1)
    return grad / self.numel() if reduction == MEAN and self.numel() else grad


@decomposes("binary_cross_entropy")
@in_float32
def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN) -> Tensor:
    """-(y log(x) + (1 - y) log(1 - x)), with logarithms of at least -100."""
    loss = (target - 1) * f.clamp(f.log1p(-self), min=-100) - target * f.clamp(f.log(self), min=-100)
    return reduced(loss if weight is None else loss * weight, reduction)


@decomposes("binary_cross_entropy_backward")
@in_float32
def binary_cross_entropy_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """(x - y) / (x (1 - x)), the denominator at least 1e-12."""
    grad = grad_output * (self - target) / f.clamp(self * (1 - self), min=1e-12)
    grad = grad if weight is None else grad * weight
    return grad / self.numel() if reduction == MEAN and self.numel() else grad


@decomposes("binary_cross_entropy_with_logits")
@in_float32
def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Tensor:
    """(1 - y) x - log_sigmoid(x), with the logarithm weighted where the target is 1."""
    logarithm = f.log_sigmoid_forward(self)[0]
    if pos_weight is not None:
        logarithm = ((pos_weight - 1) * target + 1) * logarithm
    loss = (1 - target) * self - logarithm
    return reduced(loss if weight is None else loss * weight, reduction)


# Of classes -----------------------------------------------------------------------------------------------------


def _of_channels(weight: Tensor, rank: int) -> Tensor:
    return weight.view([1, weight.shape[0], *[1] * (rank - 2)]) if rank > 1 else weight


@decomposes("nll_loss_forward", "nll_loss2d_forward", fuses=False)
@in_float32
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """The negative element of each target, weighted; and the sum of the weights."""
    dim = 0 if self.dim() < 2 else 1
    if weight is not None:
        weight = _of_channels(weight, self.dim()).expand_as(self)
        self = self * weight
    seen = target != ignore_index
    chosen = f.where(seen, target, 0).unsqueeze(dim)
    loss = f.where(seen, -f.gather(self, dim, chosen).squeeze(dim), 0)
    nothing = f.full((), 0.0, dtype=self.dtype, device=self.device)
    if reduction == NONE and self.dim() > 1:
        return loss, nothing
    if weight is None:
        total = f.sum(seen).to(self.dtype)
    else:
        total = f.sum(f.where(seen, f.gather(weight, dim, chosen).squeeze(dim), 0))
    return (f.sum(loss) if reduction == SUM else f.sum(loss) / total if reduction == MEAN else loss), total


@decomposes("nll_loss_backward", "nll_loss2d_backward", fuses=False)
@in_float32
def nll_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """The weight of each target at its place, negative."""
    dim = 0 if self.dim() < 2 else 1
    grad = grad_output / total_weight if reduction == MEAN else grad_output
    target = target.unsqueeze(dim)
    seen = target != ignore_index
    placed = f.scatter(f.full_like(self, 0), dim, f.where(seen, target, 0), -1.0)
    if grad.dim() and grad.dim() < self.dim():
        grad = grad.unsqueeze(dim)
    grad = f.where(seen, grad, f.full((), 0.0, dtype=grad.dtype, device=grad.device))
    if weight is not None:
        grad = grad * _of_channels(weight, self.dim())
    return placed * grad


@decomposes("multi_margin_loss")
@in_float32
def multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p: Number = 1,
    margin: Number = 1,
    weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Tensor:
    """How far each other element comes within a margin of the target's, to the power p, over their number."""
    x, places = (self if self.dim() > 1 else self.unsqueeze(0)), f.atleast_1d(target)
    classes = x.shape[1]
    of_target = f.gather(x, 1, places.unsqueeze(1))
    short = f.clamp(margin - of_target + x, min=0)
    short = short if p == 1 else short * short
    if weight is not None:
        short = short * f.index_select(weight, 0, places).unsqueeze(1)
    others = f.arange(classes, device=x.device) != places.unsqueeze(1)
    loss = f.sum(f.where(others, short, 0), [1]) / classes
    return f.sum(loss) if reduction == SUM else f.mean(loss) if reduction == MEAN else loss.view(target.shape)


@decomposes("multilabel_margin_loss_forward")
@in_float32
def multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """The same for several targets, up to the first -1; and which elements are targets."""
    shape = target.shape
    x, places = f.atleast_2d(self), f.atleast_2d(target)
    count = places.shape[1]
    positions = f.arange(count, device=places.device)
    ends = f.amin(f.where(places == -1, positions, count), [-1], True)
    named = positions < ends
    filled = f.where(named, places, 0)
    is_target = f.any(f.where(named, filled, -1).unsqueeze(-1) == positions, 1)
    of_target = f.gather(x, 1, filled).transpose(0, 1).unsqueeze(-1)
    short = f.clamp(1.0 - (of_target - x), min=0) / count
    short = f.where(is_target, 0, short)
    loss = f.where(named.transpose(0, 1).unsqueeze(-1), short, 0)
    if reduction == MEAN:
        found = f.mean(f.sum(loss, (0, -1)))
    elif reduction == SUM:
        found = f.sum(loss)
    else:
        found = f.sum(loss, (0, 2)).view(shape[:-1])
    return found, is_target.to(self.dtype).view(shape)
