"""Is a result written over what nobody needs any more, and only then?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.compiler.loops import backend
from tests.compiler.loops.test_backend import check, without_compiler

F = torch.nn.functional
IN_ITS_PLACE = "in its place"
torch.manual_seed(0)
X, Y = torch.randn(6, 6), torch.randn(6, 6)

OVER: dict[str, Callable[[Any, Any], Any]] = {
    "an activation": lambda x, y: F.gelu(torch.mm(x, y)),
    "a bias and what was there": lambda x, y: F.relu(torch.mm(x, y) + y[0]) + x,
    "rows": lambda x, y: torch.softmax(torch.mm(x, y), 1),
    "a row's mean": lambda x, y: (z := torch.mm(x, y)) - z.mean(1, keepdim=True),
    "twice": lambda x, y: torch.mm(F.relu(torch.mm(x, y)), y).abs(),
}
ELSEWHERE: dict[str, Callable[[Any, Any], Any]] = {
    "an input": lambda x, y: x + 1,
    "it is a result": lambda x, y: ((z := torch.mm(x, y)), z + 1),
    "a view of it is a result": lambda x, y: ((z := torch.mm(x, y)).t(), z + 1),
    "it is read in other places": lambda x, y: (z := torch.mm(x, y)) + z.t(),
    "it is read later": lambda x, y: torch.mm((z := torch.mm(x, y)) + 1, z) @ z,
    "another dtype": lambda x, y: torch.mm(x, y).double() + 1,
    "another layout": lambda x, y: (torch.mm(x, y)[:, :3] + 1).contiguous(),
    "sines run once more": lambda x, y: torch.mm(x, y).sin(),
    "a mean of columns": lambda x, y: (z := torch.mm(x, y)) - z.mean(0, keepdim=True),
}


@pytest.mark.parametrize("language", ["cpp", "numpy"])
def test_a_result_is_written_over_what_was_read(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if language == "numpy":
        monkeypatch.setattr(backend, "compiled", without_compiler)
        monkeypatch.setattr(backend, "tell_once", lambda why: None)
    for name, program in OVER.items():
        assert IN_ITS_PLACE in check(program, X, Y).source_code, name


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_needed_stays(name: str) -> None:
    assert IN_ITS_PLACE not in check(ELSEWHERE[name], X, Y).source_code


def test_the_bytes_are_told() -> None:
    assert "in its place: 144 bytes less" in check(OVER["an activation"], X, Y).source_code
