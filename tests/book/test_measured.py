"""Does a cell show the times that a benchmark has kept, with the place and the day of the measurement?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbook.book import measured as module
from workbook.book.measured import Measured, measured


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book with two measurements of one kind and one of another."""
    folder = tmp_path / "benchmarks" / "results"
    folder.mkdir(parents=True)
    rows: list[dict[str, Any]] = [
        {"name": "sum, 8 floats", "seconds": {"numpy": 1.25e-6, "torch": 2.5e-6}},
        {"name": "sum, 1e6 floats", "seconds": {"numpy": 1e-3}},
        {"name": "sum, without times", "seconds": {}},
        {"name": "product", "seconds": {"torch": 1.0}},
    ]
    for day, facts in (("2026-11-20", {"old": 1.0}), ("2026-11-21", {"first call": 0.5})):
        kept = {"where": f"{day}, a machine", "rows": rows, "facts": facts}
        (folder / f"{day}-cpu.json").write_text(json.dumps(kept), encoding="utf-8")
    (folder / "2026-11-22-plain.json").write_text('{"where": "elsewhere", "rows": []}', encoding="utf-8")
    monkeypatch.setattr(module, "project_root", lambda: tmp_path)
    return folder


def test_the_last_measurement_of_a_kind_is_read(results: Path) -> None:
    found = measured("cpu")
    assert found.where == "2026-11-21, a machine"
    assert found.facts == {"first call": 0.5}
    assert found.seconds["sum, 8 floats"] == {"numpy": 1.25e-6, "torch": 2.5e-6}
    assert measured("plain") == Measured("elsewhere", {}, {})


def test_what_is_named_is_a_table_in_one_unit(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured("cpu").show("sum*", unit="us")
    assert capsys.readouterr().out == (
        "Measured on 2026-11-21, a machine\n\n"
        "                   numpy   torch\n"
        "sum, 8 floats    1.25 us  2.5 us\n"
        "sum, 1e6 floats  1000 us\n"
    )
    measured("cpu").show("product", unit="s")
    assert capsys.readouterr().out.endswith("\n\n         torch\nproduct    1 s\n")


def test_what_was_not_measured_is_refused(results: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"'gpu'\n  accepted: cpu, plain"):
        measured("gpu")
    with pytest.raises(KeyError, match="under the name 'sum'"):
        measured("cpu").show("product", "sum")
    with pytest.raises(ValueError, match="accepted: s, ms, us"):
        measured("cpu").show("sum", unit="minutes")
