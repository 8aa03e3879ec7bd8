"""Is an operator the same by its function, as a method, and by its own name?

The generated functions call an operator themselves where the arguments plainly fit, and ask the parser where they do
not; `Operator.__call__` is the plain twin of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.trace import trace
from glasstorch.operators.gen.model import load_functions, python_name
from glasstorch.operators.generated import functions
from tests.agreement.oracles import about, assert_same, operator, results, runs
from tests.agreement.samples import Row, arrays, in_library
from tests.agreement.table import ROWS

FUNCTIONS = load_functions()
WITHOUT_FUNCTION = {f.name for f in FUNCTIONS if f.python_function == "none"}  # some have one by another overload


def same(row: Row, pick: Callable[[list[Any]], tuple[Callable[..., Any] | None, list[Any]]]) -> int:
    """Hold what a way of calling gives against the operator's own answer; returns how many calls were compared."""
    compared = 0
    for call, run in runs(row):
        given = arrays(row, call, run)
        args, kwargs = in_library(glasstorch, call, given)
        wanted = results(operator(row.op)(*args, **kwargs))
        args, kwargs = in_library(glasstorch, call, given)
        function, rest = pick(args)
        if function is None:
            continue
        with trace() as recorded:
            found = results(function(*rest, **kwargs))
        what = f"{about(row, call, run)}\n{recorded}"
        # All overloads of `to` come down to one, whichever was meant; a number travels as a tensor past `add.Scalar`.
        if row.function != "to" and row.op not in WITHOUT_FUNCTION:
            assert recorded[0].operator == f"aten::{row.op}", what
        for ours, theirs in zip(found, wanted, strict=True):
            if isinstance(theirs, glasstorch.Tensor):
                assert_same(ours, theirs, what)
            else:
                assert ours == theirs, what
        compared += 1
    return compared


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_by_its_function(row: Row) -> None:
    function = getattr(functions, python_name(row.function))
    assert same(row, lambda args: (function, args))


DECLARED_AS_METHODS = {f.name for f in FUNCTIONS if "method" in f.variants}
WRITTEN_IN_PYTHON = {"norm"}  # of its own arguments (python_forms/norm.py), as in torch/_tensor.py
METHODS = [
    row for row in ROWS
    if row.op in DECLARED_AS_METHODS and row.function not in WRITTEN_IN_PYTHON
    and callable(getattr(glasstorch.Tensor, row.function, None))
]  # fmt: skip


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.op)
def test_as_a_method(row: Row) -> None:
    names = [a.name for a in operator(row.op).schema.arguments]
    place = names.index("self") if "self" in names else 0

    def method(args: list[Any]) -> tuple[Any, list[Any]]:
        """The method of the argument called self, and the others in their order."""
        tensor, others = args[place : place + 1], [*args[:place], *args[place + 1 :]]
        if not tensor or not isinstance(tensor[0], glasstorch.Tensor):
            return None, []
        return getattr(tensor[0], row.function), others

    same(row, method)
