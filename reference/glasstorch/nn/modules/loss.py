"""Which loss functions are there as modules?

Mirrors: torch/nn/modules/loss.py
Differs: only the losses whose operators exist.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.nn import functional
from glasstorch.nn.functions.reduction import reduction_name
from glasstorch.nn.modules.module import Module


class _Loss(Module):
    """A loss with a `reduction` over the elements: "none", "mean" or "sum"."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_name(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    """A loss with a weight for each class, kept as a buffer: it moves with the module and is not trained."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy: minus the log-probability of the target class, from unnormalised logits."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """`input` (N, C, ...) holds logits, `target` class indices (N, ...) or probabilities (N, C, ...)."""
        return functional.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """The negative log-likelihood: minus the log-probability of the target class, from log-probabilities."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """`input` (N, C, ...) holds log-probabilities, `target` (N, ...) class indices."""
        return functional.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class MSELoss(_Loss):
    """The mean squared error: the squared difference, averaged unless `reduction` says otherwise."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Both have the same shape."""
        return functional.mse_loss(input, target, reduction=self.reduction)
