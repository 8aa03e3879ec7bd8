"""What does a loss over classes do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesLoss.cpp (nll_loss_forward_decomposition), torch/_decomp/decompositions.py
    (_nll_loss_forward, _nll_loss_backward)
Differs: the parts are computed for all examples at once, below the level of vmap.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.operator import Operator
from glasstorch.func.batching import Batch
from glasstorch.func.rules.decompositions import MEAN, SUM
from glasstorch.operators.generated import functions as f


def nll_loss_forward(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The loss of each example, and the sum of the weights by which the mean is divided."""
    self, target, weight, reduction, ignore_index = arguments
    dim, weight = _classes(batch, self, weight)
    self, target = batch.expanded(self), batch.expanded(target)
    if weight is not None:
        self = self * weight
    ignored = target == ignore_index
    place = f.where(ignored, 0, target).unsqueeze(dim)
    loss = f.where(ignored, 0, -f.gather(self, dim, place).squeeze(dim))
    if reduction not in (MEAN, SUM):
        return batch.around((loss, self.new_zeros((batch.size,))))
    if weight is None:
        total = _sums(batch, ~ignored).to(self.dtype)
    else:
        total = _sums(batch, f.where(ignored, 0, weight.expand(self._shape).gather(dim, place).squeeze(dim)))
    loss = _sums(batch, loss)
    return batch.around((loss / total if reduction == MEAN else loss, total))


def nll_loss_backward(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The gradient of each example's loss with respect to its logarithms of probabilities."""
    grad, self, target, weight, reduction, ignore_index, total = arguments
    dim, weight = _classes(batch, self, weight)
    grad, self, target = map(batch.expanded, (grad, self, target))
    if reduction == MEAN:
        grad = grad / batch.expanded(total)
    if reduction in (MEAN, SUM):  # one number for each example
        grad = grad.reshape((batch.size, *[1] * (self.ndim - 1)))
    else:
        grad = grad.unsqueeze(dim)
    target = target.unsqueeze(dim)
    ignored = target == ignore_index
    found = f.zeros_like(self).scatter(dim, f.where(ignored, 0, target), -1.0)
    return batch.around((found if weight is None else found * weight) * f.where(ignored, 0, grad))


def _classes(batch: Batch, self: Tensor, weight: Tensor | None) -> tuple[int, Tensor | None]:
    """The dimension of the classes, with the batch in front, and the weights of the classes along it."""
    dim = min(self.ndim, 2)
    if weight is None:
        return dim, None
    value, is_batched = batch.in_front(weight)
    sizes = [batch.size if is_batched else 1, *[1] * self.ndim]
    sizes[dim] = -1
    return dim, value.reshape(sizes)


def _sums(batch: Batch, values: Tensor) -> Tensor:
    """The sum over each example."""
    return values.reshape((batch.size, -1)).sum(1)
