"""Has a profile of a training step the rows that PyTorch's has?"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from tests.profiler.programs import classifier, convolutional, profile_of, transformer

Require = Callable[[str], Any]
PROGRAMS = {program.__name__: program for program in (classifier, convolutional, transformer)}
DIFFERENCES = tomllib.loads(Path(__file__).with_name("differing_rows.toml").read_text(encoding="utf-8"))["difference"]
LISTED = [row for difference in DIFFERENCES for row in difference["rows"]]


@cache
def events(torch: Any, name: str) -> Any:
    """The events of the second step: the first makes the state of the optimizer."""
    step = PROGRAMS[name](torch)
    step()
    return profile_of(torch, step).events()


def counts(torch: Any, name: str) -> dict[str, int]:
    return {row.key: row.count for row in events(torch, name).key_averages()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_rows_are_those_of_pytorch_where_the_operators_are_the_same(require: Require, name: str) -> None:
    torch = require("torch")
    theirs, ours = counts(torch, name), counts(glasstorch, name)
    differing = {row for row in {*theirs, *ours} if theirs.get(row) != ours.get(row)}
    assert differing <= set(LISTED), {row: (theirs.get(row), ours.get(row)) for row in differing - set(LISTED)}
    assert len(theirs.keys() & ours.keys()) > 35  # the lists do not take everything


def test_each_listed_row_differs_and_stands_once(require: Require) -> None:
    torch = require("torch")
    differing = {
        row
        for name in PROGRAMS
        for row in {*counts(torch, name), *counts(glasstorch, name)}
        if counts(torch, name).get(row) != counts(glasstorch, name).get(row)
    }
    assert sorted(LISTED) == sorted(differing)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_forward_call_has_the_backward_step_that_pytorch_gives_it(require: Require, name: str) -> None:
    """The last call that expected a step's number made the step."""
    torch = require("torch")

    def pairs(library: Any) -> Counter[tuple[str, str]]:
        made, found = {}, Counter[tuple[str, str]]()
        for event in events(library, name):
            if event.sequence_nr >= 0 and not event.fwd_thread:
                made[event.sequence_nr] = event.name
            elif event.scope == 1 and event.sequence_nr >= 0:
                found[made[event.sequence_nr], event.name] += 1
        return found

    assert pairs(glasstorch) == pairs(torch)


@pytest.mark.parametrize("name", PROGRAMS)
def test_backward_steps_run_in_pytorchs_order_each_inside_its_evaluation(require: Require, name: str) -> None:
    torch = require("torch")

    def steps(library: Any) -> list[tuple[str, str]]:
        return [(event.name, event.cpu_parent.name) for event in events(library, name) if event.scope == 1]

    ours = steps(glasstorch)
    assert ours == steps(torch)
    assert all(parent == f"autograd::engine::evaluate_function: {step}" for step, parent in ours)
