"""Does what pytest tells become what a reader can use?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import settings

from workbook.exercises.answer_file import NotStarted
from workbook.exercises.plugin import Judge, asked_by, chain, example, explanation, not_started, wants_torch


def item(name: str, doc: str | None = None, **params: object) -> pytest.Item:
    """A test of that name."""
    call = SimpleNamespace(params=params, id="-".join(map(str, params.values()))) if params else None
    made = SimpleNamespace(name=name, originalname=name, obj=SimpleNamespace(__doc__=doc))
    if call is not None:
        made.callspec = call
    return cast("pytest.Item", made)


def test_a_docstring_is_what_was_asked() -> None:
    assert asked_by(item("test_it", "the strides\n    of a shape\n\n    more")) == "the strides of a shape"


def test_a_name_is_read_as_a_sentence_with_its_parameters() -> None:
    assert asked_by(item("test_a_view_shares_storage")) == "a view shares storage"
    assert asked_by(item("test_a_view", dtype="int64")) == "a view [int64]"


@pytest.mark.parametrize(
    ("params", "expected"), [({}, False), ({"torch": "glasstorch"}, False), ({"torch": "torch"}, True)]
)
def test_the_half_of_a_pair_that_runs_pytorch_is_known(params: dict[str, Any], expected: bool) -> None:
    assert wants_torch(item("test_it", None, **params)) is expected


def test_an_explanation_is_the_first_lines_without_pytests_diff() -> None:
    text = "assert 1 == 2\n\n  At index 0 diff\n"
    assert explanation(AssertionError(f"{text}\n  Full diff:\n  - 1\n")) == "assert 1 == 2\nAt index 0 diff"
    text += "line\n" * 20
    assert explanation(AssertionError(text)).splitlines()[:3] == ["assert 1 == 2", "At index 0 diff", "line"]
    assert len(explanation(AssertionError(text)).splitlines()) == 6
    assert explanation(AssertionError()) == "AssertionError"
    assert explanation(ValueError("bad")) == "ValueError: bad"


def test_an_answer_that_changes_its_mind_is_told_without_hypothesis() -> None:
    flaky = type("FlakyFailure", (Exception,), {})
    assert explanation(flaky("insides")) == "the same call did not give the same result twice"


def test_an_example_that_hypothesis_noted_is_shown() -> None:
    error = AssertionError()
    error.add_note("Falsifying example: test_it(\n    shape=(0,),\n)")
    assert example(error) == ["Falsifying example: test_it(", "    shape=(0,),", ")"]
    assert example(AssertionError()) == []


def test_a_chain_of_exceptions_ends_also_where_it_is_a_ring() -> None:
    first, second = ValueError(), TypeError()
    first.__cause__, second.__context__ = second, first
    assert chain(first) == [first, second]
    assert chain(None) == []


def test_a_stub_is_told_by_name_and_line() -> None:
    assert not_started(NotStarted("f", 3)).came == "f is not written yet: it still raises NotImplementedError (line 3)"
    assert not_started(NotStarted("", None)).came.startswith("is not written yet")


def test_hypothesis_tries_few_examples_the_same_each_time_and_keeps_none() -> None:
    before = settings.get_current_profile_name()
    try:
        Judge("graft", Path("answer.py"), Path("begun")).pytest_collection_finish()
        now = settings()
        assert (now.max_examples, now.derandomize, now.database, now.deadline) == (20, True, None, None)
        assert not now.report_multiple_bugs
    finally:
        settings.load_profile(before)
