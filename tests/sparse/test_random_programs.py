"""Do drawn programs about sparse tensors compute what they compute in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.sparse.random_programs import run, run_compressed

PROGRAMS = 300


def test_ninety_five_of_a_hundred_programs_agree_with_pytorch(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    differing = []
    for seed in range(PROGRAMS):
        ours, theirs = run(glasstorch, seed), run(torch, seed)
        alike = ours.facts == theirs.facts and ours.error == theirs.error
        if not (alike and ours.elements == pytest.approx(theirs.elements, abs=1e-9, nan_ok=True)):
            differing.append(seed)
    assert len(differing) <= PROGRAMS // 20, differing


def test_ninety_five_of_a_hundred_programs_of_compressed_layouts_agree_with_pytorch(
    require: Callable[[str], Any],
) -> None:
    torch = require("torch")
    differing, answered = [], 0
    for seed in range(PROGRAMS):
        ours, theirs = run(glasstorch, seed, run_compressed), run(torch, seed, run_compressed)
        answered += not theirs.error
        alike = ours.facts == theirs.facts and ours.error == theirs.error
        if not (alike and ours.elements == pytest.approx(theirs.elements, abs=1e-9, nan_ok=True)):
            differing.append(seed)
    assert answered >= PROGRAMS // 4
    assert len(differing) <= PROGRAMS // 20, differing
