"""Is opt_einsum asked for an order where it is installed and chosen?"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import glasstorch
from glasstorch.python_forms import contraction


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A stand-in for opt_einsum that multiplies from right to left; what it was asked."""
    asked: list[Any] = []

    def contract_path(equation: str, *operands: Any, optimize: str) -> tuple[list[tuple[int, int]], str]:
        asked.append((equation, len(operands), optimize))
        return [(n - 2, n - 1) for n in range(len(operands), 1, -1)], "what it costs"

    monkeypatch.setattr(contraction, "is_available", lambda: True)
    monkeypatch.setattr(contraction, "get_opt_einsum", lambda: SimpleNamespace(contract_path=contract_path))
    monkeypatch.setattr(contraction, "choice", contraction.Choice())
    return asked


def test_three_operands_are_multiplied_in_the_order_that_it_finds(installed: list[Any]) -> None:
    x = [glasstorch.arange(6.0).reshape(shape) for shape in ((2, 3), (3, 2), (2, 3))]
    result = glasstorch.einsum("ij,jk,kl->il", *x)
    assert result.tolist() == (x[0] @ (x[1] @ x[2])).tolist()
    assert installed == [("ij,jk,kl->il", 3, "auto")]


def test_two_operands_need_no_order(installed: list[Any]) -> None:
    glasstorch.einsum("ij,jk->ik", glasstorch.ones(2, 3), glasstorch.ones(3, 2))
    assert not installed


def test_a_strategy_is_chosen_for_a_block(installed: list[Any]) -> None:
    three = [glasstorch.ones(2, 2)] * 3
    with contraction.flags(strategy="greedy"):
        glasstorch.einsum("ij,jk,kl->il", *three)
    with contraction.flags(enabled=False):
        glasstorch.einsum("ij,jk,kl->il", *three)
    glasstorch.einsum("ij,jk,kl->il", *three)
    assert [strategy for *_, strategy in installed] == ["greedy", "auto"]
    with pytest.raises(ValueError, match="must be one of the following: \\[auto, greedy, optimal\\] but is best"):
        contraction.choice.strategy = "best"
    with contraction.flags(enabled=False), pytest.raises(ValueError, match="opt_einsum is not enabled"):
        contraction.choice.strategy = "auto"


def test_where_it_is_not_installed_nothing_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction, "is_available", lambda: False)
    choice = contraction.Choice()
    assert not choice.enabled
    assert choice.strategy is None
    with pytest.raises(ValueError, match="opt_einsum is not available"):
        choice.enabled = True
    with pytest.raises(ValueError, match="opt_einsum is not available"):
        choice.strategy = "auto"
