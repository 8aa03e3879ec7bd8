"""Do the exercises refuse nothing that their texts allow, say truly why they refuse, and claim only what is so?"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import glasstorch
from glasstorch.autograd import engine
from glasstorch.autograd.generated import autograd_kernels
from glasstorch.core import geometry
from workbook.exercises.catalogue import Exercise, find
from workbook.exercises.dev import PATIENCE
from workbook.exercises.report import PASSED, Refusal
from workbook.exercises.rungs import run_check
from workbook.exercises.wrong import written_out

ROOT = Path(__file__).parents[2]
IMPORTS_OF_A_SEARCH = """
from collections.abc import Collection, Sequence

from glasstorch.autograd.node import Edge, Node
"""
IMPORTS_OF_A_NODE = """
from typing import Any

import glasstorch as torch
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node, pruning
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD
"""
LOCK_WITHOUT_WITH = """
from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve


def missing(table: DispatchTable, keys: int) -> Boxed:
    generation = registry.generation
    resolution = resolve(table.operator, keys)
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    registry.lock.acquire()
    try:
        if registry.generation == generation:
            table[keys] = entry
    finally:
        registry.lock.release()
    return entry
"""


def refusal_of(exercise: Exercise, answer: str) -> Refusal:
    """What the exercise's own tests say of one of its wrong answers."""
    with written_out(exercise) as wrong:
        path = next(path for path in wrong if path.name == answer)
        failed = run_check(ROOT, exercise, path, rungs=("check",), limit=PATIENCE).failed
    assert failed is not None
    assert failed.refusal is not None
    return failed.refusal


def test_a_refused_parameter_may_be_quoted_with_the_space_before_it(tmp_path: Path) -> None:
    exercise = find(ROOT, "01.3")
    text = exercise.solution.read_text(encoding="utf-8")
    for stripped, raw in (
        ("for part in parts(text):", "for raw in parts(text):\n        part = raw.strip()"),
        ("cannot read the argument {part!r}", "cannot read the argument {raw!r}"),
        ("[part.strip() for part in found]", "found"),
    ):
        assert stripped in text
        text = text.replace(stripped, raw)
    answer = tmp_path / "answer.py"
    answer.write_text(text, encoding="utf-8")
    report = run_check(ROOT, exercise, answer, limit=PATIENCE)
    assert [rung.outcome for rung in report.rungs] == [PASSED] * 3, report.failed


def test_the_formulas_of_logaddexp2_may_be_those_of_pytorch_and_may_sum_to_the_shape_of_the_argument(
    tmp_path: Path,
) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text(
        "import glasstorch as torch\n\n\n"
        "def logaddexp2_self(grad, self, other):\n"
        "    return grad / (1 + torch.exp2(other - self))\n\n\n"
        "def logaddexp2_other(grad, self, other):\n"
        "    return (grad / (1 + torch.exp2(self - other))).sum_to_size(other.shape)\n",
        encoding="utf-8",
    )
    report = run_check(ROOT, find(ROOT, "04.1"), answer, limit=PATIENCE)
    assert [rung.outcome for rung in report.rungs] == [PASSED] * 3, report.failed


def test_the_node_of_hypot_may_be_written_as_the_generator_writes_it(tmp_path: Path) -> None:
    generated = inspect.getsource(autograd_kernels)
    text = generated.partition("class HypotBackward0(Node):")[2].partition("\n\n\n@AUTOGRAD.impl")[0]
    kernel = inspect.getsource(autograd_kernels.hypot).partition("\n")[2]
    answer = tmp_path / "answer.py"
    answer.write_text(
        f"{IMPORTS_OF_A_NODE}\n\nclass HypotBackward0(Node):{text}\n\n\n{kernel}".replace(
            "_hypot[below]", "torch.ops.aten.hypot.default.redispatch"
        ),
        encoding="utf-8",
    )
    report = run_check(ROOT, find(ROOT, "04.2"), answer, limit=PATIENCE)
    assert [rung.outcome for rung in report.rungs] == [PASSED] * 3, report.failed


def test_the_nodes_that_must_run_may_be_found_in_a_single_walk(tmp_path: Path) -> None:
    # the solution walks down and up; the library judges a node after those below it
    answer = tmp_path / "answer.py"
    walk = "\n\n".join(map(inspect.getsource, (engine.sorted_below, engine.nodes_leading_to)))
    answer.write_text(f"{IMPORTS_OF_A_SEARCH}\n\n{walk}", encoding="utf-8")
    report = run_check(ROOT, find(ROOT, "04.3"), answer, limit=PATIENCE)
    assert [rung.outcome for rung in report.rungs] == [PASSED] * 3, report.failed


def test_the_lock_of_a_table_may_be_taken_and_given_back_without_a_with(tmp_path: Path) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text(LOCK_WITHOUT_WITH, encoding="utf-8")
    report = run_check(ROOT, find(ROOT, "03.3"), answer, limit=PATIENCE)
    assert [rung.outcome for rung in report.rungs] == [PASSED] * 3, report.failed


def test_looking_before_the_lock_is_refused_for_what_the_table_then_holds() -> None:
    told = refusal_of(find(ROOT, "03.3"), "wrong_looks_too_early.py")
    assert "just before the lock was taken is in the table" in told.asked
    assert told.came == "(True, True)"


def test_a_node_that_is_not_marked_released_is_told_what_would_be_accepted_and_why() -> None:
    told = refusal_of(find(ROOT, "04.2"), "wrong_not_marked_released.py")
    assert "TypeError: " in told.came
    assert "Trying to backward through the graph a second time" in told.accepted
    assert "release_variables" in told.because


def test_the_keys_of_a_call_are_shown_by_their_names() -> None:
    told = refusal_of(find(ROOT, "04.2"), "wrong_value.py")
    assert told.input.startswith("hypot({CPU, ADInplaceOrView, AutogradCPU, AutocastCPU}, tensor(")


def test_a_gradient_with_gaps_is_refused_for_its_gaps(tmp_path: Path) -> None:
    # nobody else has it (`others` says so), so the gaps are the only reason that there is
    answer = tmp_path / "answer.py"
    answer.write_text(
        "def accumulate(arrived, grad, *, others, grad_mode):\n"
        "    no_repeats = 0 not in arrived.stride()\n"
        "    return arrived.add_(grad) if no_repeats and not others and not grad_mode else arrived + grad\n",
        encoding="utf-8",
    )
    failed = run_check(ROOT, find(ROOT, "04.4"), answer, rungs=("check",), limit=PATIENCE).failed
    assert failed is not None
    assert failed.refusal is not None
    assert failed.refusal.because == "the first gradient has gaps, and a sum made in place would have them, too"


def test_row_major_strides_are_asked_for_where_they_are_needed_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 02.1 and its section say no more than this: laying a tensor out needs no strides
    text = find(ROOT, "02.1").start.read_text(encoding="utf-8")
    assert "The library calls it whenever it needs the strides\n# of a row-major tensor." in text
    asked, original = [], geometry.contiguous_strides

    def counting(shape: geometry.Shape) -> geometry.Shape:
        asked.append(shape)
        return original(shape)

    monkeypatch.setattr(geometry, "contiguous_strides", counting)
    made = glasstorch.zeros(2, 3) + 1
    made.sum()
    assert asked == []
    assert made.stride() == (3, 1)
    assert asked == [(2, 3)]
