"""Which composite operators call the kernels of their parts at once?

Mirrors: nothing in PyTorch, whose hops cost nanoseconds
Differs: it changes only the cost of a call.

A composite kernel calls operators as a program does: each call looks at the types of its arguments, computes the key
set and perhaps runs another composite kernel, which does so once more. The loss of a small batch asks for six
operators. A shortcut in front of the composite kernel finds the last ones of the way in their tables, with the key set
of the call. It is made for plain tensors on the CPU, where all operators passed over have the library's own kernels.
It is taken where no mode is on: one that handed on a smaller key set still sees what is called inside. See
Note [Hops taken at once] (shortcuts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from glasstorch.core.keys import CPU_KEYS
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import Resolution, resolve
from glasstorch.operators.composite import matmul, softmax
from glasstorch.operators.composite.loss import classes
from glasstorch.operators.generated.registry import table

PLAIN_TENSORS = (CPU_KEYS | BY_DEFAULT[0]) & BY_DEFAULT[1]  # the key set of a call on them where no mode is on


def linear(plain: Boxed) -> Boxed:
    """A matrix, a weight and a bias: `addmm` with the transposed weight."""
    addmm, t = table("addmm"), table("t")

    def entry(keys: int, input: Any, weight: Any, bias: Any) -> Any:  # hot path: benchmarks/operators.py
        if (
            bias is not None
            and len(input._shape) == 2 == len(weight._shape)
            and input.key_set == weight.key_set == bias.key_set
            and active_keys.get() == BY_DEFAULT
        ):
            return addmm[keys](keys, bias, input, t[keys](keys, weight), 1, 1)
        return plain(keys, input, weight, bias)

    return entry


def cross_entropy_loss(plain: Boxed) -> Boxed:
    """A batch of scores and a class for each: `nll_loss_forward` of `_log_softmax`."""
    log_softmax, nll_loss = table("_log_softmax"), table("nll_loss_forward")

    def entry(
        keys: int, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, label_smoothing: float
    ) -> Any:  # hot path: benchmarks/operators.py
        scores = self._shape
        if (
            len(scores) == 2
            and target._shape == scores[:1]
            and weight is None
            and not label_smoothing > 0
            and self.key_set == target.key_set
            and active_keys.get() == BY_DEFAULT
        ):
            logarithms = log_softmax[keys](keys, self, 1, False)
            return nll_loss[keys](keys, logarithms, target, None, reduction, ignore_index)[0]
        return plain(keys, self, target, weight, reduction, ignore_index, label_smoothing)

    return entry


class Composite(NamedTuple):
    """A composite kernel, the ones below it that a shortcut passes over, by operator, and what makes the shortcut."""

    kernel: Callable[..., Any]
    passed: Mapping[str, Callable[..., Any]]
    make: Callable[[Boxed], Boxed]


COMPOSITES: dict[str, Composite] = {
    "aten::linear": Composite(matmul.linear, {}, linear),
    "aten::cross_entropy_loss": Composite(
        classes.cross_entropy_loss,
        {"log_softmax.int": softmax.log_softmax, "nll_loss_nd": classes.nll_loss_nd, "nll_loss": classes.nll_loss},
        cross_entropy_loss,
    ),
}


def shortened_composite(operator: Operator, keys: int, resolution: Resolution) -> Boxed:
    """The table's entry for a composite operator of `COMPOSITES`: the shortcut, or the kernel that was resolved."""
    composite = COMPOSITES[operator.name]
    if keys != PLAIN_TENSORS or not _runs(resolution, composite.kernel):
        return resolution.entry
    for name, kernel in composite.passed.items():
        part = registry.find(f"aten::{name}")
        part.relied_on_by.add(operator)
        if not _runs(resolve(part, keys), kernel):
            return resolution.entry
    return composite.make(resolution.entry)


def _runs(resolution: Resolution, function: Callable[..., Any]) -> bool:
    kernel = resolution.choice.kernel
    return kernel is not None and kernel.function is function
