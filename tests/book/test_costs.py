"""Does the table of a gradient's cost count what runs, and only the memory that the graph keeps?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import glasstorch as torch
from workbook.book.costs import SUMS, cost_of, show_cost

KIB = 1024


def leaf(*shape: int) -> Any:
    return torch.ones(*shape, requires_grad=True)


def test_the_table_has_a_line_for_each_kind_of_node(capsys: pytest.CaptureFixture[str]) -> None:
    w = leaf(4)

    def program(w: Any) -> Any:
        return w.exp() * w.exp() + w

    show_cost(program, w)
    assert capsys.readouterr().out == (
        "What the gradient of program costs\n\n"
        "node                   nodes  bytes kept  the pass calls\n"
        "ExpBackward0               2          32  2 detach, 2 mul\n"
        "MulBackward0               1           0  2 mul\n"
        "AddBackward0               1           0\n"
        "(gradients that meet)                     2 add\n"
        "\n"
        "forward:   6 operators, 0 FLOPs\n"
        "backward:  8 operators, 0 FLOPs\n"
        "kept:      32 bytes besides arguments and leaves\n"
        "Counted by a mode: under one, saved results go through detach, and no gradient is added in place.\n"
    )
    assert w.grad is None, "no gradient of the reader's is changed"


def test_a_storage_counts_once_and_not_for_an_argument_or_a_leaf() -> None:
    x, w = torch.ones(256, 4), leaf(4, 8)
    assert cost_of(lambda x: x @ w, x).kept.total() == 0
    assert cost_of(lambda: x @ w).kept == Counter(MmBackward0=4 * KIB), "x is no argument here"
    y = leaf(256)
    views = cost_of(lambda y: (z := y.exp())[:128] * z[128:], y)
    assert views.kept == Counter(ExpBackward0=KIB), "both views show the result of exp"


def test_products_are_counted_in_floating_point_operations() -> None:
    cost = cost_of(lambda a, b: a @ b, leaf(3, 4), leaf(4, 5))
    assert cost.flops == (2 * 3 * 4 * 5, 2 * 2 * 3 * 4 * 5), "backward has a product for each factor"
    assert cost.backward["MmBackward0"]["mm"] == 2


def test_hooks_that_pack_decide_what_is_kept() -> None:
    def program(w: Any) -> Any:
        return w.exp().sin()

    w = leaf(256)
    assert cost_of(program, w).kept.total() == KIB
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.half(), lambda half: half.float()):
        assert cost_of(program, w).kept.total() == 2 * KIB // 2, "exp and sin have each a copy of half the size"
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: None, lambda nothing: w.exp()):
        assert cost_of(program, w).kept.total() == 0


def test_a_checkpoint_keeps_less_and_runs_the_forward_pass_again() -> None:
    w = leaf(256)

    def program(w: Any) -> Any:
        return w.exp().exp().exp()

    plain = cost_of(program, w)
    again = cost_of(lambda w: torch.utils.checkpoint.checkpoint(program, w, use_reentrant=False), w)
    assert (plain.kept.total(), again.kept.total()) == (3 * KIB, 0)
    assert plain.backward[SUMS] == Counter()
    assert sum(calls["exp"] for calls in again.backward.values()) == 3


def test_a_custom_function_keeps_what_it_saves() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x + 1)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0]

    cost = cost_of(Scaled.apply, leaf(256))
    assert cost.kept == Counter(ScaledBackward=KIB)
    assert cost.backward["ScaledBackward"] == Counter(mul=1)


def test_where_nothing_is_recorded_there_is_nothing_to_keep(capsys: pytest.CaptureFixture[str]) -> None:
    with torch.no_grad():
        show_cost(lambda w: w.exp(), leaf(4))
    out = capsys.readouterr().out
    assert "What the gradient of the program costs\n\nno node was recorded\n" in out
    assert "kept:      0 bytes" in out


def test_what_is_no_program_is_refused() -> None:
    number: Any = 1.0
    with pytest.raises(TypeError, match="the program returned float\n  accepted: a program that returns a tensor"):
        show_cost(lambda: number)
