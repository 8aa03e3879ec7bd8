"""Are equal parts of a backward graph found, and is one box drawn for all of them?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from workbook.book.figures import graph
from workbook.book.figures.folding import Run, cuts_of, folded, runs
from workbook.book.figures.graph import levels_below

torch: Any = glasstorch


def network(layers: int, *, residual: bool = False) -> Any:
    """The result of equal layers, each with a weight of its own."""
    x = torch.ones(2, 3)
    for _ in range(layers):
        weight = torch.ones(3, 3, requires_grad=True)
        x = x + (x @ weight).tanh() if residual else (x @ weight).tanh()
    return x.sum()


@pytest.mark.parametrize(
    ("marks", "found"),
    [
        ("abcd", []),
        ("aa", []),
        ("aaa", [Run(0, 1, 3)]),
        ("xababab", [Run(1, 2, 3)]),
        ("aaabbbb", [Run(0, 1, 3), Run(3, 1, 4)]),
        ("abcabcabcab", [Run(0, 3, 3)]),
        ("aabaabaab", [Run(0, 3, 3)]),
    ],
)
def test_the_longest_repeat_from_each_part_on_is_found(marks: str, found: list[Run]) -> None:
    assert runs(marks) == found


@pytest.mark.parametrize("residual", [False, True])
def test_layers_are_folded(residual: bool) -> None:
    levels = levels_below(network(12, residual=residual).grad_fn)
    (fold,) = folded(levels).values()
    per_layer = 3 if residual else 2
    assert fold.times >= 9
    assert fold.size == fold.times * per_layer
    ((after, _),) = fold.next_functions
    assert after in levels


def test_between_two_ways_there_is_no_cut() -> None:
    w = torch.ones(1, requires_grad=True)
    hidden = w.exp()
    end = (hidden.sin() + hidden.cos()).tan()
    names = [node.name() for node in cuts_of(list(levels_below(end.grad_fn)))]
    assert names == ["TanBackward0", "AddBackward0", "ExpBackward0"]


def test_a_leaf_that_all_layers_share_does_not_hide_the_cuts() -> None:
    weight, x = torch.ones(3, 3, requires_grad=True), torch.ones(2, 3)
    for _ in range(10):
        x = (x @ weight).tanh()
    assert len(folded(levels_below(x.grad_fn))) == 1


def test_ten_thousand_nodes_fit_into_two_hundred_boxes() -> None:
    loss = network(3400, residual=True)
    whole = levels_below(loss.grad_fn)
    assert len(whole) > 10_000
    figure = graph.draw(loss, {})
    boxes = figure.svg().count("<rect")
    assert 5 < boxes <= 200
    assert "times more" in figure.description
