"""Do random programs leave PyTorch's graphs behind: nodes, edges, saved attributes, versions, and gradients?

A program is drawn from a seed: a dozen operators on views, in place and with several results, some of them in no_grad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import glasstorch
from tests.agreement.random_graphs import Program, facts, first_difference, gradients

Require = Callable[[str], Any]
PROGRAMS, MANY = 400, 20_000


def differing(seeds: Iterable[int], torch: Any) -> list[str]:
    """What differs in each program that does not end as under PyTorch."""
    torch.set_num_threads(1)
    found = []
    for seed in seeds:
        theirs, ours = Program(torch, seed).run(), Program(glasstorch, seed).run()
        if theirs.has_crashed:
            continue
        difference = first_difference(facts(ours), facts(theirs)) or first_difference(
            gradients(ours), gradients(theirs)
        )
        if difference is not None:
            found.append(f"program {seed}: {difference[0]}, PyTorch {difference[1]}")
    return found


@pytest.mark.ci
def test_random_programs(require: Require) -> None:
    found = differing(range(PROGRAMS), require("torch"))
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_many_random_programs(require: Require) -> None:
    found = differing(range(PROGRAMS, PROGRAMS + MANY), require("torch"))
    assert len(found) <= MANY / 1000, "\n".join(found)


def test_a_changed_name_edge_value_or_rounding_is_told_apart() -> None:
    account = [("SinBackward0", [(1, 0), None], [("_saved_self", [1.0, float("nan")])])]
    assert first_difference(account, account) is None
    assert first_difference([1.0, 2.0], [1.0, 2.0 + 1e-13]) is None
    assert first_difference([1.0, 2.0], [1.0, 2.0001]) == (2.0, 2.0001)
    assert first_difference([("a", 1)], [("b", 1)]) == ("a", "b")
    assert first_difference([1, 2], [1, 2, 3]) == ([1, 2], [1, 2, 3])
    assert first_difference([None], [(1, 0)]) == (None, (1, 0))
