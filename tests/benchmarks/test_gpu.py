"""Does the benchmark for a card run, and say of what it measured?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import gpu
from benchmarks.harness import Row
from glasstorch.devices import runtime

Output = pytest.CaptureFixture[str]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for results, while no driver is on before or after."""
    monkeypatch.setattr(gpu, "RESULTS", tmp_path / "results")
    runtime.use_driver(None)
    yield tmp_path / "results"
    runtime.use_driver(None)


def test_it_runs_on_the_simulated_device_and_keeps_nothing(results: Path, capsys: Output) -> None:
    assert gpu.main(["--simulator"]) == 0
    printed = capsys.readouterr().out
    assert all(f"| `{what}` |" in printed for what, _, _ in gpu.KERNELS)
    assert "launch() with a tensor" in printed
    assert "| 24 x 24, bfloat16 |" in printed
    assert "The device is simulated: these times are not those of a card, and are not kept." in printed
    assert not results.exists()


def test_where_there_is_no_card_it_says_so(results: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(gpu.glasstorch.cuda, "is_available", lambda: False)
    assert gpu.main([]) == 1
    assert "there is no card that CuPy can reach" in capsys.readouterr().err


def test_a_kernel_that_copies_as_fast_as_the_device_has_all_of_it() -> None:
    rows = [Row("x.clone()", {"glasstorch": 2.0}), Row("x.sum()", {"glasstorch": 2.0})]
    lines = gpu.shares(rows, ["glasstorch"], elements=10**9, most=4e9).splitlines()
    assert lines[2:] == ["| `x.clone()` | 4.0 | 100% |", "| `x.sum()` | 2.0 | 50% |"]


def test_a_product_of_n_by_n_takes_two_n_cubed_operations() -> None:
    lines = gpu.rates([Row("1000 x 1000, float32", {"torch": 1e-3})], ["torch"]).splitlines()
    assert lines[2:] == ["| 1000 x 1000, float32 | 2.00 |"]
