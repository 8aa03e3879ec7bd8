"""Are faults of the engine found? Each is planted, and the test that is named for it has to fail.

Wrong formulas, tangents and batching rules are planted in `tests/agreement/test_opinfo_transforms.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import engine
from glasstorch.autograd.hooks import NodeHooks
from glasstorch.core.errors import AutogradError
from glasstorch.core.tensor_impl import TensorImpl
from tests.autograd.test_engine import test_gradients_that_meet_are_summed_before_the_node_runs as sums_first
from tests.autograd.test_hooks import test_what_a_hook_returns_replaces_the_gradient as replaces
from tests.autograd.test_saved import test_changing_a_saved_result_is_noticed_at_backward as notices

Plant = Callable[[pytest.MonkeyPatch], None]


def drop_a_version_bump(patch: pytest.MonkeyPatch) -> None:
    """A write in place is not counted."""
    patch.setattr(TensorImpl, "bump_version", lambda tensor: None)


def lose_a_dependency(patch: pytest.MonkeyPatch) -> None:
    """Of the edges that lead to a node, one is not counted."""
    count = engine.compute_dependencies

    def lost(roots: Any) -> Any:
        return {node: max(1, number - 1) for node, number in count(roots).items()}

    patch.setattr(engine, "compute_dependencies", lost)


def run_hooks_twice(patch: pytest.MonkeyPatch) -> None:
    """The hooks of a tensor run a second time on what they have returned."""
    once = NodeHooks.on_arrival
    patch.setattr(NodeHooks, "on_arrival", lambda hooks, grads: once(hooks, once(hooks, grads)))


FAULTS: dict[str, tuple[Plant, Callable[[Any], None]]] = {
    "a version bump is dropped": (drop_a_version_bump, notices),
    "a dependency is lost": (lose_a_dependency, sums_first),
    "a hook runs twice": (run_hooks_twice, replaces),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, finds = FAULTS[name]
    finds(glasstorch)
    plant(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception, AutogradError)):  # the last: the engine says so itself
        finds(glasstorch)
