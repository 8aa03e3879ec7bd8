"""Does a section show the newest results of its benchmark?"""

from __future__ import annotations

import json

import pytest

from tests.book.small_book import ROOT
from workbook.book.benchmark_results import benchmark_results
from workbook.book.errors import BookError


def test_the_newest_results_of_a_kind_are_read() -> None:
    newest = max((ROOT / "benchmarks" / "results").glob("*-cpu.json"))
    results = benchmark_results("cpu")
    assert results.where == json.loads(newest.read_text(encoding="utf-8"))["where"]
    assert results.seconds["`a + b`, 8 floats"].keys() == {"numpy", "torch", "glasstorch"}


def test_facts_stand_beside_the_rows() -> None:
    assert "first call, NumPy in blocks, seconds" in benchmark_results("fusion").facts


def test_a_kind_without_results_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BookError, match=r"kind 'clocks'\n  accepted: .*cpu.*fusion"):
        benchmark_results("clocks")
