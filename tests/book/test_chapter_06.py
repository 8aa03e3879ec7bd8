"""Is what chapter 06 says of speed what the newest measurement says?"""

from __future__ import annotations

import json

import pytest

from tests.book.small_book import ROOT

SECTION = (ROOT / "chapters" / "06-jit" / "fusion-measured.md").read_text(encoding="utf-8")
EIGHT = "eight operators on 1e6 floats"


def seconds(of: str) -> dict[str, dict[str, float]]:
    """The seconds of every row of the newest measurement."""
    newest = max((ROOT / "benchmarks" / "results").glob(f"*-{of}.json"))
    return {row["name"]: row["seconds"] for row in json.loads(newest.read_text(encoding="utf-8"))["rows"]}


def share(name: str, of: str = "torch") -> float:
    """Our time as a part of another's."""
    taken = seconds("fusion")[name]
    return taken["glasstorch"] / taken[of]


def test_cpp_needs_less_than_half_of_the_time_and_numpy_more() -> None:
    assert "The one in C++ less than half, the one in NumPy more than half." in SECTION
    assert 1 / 7 < share(f"{EIGHT}, fused by C++") < 1 / 2  # "Neither comes down to a seventh"
    assert 1 / 2 < share(f"{EIGHT}, fused by NumPy in blocks") < 1


def test_little_is_left_to_win_for_numpy() -> None:
    assert "there is little left to win" in SECTION
    assert share(f"{EIGHT}, fused by NumPy in blocks", of="numpy") == pytest.approx(1, abs=0.2)


def test_eight_floats_are_slower() -> None:
    assert "For eight floats it is slower." in SECTION
    assert share("eight operators on 8 floats, fused") > 1


def test_an_addition_takes_all_of_them_about_the_same_time() -> None:
    assert "About the same for all three" in SECTION
    taken = seconds("cpu")["`a + b`, 1,000,000 floats"].values()
    assert max(taken) / min(taken) < 1.3
