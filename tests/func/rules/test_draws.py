"""Do random operators under vmap give what `randomness` says?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def mapped(torch: Any, f: Callable[[Any], Any], randomness: str) -> Any:
    torch.manual_seed(0)
    return torch.func.vmap(f, randomness=randomness)(torch.arange(6.0).view(2, 3))


def test_an_error_is_the_default(torch: Any, refused: Callable[[Any], str]) -> None:
    words = refused(lambda: torch.func.vmap(torch.rand_like)(torch.ones(2, 3)))
    assert words.startswith(
        "vmap: called random operation while in randomness error mode. Please either use the 'same'"
    )


def test_different_numbers_are_drawn_at_once(torch: Any) -> None:
    found = mapped(torch, lambda x: torch.randn(2), "different")
    torch.manual_seed(0)
    assert found.tolist() == torch.randn(2, 2).tolist()


@pytest.mark.parametrize("name", ["randn", "rand_like", "dropout", "normal_", "randperm"])
def test_the_same_numbers_for_all_examples(torch: Any, name: str) -> None:
    f = {
        "randn": lambda x: torch.randn(3),
        "rand_like": torch.rand_like,
        "dropout": lambda x: torch.nn.functional.dropout(torch.ones_like(x), 0.5),
        "normal_": lambda x: x.clone().normal_(),
        "randperm": lambda x: torch.randperm(4),
    }[name]
    first, second = mapped(torch, f, "same").tolist()
    assert first == second


def test_nested_maps_have_modes_of_their_own(torch: Any) -> None:
    def inner(randomness: str) -> Any:
        return lambda x: torch.func.vmap(lambda y: torch.randn(()), randomness=randomness)(x)

    rows = mapped(torch, inner("same"), "different")
    assert all(len(set(row)) == 1 for row in rows.tolist())
    assert len(set(rows[:, 0].tolist())) == 2


def test_what_cannot_be_the_same_or_different_is_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    weighted = refused(lambda: mapped(torch, lambda x: torch.multinomial(x + 1, 2), "same"))
    assert weighted.startswith("Vmap does not currently support same randomness with a batched tensor input")
    shared = refused(lambda: mapped(torch, lambda x: torch.empty(2).uniform_(), "different"))
    assert shared.startswith("vmap: Cannot ask for different inplace randomness on an unbatched tensor")
    assert "Only allowed values for randomness are" in refused(lambda: torch.func.vmap(torch.sin, randomness="x"))
