"""Does the simulator's benchmark measure what it says?"""

from __future__ import annotations

import pytest

from benchmarks import simulator
from glasstorch.kernels.cuda import runtime


def test_it_prints_a_figure_and_a_limit_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert simulator.main(elements=1000, launches=10) == 0
    finally:
        runtime.use_driver(None)
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == [
        "compile the largest kernel, fast",
        "compile the largest kernel, checked",
        "load a compiled module",
        "launch and synchronise, fast",
        "add float32, fast",
        "sum float32, fast",
        "launch and synchronise, checked",
        "add float32, checked",
        "sum float32, checked",
    ]
    assert [row[2] for row in rows[:4]] == ["1 s", "1 s", "5 ms", "50 us"]
    assert all(float(row[1].split()[0]) >= 0 for row in rows)
