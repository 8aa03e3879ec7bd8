"""Do random functions give the same results, effects and errors captured as not?"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo import optimize
from tests.compiler.bytecode.generated import PRELUDE, Writer

COUNT = 400
GROUP = 50


def shown(value: Any, seen: tuple[int, ...] = ()) -> str:
    """A value as text: its class, its numbers, whether it takes a gradient; what contains itself is cut."""
    if id(value) in seen:
        return f"the one {len(seen) - seen.index(id(value))} up"
    seen = (*seen, id(value))
    if isinstance(value, torch.Tensor):
        numbers = value.detach().flatten().tolist()
        return f"tensor{tuple(value.shape)} {value.dtype} {value.requires_grad} {[round(n, 3) for n in numbers]}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(shown(item, seen) for item in value)})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key}: {shown(item, seen)}' for key, item in value.items())})"
    if isinstance(value, types.FunctionType):
        return f"function {value.__name__} {shown([cell.cell_contents for cell in value.__closure__ or ()], seen)}"
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return f"{type(value).__name__} {shown(vars(value), seen)}"
    return repr(value)


def outcome(run: Callable[..., Any], names: dict[str, Any], *, grad: bool) -> list[str]:
    """What two calls of a function give, and what they change; `names` are its globals."""
    found = []
    for n in (2, 3):
        x = (torch.arange(4.0).view(2, 2) / 4).requires_grad_(grad)
        y, items, table, thing = torch.ones(2, 2), [1, 2], {"a": 1, "b": 2}, names["Thing"]()
        try:
            result = run(x, y, n, items, table, thing)
            text = shown(result)
            wanted = [leaf for leaf in torch.utils._pytree.tree_leaves(result) if getattr(leaf, "requires_grad", False)]
            if wanted:
                sum(leaf.double().sum() for leaf in wanted).backward()
        except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
            text = f"{type(error).__name__}: {error}"
        found.append(f"{text} | {shown([y, items, table, thing, x.grad, names['TOTAL'], names['SEEN']])}")
    return found


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_a_captured_function_does_what_the_function_does(first: int) -> None:
    captured = returning = 0
    for seed in range(first, first + GROUP):
        source = Writer(seed).text()
        plain, names = made(source), made(source)
        grad = seed % 2 == 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = optimize(lambda module, inputs: module.forward)(names["function"])
            expected = outcome(plain["function"], plain, grad=grad)
            assert outcome(run, names, grad=grad) == expected, source
        if all(text.startswith("tuple") for text in expected):
            returning += 1
            captured += bool(run._optimized.entries) and not run._optimized.breaks
    assert captured >= returning * 0.8, f"only {captured} of {returning} functions were captured whole"


def made(source: str) -> dict[str, Any]:
    """The globals of a new module with a function in it."""
    names: dict[str, Any] = {"torch": torch, "__name__": __name__}
    exec(PRELUDE + source, names)
    return names
