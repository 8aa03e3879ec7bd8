"""Does a reader at a terminal see what a cell builds on, and nothing else?"""

from __future__ import annotations

import doctest

import pytest

from workbook.book.project import project_root
from workbook.predictions import context as module
from workbook.predictions.context import MOST, context
from workbook.predictions.questions import questions


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("code", "above", "shown"),
    [
        ("print(y)", ["x = 1", "y = x + 1", "z = y"], "x = 1\ny = x + 1"),
        ("print(y)", ["y = 1", "y = 2"], "y = 2"),
        ("f(1)", ["x = 1", "def f(a):\n    x = a\n    return x"], "def f(a):\n    x = a\n    return x"),
        ("f(1)", ["x = 1", "def f(a):\n    return a + x"], "x = 1\ndef f(a):\n    return a + x"),
        ("x = 2\nprint(x)", ["x = 1"], ""),
        ("x.a, y[0]", ["x, y = 1, [2]", "y[0] = 3", "x.a = 4"], "x, y = 1, [2]\ny[0] = 3\nx.a = 4"),
        ("x", ["x = []", "x.data.append(2)", "x[0].b()", "print(x)", "y.c(x)"], "x = []\nx.data.append(2)\nx[0].b()"),
        ("torch.ones(2)", ["import torch", "torch.manual_seed(0)"], ""),
        ("x", ["from a import x"], ""),
        ("x", ["%%html\nx = 1", "x = = 2"], ""),
        ("x = = 2", ["x = 1"], ""),
        ("f()", ["@once\ndef f():\n    pass", "x = 1"], "@once\ndef f():\n    pass"),
        ("with f() as x:\n    x", ["x = 1"], ""),
        ("[x for x in y]", ["x = 1", "y = 2"], "y = 2"),
        ("x += 1", ["x = 1"], "x = 1"),
        ("x", ["x = 1", "for y in (1, 2):\n    x += y"], "x = 1\nfor y in (1, 2):\n    x += y"),
        ("", ["x = 1"], ""),
    ],
)
def test_what_the_code_reads_is_shown_with_what_changes_it(code: str, above: list[str], shown: str) -> None:
    assert context(code, above) == shown


def test_where_there_is_too_much_only_functions_are_shown() -> None:
    above = ["def f():\n    return 1", *(f"x{number} = {number}" for number in range(MOST))]
    names = ", ".join(f"x{number}" for number in range(MOST))
    assert context(names, above).count("\n") == MOST - 1
    assert context(f"f(), {names}", above) == "def f():\n    return 1"


def test_no_cell_of_the_book_needs_more_than_a_screen() -> None:
    lines = [context(one.code, one.above).count("\n") for one in questions(project_root())]
    assert max(lines) < MOST
    assert sum(map(bool, lines)) > 50
