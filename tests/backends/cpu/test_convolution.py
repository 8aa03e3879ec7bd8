"""Can the choice among the ways to compute a convolution be asked for?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.backends.cpu.convolution import choices
from glasstorch.core.errors import ArgumentError, ShapeError

IMAGE, KERNEL = (4, 8, 20, 20), (8, 8, 3, 3)


@pytest.mark.parametrize("product", ["forward", "input", "weight"])
def test_choices_are_ranked_by_their_costs(product: str) -> None:
    found = choices(IMAGE, KERNEL, padding=1, product=product)  # type: ignore[arg-type]
    costs = [choice.microseconds for choice in found]
    assert costs == sorted(costs)
    assert min(costs) > 0
    assert "plain" in [choice.way for choice in found]


def test_a_larger_batch_costs_more() -> None:
    small, large = (choices((batch, *IMAGE[1:]), KERNEL)[0].microseconds for batch in (4, 64))
    assert large > 4 * small


def test_integers_are_computed_plainly() -> None:
    assert [choice.way for choice in choices(IMAGE, KERNEL, dtype=glasstorch.int64)] == ["plain"]


def test_half_precision_costs_what_float32_costs() -> None:
    assert choices(IMAGE, KERNEL, dtype=glasstorch.float16) == choices(IMAGE, KERNEL)


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="to have 8 channels, but got 3 channels"):
        choices((1, 3, 4, 4), KERNEL)


def test_an_unknown_product_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no product 'bias'; expected one of forward, input, weight"):
        choices(IMAGE, KERNEL, product="bias")  # type: ignore[arg-type]
