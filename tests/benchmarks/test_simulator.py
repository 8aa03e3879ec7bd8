"""Does the simulator's benchmark measure what it says?"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from benchmarks import simulator
from glasstorch.devices import modules, runtime
from glasstorch.devices.simulator.module import SimModule


def test_it_prints_a_figure_and_a_limit_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert simulator.main(elements=1000, launches=10) == 0
    finally:
        runtime.use_driver(None)
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == [
        "compile the largest kernel, fast",
        "compile the largest kernel, checked",
        "load the largest kernel, median of 9",
        "launch and synchronise, fast",
        "add float32, fast",
        "sum float32, fast",
        "launch and synchronise, checked",
        "add float32, checked",
        "sum float32, checked",
    ]
    assert [row[2] for row in rows[:4]] == ["1 s", "1 s", "5 ms", "50 us"]
    assert all(float(row[1].split()[0]) >= 0 for row in rows)


def test_a_load_that_is_timed_opens_a_library_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file, expression = simulator.LIBRARY
    made = [SimModule(modules.source(file), file, [expression])]

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"ran {arguments}")

    def module(*arguments: Any) -> SimModule:
        made.append(SimModule(*arguments))
        return made[-1]

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(simulator, "SimModule", module)
    assert simulator.load_seconds() > 0
    first, again, timed = (each._library._handle for each in made)
    assert again == first
    assert timed != first
