"""Does SchemaCheckMode find, and list, what torch's does?"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._library.schema_check import RESULTS_SHARE, RETURNED, SHARES, WRITES, Broken, broken_promises
from glasstorch._library.schema_check import SchemaCheckMode as Mode
from glasstorch.dispatch.schema import FunctionSchema

Kernel = Callable[[Any, Any], Any]
_numbers = itertools.count()

CALLS: list[tuple[str, Kernel]] = [
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x + y),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: y.add_(1) + x),
    ("f(Tensor(a!) x, Tensor y) -> Tensor(a!)", lambda x, y: x.add_(y)),
    ("f(Tensor(a!) x, Tensor(b!) y) -> ()", lambda x, y: x.add_(y) and None if x.numel() == 1 else y.mul_(2) and None),
    ("f(Tensor(a) x, Tensor y) -> Tensor(a)", lambda x, y: x[:1]),
    ("f(Tensor(a) x, Tensor(b) y) -> Tensor(a)", lambda x, y: y[:1]),
    ("f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))", lambda x, y: (x[:1], y[:1])),
    ("f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))", lambda x, y: (y[:1], x[:1])),
    ("f(Tensor x, Tensor y) -> (Tensor, Tensor)", lambda x, y: (x + y, y[:1])),
    ("f(Tensor x, Tensor y) -> (Tensor, Tensor)", lambda x, y: (x + y,) * 2),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x),
]


def outcome(torch: Any, mode: Any, schema: str, kernel: Kernel) -> object:
    """What the mode lists of a call, or the words of its refusal."""
    name = f"checked_{next(_numbers)}"
    with torch.library._scoped_library(name, "DEF") as library:
        library.define(schema)
        library.impl("f", kernel, "CPU")
        try:
            with mode:
                getattr(torch.ops, name).f(torch.ones(1), torch.ones(2))
        except RuntimeError as error:
            return str(error).splitlines()[0]
        return [(one.op_name.replace(name, "ns"), one.arg_name) for one in mode.mutated], [
            (one.op_name.replace(name, "ns"), one.arg_name, one.output_number) for one in mode.aliasing
        ]


@pytest.mark.parametrize(("schema", "kernel"), CALLS, ids=range(len(CALLS)))
def test_a_call_is_judged_as_by_torch(require: Callable[[str], Any], schema: str, kernel: Kernel) -> None:
    torch = require("torch")
    theirs = require("torch._subclasses.schema_check_mode").SchemaCheckMode()
    assert outcome(glasstorch, Mode(), schema, kernel) == outcome(torch, theirs, schema, kernel)


def test_each_promise_that_is_broken_is_found() -> None:
    x, made = glasstorch.ones(3), glasstorch.zeros(3)
    schema = FunctionSchema.parse("f(Tensor x, Tensor(a) y, int n) -> (Tensor, Tensor, Tensor, int)")
    found = broken_promises(schema, [x, made, 7], [True, False, False], [x, made[1:], made, 7])
    assert found == {
        Broken(WRITES, 0),
        Broken(SHARES, 0, 0),
        Broken(RETURNED, 0, 0),
        Broken(SHARES, 1, 1),
        Broken(SHARES, 1, 2),
        Broken(RETURNED, 1, 2),
        Broken(RESULTS_SHARE, 1, 2),
    }


def test_a_list_shares_the_memory_of_its_tensors() -> None:
    x, y = glasstorch.ones(3), glasstorch.zeros(2)
    schema = FunctionSchema.parse("f(Tensor(a -> *) x, Tensor[] y) -> Tensor(a)[]")
    assert broken_promises(schema, [x, [y]], [False, False], [[x[:1], x[1:]]]) == set()
    assert broken_promises(schema, [x, [y]], [False, False], [[y[:1]]]) == {Broken(SHARES, 1, 0)}
