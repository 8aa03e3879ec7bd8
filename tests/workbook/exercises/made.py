"""How does a test get an exercise of its own making, and what the rungs say of an answer to it?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent

from tests.workbook.exercises.tree import make_clone
from workbook.exercises.catalogue import find
from workbook.exercises.report import RUNGS, Report
from workbook.exercises.rungs import run_check

PLACE = "02-tensor-storage/01_double"
CHECK = """
from workbook.exercises.asking import expect

def test_double(ask):
    '''twice the number'''
    for number in (1, 2, 30):
        expect(ask("double", number), 2 * number, because="a number and itself")
"""
GOOD = """
def double(number):
    return number + number
"""
# A function of the library that a test can replace: short, called from other modules, of ints and tuples only.
FUNCTION = ("function", "glasstorch.core.geometry:contiguous_strides", "double", "")


def cell(source: str, output: str = "", tags: Iterable[str] = ()) -> dict[str, object]:
    """An executed code cell whose value prints like this."""
    outputs: list[object] = []
    if output:
        data = {"text/plain": output}
        outputs = [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}]
    return {
        "cell_type": "code",
        "source": source,
        "outputs": outputs,
        "execution_count": 1,
        "metadata": {"tags": list(tags)},
        "id": f"c{abs(hash(source))}",
    }


def prose(source: str) -> dict[str, object]:
    """A cell of text."""
    return {"cell_type": "markdown", "source": source, "metadata": {}, "id": f"p{abs(hash(source))}"}


SHEET = (prose("# Sheet\n\n## Twice"), cell("from answer import double"), cell("double(21)", "42"))


def make(
    root: Path,
    pieces: Iterable[tuple[str, str, str, str]] = (FUNCTION,),
    check: str = CHECK,
    test: str = "def test_nothing():\n    pass\n",
    sheet: Iterable[dict[str, object]] = SHEET,
) -> Path:
    """A clone with one exercise, 02.1; returns the exercise's folder. `test` is the file that the library must pass."""
    make_clone(root, PLACE)
    folder = root / "exercises" / PLACE
    lines = ['title = "Double"', 'asks = "Write double."', 'form = "write"', "difficulty = 1", "minutes = 5"]
    lines += ['section = "02-tensor-storage/one"']
    for kind, target, answer, key in pieces:
        lines += ["[[graft]]", f'kind = "{kind}"', f'target = "{target}"', f'answer = "{answer}"']
        lines += [f'key = "{key}"'] if key else []
    lines += ["[carries]", 'tests = ["tests/test_carried.py"]']
    (folder / "exercise.toml").write_text("\n".join(lines))
    (folder / "check_double.py").write_text(dedent(check))
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": list(sheet), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (folder / "lab.ipynb").write_text(json.dumps(notebook))
    (root / "tests").mkdir(exist_ok=True)
    (root / "tests" / "test_carried.py").write_text(dedent(test))
    return folder


def answer(root: Path, text: str, *rungs: str, limit: float = 300.0) -> Report:
    """What these rungs say of this answer; all three if none is named."""
    (root / "exercises" / PLACE / "answer.py").write_text(dedent(text))
    return run_check(root, find(root, "02.1"), rungs=rungs or RUNGS, limit=limit)
