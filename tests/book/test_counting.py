"""Do the helpers that count for a cell count each operator once, and memory only while it is in use?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.core.allocator import LARGE, cpu_allocator
from workbook.book.counting import counted_calls, numbers_saved, peak_memory, watched_results


def test_operators_of_both_passes_are_counted_by_name_and_overload() -> None:
    w = torch.ones(3, requires_grad=True)
    with counted_calls() as calls:
        (w * w).sum().backward()
    assert calls["mul.Tensor"] == 3, "one forward, two in the formula"
    assert calls["sum.default"] == 1
    assert calls.total() == sum(calls.values())
    w * w
    assert calls["mul.Tensor"] == 3, "after the block nothing is counted"


def test_a_result_counts_while_something_holds_it() -> None:
    x = torch.zeros(100)
    with watched_results(x) as results:
        held = x.exp()
        x.sin()
        assert results.alive == 400
        assert results.most == 800, "both were alive when sin returned"
        view = held[:50]
        assert results.alive == 400, "a view has no memory of its own"
        assert x.add_(1) is x
        assert results.alive == 400, "x was there before"
    assert results.calls == Counter({"exp.default": 1, "sin.default": 1, "slice.Tensor": 1, "add_.Tensor": 1})
    del held, view
    assert results.alive == 0
    assert results.curve == [400, 800, 400, 400]
    assert results.made == 800, "by exp and by sin"


def test_the_results_of_an_operator_on_lists_count() -> None:
    with watched_results() as results:
        roots = torch._foreach_sqrt([torch.ones(10), torch.ones(20)])
    assert results.made == 4 * (10 + 20) * 2, "the arguments were made in the block, too"
    assert len(roots) == 2


def test_every_result_of_an_operator_with_several_counts() -> None:
    with watched_results() as results:
        values, places = torch.zeros(10).max(0, keepdim=True)
    assert results.most == 40 + values.nbytes + places.nbytes


def test_a_block_without_operators_has_no_peak() -> None:
    with watched_results() as results:
        pass
    assert results.most == 0


def test_a_graph_keeps_what_its_nodes_have_saved() -> None:
    h = torch.ones(1000, requires_grad=True)
    assert numbers_saved(h.sigmoid()) == 1000, "the result"
    y = h.exp()
    assert numbers_saved(y * y) == 1000, "the result of exp is the factor, too"
    assert numbers_saved((h + h).exp().sin()) == 1000, "exp saves its result, which is the argument of sin"
    assert numbers_saved(h + h) == 0


def test_a_custom_function_keeps_what_it_saves() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    assert numbers_saved(Twice.apply(torch.ones(7, requires_grad=True))) == 7


def test_the_peak_is_what_a_call_adds() -> None:
    x = torch.zeros(LARGE // 4)
    assert peak_memory(lambda: (x.exp() * 2).sum()) == 2 * x.nbytes, "the product needs its operand"
    assert peak_memory(lambda x: x.add_(1), x) == 0, "nothing of the size of x is made"


def test_the_allocator_is_put_back_when_the_call_fails() -> None:
    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        peak_memory(fails)
    assert "allocate" not in vars(cpu_allocator)
