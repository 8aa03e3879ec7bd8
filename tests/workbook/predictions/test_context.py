"""Does a reader at a terminal see what a cell builds on, and nothing else?"""

from __future__ import annotations

import doctest

import pytest

from workbook.book.project import project_root
from workbook.predictions import context as module
from workbook.predictions.context import MOST, built_on, context, number_of_lines
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
        ("f()", ["if x:\n    def f(): ..."], "if x:\n    def f(): ..."),
        ("A()", ["try:\n    class A: ...\nfinally:\n    y = 1"], "try:\n    class A: ...\nfinally:\n    y = 1"),
        ("f()", ["with a as b:\n    def f():\n        return b"], "with a as b:\n    def f():\n        return b"),
        ("y", ["y = 1", "with a:\n    def f():\n        y = 2"], "y = 1"),
        ("x, y", ["x = 1", "y = [x for x in z]"], "x = 1\ny = [x for x in z]"),
        ("x", ["def f(a): ...", "x = [1]", "f(x)", "f(x + x)"], "def f(a): ...\nx = [1]\nf(x)"),
        ("x", ["x = [1]", "f(a=x)", "y = g(x)", "print(x)", "draw_cells(x)", "show_keys(x)"], "x = [1]\nf(a=x)"),
    ],
)
def test_what_the_code_reads_is_shown_with_what_changes_it(code: str, above: list[str], shown: str) -> None:
    assert context(code, above) == shown


def test_where_there_is_too_much_only_functions_are_shown_and_how_much_is_missing() -> None:
    above = ["def f():\n    return 1", *(f"x{number} = {number}" for number in range(MOST))]
    names = ", ".join(f"x{number}" for number in range(MOST))
    assert context(names, above).count("\n") == MOST - 1
    shown = f"def f():\n    return 1\n# ... and {MOST} more lines in the section"
    assert context(f"f(), {names}", above) == shown


def test_cells_of_two_sections_only_build_on_more_than_a_screen() -> None:
    lines = [(sum(map(number_of_lines, built_on(one.code, one.above))), one) for one in questions(project_root())]
    large = {one.section for number, one in lines if number > MOST}
    assert large == {"01-architecture/the-gil-and-what-is-released", "04-autograd/distributed-autograd-in-outline"}
    assert sum(number > 0 for number, _ in lines) > 50
    assert all(context(one.code, one.above).count("\n") <= MOST for _, one in lines)
