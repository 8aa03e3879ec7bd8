"""Does an operator of Python give what PyTorch's gives, and pass the turn on where that does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.calls.python_operators import method_operator
from tests.calls.outcomes import Call, same_class_of_refusal, same_outcome, x

Require = Callable[[str], Any]

ACCEPTED: dict[str, Call] = {
    "add of a NumPy scalar": lambda t: x(t) + np.float64(2),
    "mul of a bool": lambda t: x(t) * True,
    "int tensor plus float": lambda t: t.arange(3) + 0.5,
    "reflected": lambda t: [1 + x(t), 2 * x(t), 1 - x(t), 1 / (x(t) + 1), 2 ** x(t), 7 // (x(t) + 1), 7 % (x(t) + 1)],
    "comparison with a number": lambda t: x(t) > 2,
    "equality with what is no number": lambda t: x(t) == "a",
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_operator_gives_pytorchs_result(name: str, require: Require) -> None:
    same_outcome(require("torch"), ACCEPTED[name])


# A call that is refused, and words of the message that both libraries use.
REFUSED: dict[str, tuple[Call, str]] = {
    "a missing operand": (lambda t: x(t) + None, "unsupported operand type(s) for +: 'Tensor' and 'NoneType'"),
    "a string operand": (lambda t: "a" * x(t), ""),
    "an object operand": (lambda t: x(t) < object(), "'<' not supported between instances of 'Tensor' and 'object'"),
    "matmul with a number": (lambda t: x(t) @ 2, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_operator_that_nobody_takes_raises_pytorchs_class_of_error(name: str, require: Require) -> None:
    same_class_of_refusal(require("torch"), *REFUSED[name])


def test_a_mistake_below_an_operator_of_python_is_not_taken_for_a_refusal() -> None:
    # PyTorch takes every TypeError for one (the bridge, in chapter 01, runs it)
    def mistaken(left: object, right: object) -> object:
        raise TypeError("unhashable type: 'list'")

    with pytest.raises(TypeError, match="unhashable"):
        method_operator(mistaken, 1, 2)
