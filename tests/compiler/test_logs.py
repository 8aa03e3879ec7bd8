"""Is what a compilation does printed where it is asked for, and nothing else?"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import glasstorch
from glasstorch.compiler.logs import ARTIFACTS


@pytest.fixture(autouse=True)
def _quiet_again() -> Any:
    yield
    glasstorch._logging.set_logs()


def f(x: Any) -> Any:
    y = x + 1
    print(end="")
    return y * 2


def told(capsys: pytest.CaptureFixture[str], **chosen: bool) -> list[str]:
    glasstorch._logging.set_logs(**chosen)
    run = glasstorch.compile(f, backend="eager", dynamic=False)
    for n in (2, 3):
        run(glasstorch.ones(n))
    return capsys.readouterr().err.splitlines()


def test_nothing_is_printed_unless_it_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys) == []
    assert told(capsys, graph_breaks=False) == []


def test_graph_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, graph_breaks=True)
    assert lines[0].startswith("[graph_breaks] a call of the builtin print")
    place = f"{__file__}:{f.__code__.co_firstlineno + 2} in f"
    assert lines[1] == f"[graph_breaks]   at {place}; the graph ends there"


def test_recompiles_and_guards(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, recompiles=True, guards=True)
    assert any("Recompiling function f in " in line for line in lines)
    assert any("- 0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3" in line for line in lines)
    assert any(line.startswith("[guards]   TENSOR_MATCH: ") for line in lines)


def test_code_of_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, graph_code=True)
    assert any(line.startswith("[graph_code] def forward(self, L_x_") for line in lines)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="Unrecognized log artifact name 'nothing'; there are graph_breaks, "):
        glasstorch._logging.set_logs(nothing=True)


def test_the_environment_chooses() -> None:
    program = (
        "import glasstorch as t\n"
        "t.compile(lambda x: (x + 1, print(end='')), backend='eager')(t.ones(1))\n"
    )  # fmt: skip

    def run(chosen: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"GLASSTORCH_LOGS": chosen}
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )

    done = run("graph_breaks")
    assert done.returncode == 0
    assert done.stderr.startswith("[graph_breaks] a call of the builtin print")
    assert f"'nothing' is none of {', '.join(ARTIFACTS)}" in run("nothing").stderr
