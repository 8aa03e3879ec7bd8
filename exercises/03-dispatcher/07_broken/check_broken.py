"""Is each promise that a call breaks found, and none that it keeps?"""

from collections.abc import Sequence
from typing import Any

import glasstorch as torch
from glasstorch._library.schema_check import RESULTS_SHARE, RETURNED, SHARES, WRITES, Broken
from glasstorch.dispatch.schema import FunctionSchema
from workbook.exercises.asking import Ask, expect


def asked_of(ask: Ask, schema: str, given: Sequence[Any], changed: Sequence[int], returned: Sequence[Any]) -> Any:
    """The function's result for a call; `changed` are the places of the arguments that were written to."""
    written = [place in changed for place in range(len(given))]
    return ask("broken_promises", FunctionSchema.parse(schema), given, written, returned).value


def test_writes(ask: Ask) -> None:
    """the broken promises of a call that changed an argument or a tensor of a list"""
    x, y = torch.ones(3), torch.zeros(2)
    for schema, given, changed, wanted in (
        ("f(Tensor x, Tensor y) -> Tensor", [x, y], [1], {Broken(WRITES, 1)}),
        ("f(Tensor(a!) x, Tensor y) -> Tensor", [x, y], [0, 1], {Broken(WRITES, 1)}),
        ("f(Tensor(a) x, Tensor(b!) y) -> Tensor(a)", [x, y], [0], {Broken(WRITES, 0)}),
        ("f(Tensor(a!) x, Tensor[] y) -> Tensor", [x, [x.clone(), y]], [1], {Broken(WRITES, 1)}),
        ("f(Tensor(a!) x, Tensor(b!)[] y) -> Tensor", [x, [y]], [0], set()),
    ):
        because = "only an argument whose mark has a `!` may be changed, and it need not be"
        places = " and ".join(f"argument {place}" for place in changed)
        expect(
            asked_of(ask, schema, given, changed, [torch.ones(1)]),
            wanted,
            asked=f"the promises that `{schema}` breaks, where {places} changed",
            because=because,
        )


def test_shares(ask: Ask) -> None:
    """the broken promises of a call whose result shares memory with an argument"""
    x, y = torch.ones(3), torch.zeros(2)
    crossed = {Broken(SHARES, 0, 1), Broken(SHARES, 1, 0)}
    for schema, returned, wanted in (
        ("f(Tensor x, Tensor y) -> Tensor", [y[:1]], {Broken(SHARES, 1, 0)}),
        ("f(Tensor x, Tensor y) -> (Tensor, Tensor)", [x + 1, x[1:]], {Broken(SHARES, 0, 1)}),
        ("f(Tensor(a) x, Tensor y) -> Tensor(a)", [x[1:]], set()),
        ("f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))", [y[1:], x[1:]], crossed),
        ("f(Tensor(a) x, Tensor(b) y) -> Tensor(a|b)", [y[1:]], set()),
        ("f(Tensor(a -> *) x, Tensor y) -> Tensor(b)[]", [[x[:1], x[1:]]], set()),
        ("f(Tensor(a) x, Tensor y) -> Tensor[]", [[y + 1, x[1:]]], {Broken(SHARES, 0, 0)}),
    ):
        expect(
            asked_of(ask, schema, [x, y], [], returned),
            wanted,
            asked=f"the promises that `{schema}` breaks, where {' and '.join(sharing(returned, x, y))}",
            because="values may share memory only if their marks have a letter in common; the star matches every mark",
        )


def sharing(returned: Sequence[Any], x: Any, y: Any) -> list[str]:
    """Which argument each result shares memory with, in words."""
    words = []
    for place, result in enumerate(returned):
        for one in result if isinstance(result, list) else [result]:
            for name, argument in (("x", x), ("y", y)):
                if one.untyped_storage() is argument.untyped_storage():
                    words.append(f"result {place} is a view of {name}")
    return words


def test_returned(ask: Ask) -> None:
    """the broken promises of a call that returns an argument itself"""
    x = torch.ones(3)
    for schema, given, wanted in (
        ("f(Tensor(a!) x) -> Tensor(a!)", [x], set()),
        ("f(Tensor(a) x) -> Tensor(a)", [x], {Broken(RETURNED, 0, 0)}),
        ("f(Tensor x) -> Tensor", [x], {Broken(RETURNED, 0, 0), Broken(SHARES, 0, 0)}),
        ("f(int n) -> int", [7], set()),
    ):
        expect(
            asked_of(ask, schema, given, [], given),
            wanted,
            asked=f"the promises that `{schema}` breaks, which returned its argument",
            because="a tensor may be returned itself only if its mark has a `!`; a number has no memory",
        )


def test_results(ask: Ask) -> None:
    """the broken promises of a call of which two results share memory"""
    x = torch.ones(3)
    made = torch.zeros(4)
    for schema, returned, wanted in (
        ("f(Tensor x) -> (Tensor, Tensor, Tensor)", [made, x + 1, made[1:]], {Broken(RESULTS_SHARE, 0, 2)}),
        ("f(Tensor x) -> (Tensor, Tensor(a), Tensor(a))", [x + 1, made, made[1:]], set()),
        ("f(Tensor x) -> (Tensor(a), Tensor(b), Tensor)", [made[:2], made[1:], x + 1], {Broken(RESULTS_SHARE, 0, 1)}),
    ):
        expect(
            asked_of(ask, schema, [x], [], returned),
            wanted,
            asked=f"the promises that `{schema}` breaks, of which two results share memory",
            because="two results may share memory only if their marks have a letter in common",
        )
