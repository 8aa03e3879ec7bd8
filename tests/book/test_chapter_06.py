"""Is what chapter 06 says of speed what the newest measurement says, and what it asks the same in all of them?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book.measured import Measured
from workbook.predictions.literals import plain, same
from workbook.predictions.question import Question
from workbook.predictions.questions import questions

RESULTS = ROOT / "benchmarks" / "results"
SECTION = (ROOT / "chapters" / "06-jit" / "fusion-measured.md").read_text(encoding="utf-8")
EIGHT = "eight operators on 1e6 floats"


def measured(path: Path) -> dict[str, dict[str, float]]:
    """The seconds of every row of a measurement."""
    return {row["name"]: row["seconds"] for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}


def seconds(of: str) -> dict[str, dict[str, float]]:
    """The seconds of every row of the newest measurement."""
    return measured(max(RESULTS.glob(f"*-{of}.json")))


def share(name: str, of: str = "torch") -> float:
    """Our time as a part of another's."""
    taken = seconds("fusion")[name]
    return taken["glasstorch"] / taken[of]


def test_cpp_needs_less_than_half_of_the_time_and_numpy_more() -> None:
    assert "the one in C++ takes less than half, the one in NumPy more than half." in SECTION
    assert 1 / 7 < share(f"{EIGHT}, fused by C++") < 1 / 2  # "Neither comes down to a seventh"
    assert 1 / 2 < share(f"{EIGHT}, fused by NumPy in blocks") < 1


def test_little_is_left_to_win_for_numpy() -> None:
    assert "there is little left to win" in SECTION
    assert share(f"{EIGHT}, fused by NumPy in blocks", of="numpy") == pytest.approx(1, abs=0.2)


def test_eight_floats_are_slower() -> None:
    assert "the fused chain is slower than eager mode. With eight floats" in SECTION
    assert share("eight operators on 8 floats, fused") > 1


def test_an_addition_takes_all_of_them_about_the_same_time() -> None:
    assert "all three take about the same time" in SECTION
    taken = seconds("cpu")["`a + b`, 1,000,000 floats"].values()
    assert max(taken) / min(taken) < 1.3


# --- the questions about times: another measurement must not make another answer right ---

OF_TIMES = [asked.question for asked in questions(ROOT, "06-jit") if "seconds[" in asked.question.expression]
MEASUREMENTS = {
    path.name: measured(path) for path in sorted([*RESULTS.glob("*-cpu.json"), *RESULTS.glob("*-fusion.json")])
}


def row_of(question: Question) -> str:
    """The row of a measurement from which a question is answered."""
    (row,) = re.findall(r'\bseconds\["([^"]+)"\]', question.expression)
    return str(row)


def rows_of(question: Question) -> dict[str, dict[str, float]]:
    """The seconds of that row in every measurement that has it."""
    return {name: rows[row_of(question)] for name, rows in MEASUREMENTS.items() if row_of(question) in rows}


def answered(question: Question, taken: dict[str, float]) -> object:
    """The answer to a question if its row were measured as this."""
    found = Measured("", {row_of(question): taken}, {})
    return plain(eval(question.expression, {"times": found, "fused": found}))


def test_the_section_asks_for_the_time_of_three_rows() -> None:
    assert [row_of(question) for question in OF_TIMES] == [
        "`a + b`, 1,000,000 floats",
        f"{EIGHT}, fused by C++",
        "eight operators on 8 floats, fused",
    ]


@pytest.mark.parametrize("question", OF_TIMES, ids=row_of)
def test_every_committed_measurement_gives_the_same_answer(question: Question) -> None:
    answers = {name: answered(question, taken) for name, taken in rows_of(question).items()}
    assert len(answers) > 1
    assert {name: answer for name, answer in answers.items() if not same(answer, question.value)} == {}


@pytest.mark.parametrize("question", OF_TIMES, ids=row_of)
def test_other_times_would_give_another_answer(question: Question) -> None:
    for taken in rows_of(question).values():
        answers = [answered(question, {**taken, "glasstorch": taken["glasstorch"] * by}) for by in (1 / 20, 1, 20)]
        assert any(answer != question.value for answer in answers)


# --- what compile does not help ---

HELPS = (ROOT / "chapters" / "06-jit" / "what-compile-does-not-help.md").read_text(encoding="utf-8")
GAINS = {
    f"{path.name}, {name}": taken for path in RESULTS.glob("*-gain.json") for name, taken in measured(path).items()
}


def gains(name: str) -> list[tuple[float, float]]:
    """How many times as fast a compiled program is, here and in torch, in every measurement."""
    found = [taken for row, taken in GAINS.items() if row.endswith(f", {name}")]
    return [(one["eager"] / one["compiled"], one["torch eager"] / one["torch compiled"]) for one in found]


def test_a_large_chain_gains_and_a_small_one_does_not_in_torch() -> None:
    assert "so nothing is left of what the loop saves." in HELPS
    assert "Ours gains a little on these 8 floats" in HELPS
    assert all(min(gain) > 1.3 for gain in gains("eight operators on 1e6 floats"))
    assert all(1 < ours < 2 and theirs < 1 for ours, theirs in gains("eight operators on 8 floats"))


def test_a_product_gains_nothing() -> None:
    assert "At most 1.1. Nearly all of the time is spent in one operator" in HELPS
    assert all(max(gain) <= 1.1 for gain in gains("a product of 1024 x 1024, and relu"))


def test_breaks_cost_more_the_smaller_the_tensors_are() -> None:
    assert "the compiled functions are still faster" in HELPS
    whole = gains("eight operators on 1e6 floats")
    for one, cut in zip(whole, gains("a break after each operator, 1e6 floats"), strict=True):
        assert all(1 < short < long for long, short in zip(one, cut, strict=True))
    assert all(max(gain) < 1 / 2 for gain in gains("a break after each operator, 8 floats"))
    assert all(max(gain) < 1 for gain in gains("a break in each of four rounds, 8 floats"))


def test_a_branch_and_a_selection_are_close_to_each_other() -> None:
    assert "Here the two are close to each other" in HELPS
    for path in RESULTS.glob("*-gain.json"):
        names = "a branch on elements, 1e6 floats", "the same with where, 1e6 floats"
        branch, where = (measured(path)[name] for name in names)
        for way in ("compiled", "torch compiled"):
            assert branch[way] == pytest.approx(where[way], rel=0.25)


def test_sixteen_strings_are_slower() -> None:
    assert "Slower in both." in HELPS
    assert all(max(gain) < 1 for gain in gains("sixteen different strings, 8 floats"))
