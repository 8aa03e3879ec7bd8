"""Do the overloads for numbers give what PyTorch's give: values, nodes, gradients and what a mode sees?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda aten, x: aten.add.Scalar(x, 2, 3),
    "sub": lambda aten, x: aten.sub.Scalar(x, 2, 2),
    "mul": lambda aten, x: aten.mul.Scalar(x, 3),
    "div": lambda aten, x: aten.div.Scalar(x, 2),
    "div floor": lambda aten, x: aten.div.Scalar_mode(x, 2, rounding_mode="floor"),
    "div None": lambda aten, x: aten.div.Scalar_mode(x, 2, rounding_mode=None),
    "remainder": lambda aten, x: aten.remainder.Scalar(x, 2),
    "multiply": lambda aten, x: aten.multiply.Scalar(x, 2),
    "true_divide": lambda aten, x: aten.true_divide.Scalar(x, 2),
    "subtract": lambda aten, x: aten.subtract.Scalar(x, 1),
    "in Python": lambda aten, x: x % 2,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_values_nodes_and_gradients_are_pytorchs(
    require: Callable[[str], Any], call: Callable[[Any, Any], Any]
) -> None:
    def told(t: Any) -> tuple[Any, ...]:
        x = t.tensor([1.0, -2.5, 3.0], requires_grad=True)
        y = call(t.ops.aten, x)
        y.sum().backward()
        return y.tolist(), type(y.grad_fn).__name__, x.grad.tolist()

    assert told(glasstorch) == told(require("torch"))


def test_forms_that_write_are_pytorchs(require: Callable[[str], Any]) -> None:
    def told(t: Any) -> list[Any]:
        aten, x = t.ops.aten, t.tensor([4, 5])
        aten.add_.Scalar(x, 2)
        aten.mul_.Scalar(x, 3)
        aten.remainder_.Scalar(x, 8)
        x %= 3
        out = aten.remainder.Scalar_out(t.ones(2), 2, out=t.empty(2))
        return [x.tolist(), out.tolist(), aten.add.Scalar_out(t.ones(2), 1, out=t.empty(2)).tolist()]

    assert told(glasstorch) == told(require("torch"))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.ops.aten.div_.Scalar(t.tensor([4, 5]), 2),
        lambda t: t.remainder(2, 3),
        lambda t: t.remainder("a", t.ones(2)),
        lambda t: t.ones(2).remainder("a"),
        lambda t: t.remainder(t.ones(2, dtype=t.bool), True),
        lambda t: t.ones(2).remainder(t.ones(2), 2),
        lambda t: (7 % t.ones(2, requires_grad=True)).sum().backward(),
        lambda t: t.ops.aten.floor_divide.Scalar(t.ones(2, requires_grad=True), 2).sum().backward(),
    ],
)
def test_refusals_are_pytorchs(require: Callable[[str], Any], call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


def test_a_mode_sees_the_overload_for_a_number(require: Callable[[str], Any]) -> None:
    def seen(t: Any, mode: type) -> list[str]:
        found: list[str] = []

        class Log(mode):  # type: ignore[misc,valid-type]
            def __torch_dispatch__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                found.append(str(f))
                return f(*args, **(kwargs or {}))

        x = t.ones(3)
        with Log():
            x % 2, 7 % x, x + 1, x.remainder_(2)
            t.nn.functional.dropout(x, 0.5, True)
        return found

    from glasstorch.utils._python_dispatch import TorchDispatchMode as Ours

    theirs = require("torch.utils._python_dispatch").TorchDispatchMode
    assert seen(glasstorch, Ours) == seen(require("torch"), theirs)
