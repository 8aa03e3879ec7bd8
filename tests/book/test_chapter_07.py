"""Is what chapter 07 says of a convolution's cost what the table of costs says?"""

from __future__ import annotations

import pytest

from glasstorch.backends.cpu.convolution import choices
from glasstorch.dispatch.fast import PLAIN
from glasstorch.kernels.cpu.convolution import ways
from glasstorch.kernels.cpu.fast.convolution import costs
from tests.book.small_book import ROOT

SECTION = (ROOT / "chapters" / "07-nn-and-training" / "how-a-convolution-is-computed.md").read_text(encoding="utf-8")
WORDS = " ".join(SECTION.split())

pytestmark = pytest.mark.skipif(PLAIN, reason="plain kernels alone")


def cheapest(
    channels: int, made: int, kernel: int = 3, size: int = 64, batch: int = 1, stride: int = 1, product: str = "forward"
) -> str:
    """The way that is taken for square images with borders that keep their size, in steps of 1."""
    sizes = (batch, channels, size, size), (made, channels, kernel, kernel)
    return choices(*sizes, stride, kernel // 2, product=product)[0].way  # type: ignore[arg-type]


def test_three_convolutions_take_three_ways() -> None:
    assert "for these three it takes three different ones" in WORDS
    assert [cheapest(64, 64), cheapest(64, 3), cheapest(8, 8, 31)] == ["columns", "shifted", "transform"]


def test_steps_of_two_make_rows_cheaper() -> None:
    assert "Only in steps of 2, where columns have no runs to copy; in steps of 1 columns are cheaper." in WORDS
    assert [cheapest(256, 512, size=14, batch=4, stride=stride) for stride in (1, 2)] == ["columns", "rows"]


def test_a_gradient_of_the_input_takes_the_way_of_the_layer_with_the_channels_exchanged() -> None:
    assert "For the other layer the two ways change places." in WORDS
    assert [cheapest(64, 8, batch=4, product=product) for product in ("forward", "input")] == ["shifted", "columns"]
    assert [cheapest(8, 64, batch=4, product=product) for product in ("forward", "input")] == ["columns", "shifted"]


def test_transforms_are_taken_from_kernels_of_eleven_on() -> None:
    assert "11, by these estimates." in WORDS
    taken = {kernel: cheapest(1, 1, kernel, size=256) for kernel in (3, 7, 9, 11, 15, 31)}
    assert [kernel for kernel, way in taken.items() if way == "transform"] == [11, 15, 31]


def test_to_copy_is_cheaper_than_to_add() -> None:
    assert f"{costs.COPY} nanoseconds against {costs.ADD}" in WORDS
    assert costs.COPY < costs.ADD


def test_a_slip_in_one_constant_changes_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Only the way that is taken. The numbers are right" in WORDS
    assert cheapest(64, 32) == "columns"
    monkeypatch.setattr(costs, "ADD", costs.ADD / 10)
    ways.costs.cache_clear()
    try:
        assert cheapest(64, 32) == "shifted"
    finally:
        ways.costs.cache_clear()
