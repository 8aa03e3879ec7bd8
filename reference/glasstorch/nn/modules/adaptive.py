"""How is the softmax of many classes computed quickly, where few of them are frequent?

Mirrors: torch/nn/modules/adaptive.py
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.nn import functional
from glasstorch.nn.modules.container import ModuleList, Sequential
from glasstorch.nn.modules.linear import Linear
from glasstorch.nn.modules.module import Module
from glasstorch.operators.generated import functions as operators


class _ASMoutput(NamedTuple):
    """What the adaptive softmax gives: the log-probability of each target, and the loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-likelihood of classes sorted by frequency, of which `cutoffs` make clusters.

    The head scores the most frequent classes, and each cluster of the others as one. The classes of a cluster are
    scored only where the target is one of them, from `div_value` times fewer features in each further cluster.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = cutoffs == sorted(set(cutoffs)) and all(int(c) == c for c in cutoffs)
        if not rising or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(pairwise(self.cutoffs), 1):
            features = int(in_features // div_value**i)
            self.tail.append(
                Sequential(
                    Linear(in_features, features, False, device, dtype),
                    Linear(features, end - first, False, device, dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for to_features, to_scores in self.tail:
            to_features.reset_parameters()
            to_scores.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """`input_` has shape (N, in_features) or (in_features,), `target_` (N,) or (); so has the output."""
        _check_sizes(input_, target_)
        batched = target_.dim() > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        if target.numel() and not (target.min() >= 0 and target.max() < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        output = input.new_zeros(target.shape[0])
        column = target.clone()  # the class or the cluster of each target, in the head
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= first) & (target < end)).nonzero()[:, 0]
            if rows.numel():
                log_p = functional.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                within = target.index_select(0, rows) - first
                output = output.index_copy(0, rows, log_p.gather(1, within.unsqueeze(1))[:, 0])
                column[rows] = self.shortlist_size + i
        head = functional.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, column.unsqueeze(1))[:, 0]
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """The log-probabilities (N, n_classes), given what the head gave."""
        head = functional.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            within = functional.log_softmax(cluster(input), dim=1)
            parts.append(within + head[:, self.shortlist_size + i].unsqueeze(1))
        return operators.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities (N, n_classes) of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class (N,); clusters are looked into only where the head prefers one."""
        head_output = self.head(input)
        output = operators.argmax(head_output, 1)
        rare = output >= self.shortlist_size
        if rare.any():
            output[rare] = operators.argmax(self._get_full_log_prob(input[rare], head_output[rare]), 1)
        return output


def _check_sizes(input: Tensor, target: Tensor) -> None:
    """Refuse a target that is not a class for each sample."""
    dims = target.dim()
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if dims and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != dims + 1:
        raise RuntimeError(
            f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size {input.size()}"
        )
