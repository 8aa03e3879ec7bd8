"""Do random functions give the same results, effects and errors captured as not?"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo import optimize
from tests.compiler.bytecode.generated import Writer

COUNT = 400
GROUP = 50
pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")


class Thing:
    count = 0


def shown(value: Any) -> str:
    """A value as text: its class, its numbers, whether it takes a gradient."""
    if isinstance(value, torch.Tensor):
        numbers = value.detach().flatten().tolist()
        return f"tensor{tuple(value.shape)} {value.dtype} {value.requires_grad} {[round(n, 3) for n in numbers]}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key}: {shown(item)}' for key, item in value.items())})"
    return repr(value)


def outcome(function: Callable[..., Any], *, grad: bool) -> list[str]:
    """What two calls give, and what they change."""
    found = []
    for n in (2, 3):
        x = (torch.arange(4.0).view(2, 2) / 4).requires_grad_(grad)
        y, items, table, thing = torch.ones(2, 2), [1, 2], {"a": 1, "b": 2}, Thing()
        try:
            result = function(x, y, n, items, table, thing)
            text = shown(result)
            wanted = [leaf for leaf in torch.utils._pytree.tree_leaves(result) if getattr(leaf, "requires_grad", False)]
            if wanted:
                sum(leaf.double().sum() for leaf in wanted).backward()
        except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
            text = f"{type(error).__name__}: {error}"
        found.append(f"{text} | {shown([y, items, table, thing.count, x.grad])}")
    return found


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_a_captured_function_does_what_the_function_does(first: int) -> None:
    captured = 0
    for seed in range(first, first + GROUP):
        source = Writer(seed).text()
        names: dict[str, Any] = {"torch": torch}
        exec(source, names)
        grad = seed % 2 == 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = optimize(lambda module, inputs: module.forward)(names["function"])
            assert outcome(run, grad=grad) == outcome(names["function"], grad=grad), source
        captured += bool(run._optimized.entries)
    assert captured > GROUP // 3, f"only {captured} of {GROUP} functions were captured"
