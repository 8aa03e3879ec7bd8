"""Do calls in the orders of arguments that PyTorch has given up mean what they mean there?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import ArgumentTypeError

Require = Callable[[str], Any]


def m(t: Any) -> Any:
    return t.tensor([[1.0, 2.0], [3.0, 4.0]])


def v(t: Any) -> Any:
    return t.tensor([1.0, 2.0])


def b(t: Any) -> Any:
    return m(t)[None]


CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda t: t.add(m(t), 2, v(t)),
    "add of a number": lambda t: t.add(m(t), 2, 3),
    "sub": lambda t: m(t).sub(2, v(t)),
    "add_": lambda t: m(t).add_(2, v(t)),
    "addcmul": lambda t: t.addcmul(m(t), 2, m(t), v(t)),
    "addcdiv_": lambda t: m(t).addcdiv_(2, m(t), v(t)),
    "addmm": lambda t: t.addmm(2, m(t), 3, m(t), m(t)),
    "addmm without alpha": lambda t: t.addmm(2, m(t), m(t), m(t)),
    "addmm as a method": lambda t: m(t).addmm(2, 3, m(t), m(t)),
    "addmm as a method, without alpha": lambda t: m(t).addmm(2, m(t), m(t)),
    "addmm with out": lambda t: t.addmm(2, m(t), 3, m(t), m(t), out=t.empty(2, 2)),
    "addmv": lambda t: t.addmv(2, v(t), 3, m(t), v(t)),
    "addr_": lambda t: m(t).addr_(2, 3, v(t), v(t)),
    "addbmm": lambda t: t.addbmm(2, m(t), 3, b(t), b(t)),
    "baddbmm": lambda t: t.baddbmm(2, b(t), 3, b(t), b(t)),
}


@pytest.mark.filterwarnings("ignore:This overload of:UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_an_old_order_gives_pytorchs_result(name: str, require: Require) -> None:
    assert CALLS[name](glasstorch).tolist() == CALLS[name](require("torch")).tolist()


def test_an_old_order_is_warned_of_once_with_the_signatures_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        CALLS["addmm"](glasstorch)
        CALLS["addmm"](glasstorch)
    (warning,) = told
    assert warning.category is UserWarning
    assert str(warning.message) == (
        "This overload of addmm is deprecated:\n\taddmm(beta, input, alpha, mat1, mat2)\n"
        "Consider using one of the following signatures instead:\n"
        "\taddmm(Tensor input, Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1)"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.addmm(2, m(t), 3, m(t), "a"),
        lambda t: t.addmm(2, m(t), 3, m(t), m(t), m(t)),
        lambda t: t.addmm(2, m(t), 3, m(t), m(t), beta=2),
        lambda t: t.add(m(t), 2, m(t), m(t)),
        lambda t: t.add(m(t), m(t), 2),
        lambda t: t.sub(m(t), 2, v(t), alpha=3),
    ],
    ids=["a wrong operand", "one more", "beta twice", "one more of add", "alpha in the last place", "alpha twice"],
)
def test_what_is_in_no_order_is_refused(call: Callable[[Any], Any], require: Require) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ArgumentTypeError):
            call(glasstorch)
        with pytest.raises(TypeError):
            call(require("torch"))
