"""Are operators left out that undo each other, and only those?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo.utils import counters
from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.compiler.patterns.passes import after_autograd
from glasstorch.fx.experimental.proxy_tensor import make_fx

F = torch.nn.functional
X, Y = torch.arange(24.0).view(4, 6) - 11, torch.linspace(-2, 2, 36).view(6, 6)

# program, the operators of its graph that are gone afterwards, and one that is there then
FOUND: dict[str, tuple[Callable[..., Any], str, str]] = {
    "a cast there and back": (lambda x, y: x.double().float() * 2, "_to_copy", "mul"),
    "a narrow cast there and back": (lambda x, y: (x > 0).float().bool().logical_not(), "_to_copy", "logical_not"),
    "transposed twice": (lambda x, y: x.t().t().exp(), "t.default", "exp"),
    "swapped twice": (lambda x, y: x.transpose(0, 1).transpose(-1, 0).exp(), "transpose", "exp"),
    "permuted twice": (lambda x, y: x.view(2, 2, 6).permute(2, 0, 1).permute(1, 2, 0).exp(), "permute", "exp"),
    "times 1": (lambda x, y: (x * 1).exp() / 1 - 0.0 + y[0], "mul", "exp"),
    "a product and a sum": (lambda x, y: torch.mm(x, y) + y[0], "add.Tensor", "addmm"),
    "a sum and a product": (lambda x, y: x + torch.mm(x, y), "add.Tensor", "addmm"),
    "a bias that a loop adds": (lambda x, y: torch.addmm(y[0], x, y).exp(), "addmm", "mm.default"),
    "halves put together": (lambda x, y: torch.cat([x[:, :2], x[:, 2:]], 1).exp(), "cat", "clone"),
    "a split put together": (lambda x, y: torch.cat(x.split(2, 1)[:2], -1), "cat", "slice"),
}

LEFT: dict[str, Callable[..., Any]] = {
    "a cast that rounds": lambda x, y: x.half().float() * 2,
    "a cast to another dtype": lambda x, y: x.double().half() + 1,
    "a result of its own": lambda x, y: x.double().float(),
    "other dimensions": lambda x, y: x.view(2, 2, 6).transpose(0, 1).transpose(1, 2).exp(),
    "another order": lambda x, y: x.view(2, 2, 6).permute(2, 0, 1).permute(2, 0, 1).exp(),
    "plus 0, which -0.0 is not": lambda x, y: (x * -0.0 + 0).exp(),
    "times 1 in another dtype": lambda x, y: (x.int() * 1.0).exp(),
    "a sum that a loop makes": lambda x, y: (torch.mm(x, y) + y[0]).exp(),
    "a bias that no loop adds": lambda x, y: torch.addmm(y[0], x, y) @ y,
    "a bias in half precision": lambda x, y: torch.addmm(y[0].half(), x.half(), y.half()).exp(),
    "half of a bias": lambda x, y: torch.addmm(y[0], x, y, beta=0.5).exp(),
    "a convolution without a bias": lambda x, y: F.conv1d(x[None], y[:2, :4, None]).exp(),
    "a product that is needed": lambda x, y: ((z := torch.mm(x, y)) + y[0], z),
    "twice the sum": lambda x, y: torch.add(torch.mm(x, y), y[0], alpha=2),
    "a gap": lambda x, y: torch.cat([x[:, :2], x[:, 3:]], 1),
    "in another order": lambda x, y: torch.cat([x[:, 2:], x[:, :2]], 1),
    "of two tensors": lambda x, y: torch.cat([x[:, :2], y[:4, 2:]], 1),
    "along another dimension": lambda x, y: torch.cat([x[:, :3], x[:, 3:]], 0),
}


@pytest.mark.parametrize("name", FOUND)
def test_pattern_is_found(name: str) -> None:
    program, gone, there = FOUND[name]
    module = make_fx(program, tracing_mode="fake")(X, Y)
    counters.clear()
    found = after_autograd(module)
    assert gone in module.code
    assert gone not in found.code
    assert there in found.code
    assert counters["inductor"]["pattern_matcher_count"] > 0
    torch.testing.assert_close(found(X, Y), program(X, Y))


@pytest.mark.parametrize("name", LEFT)
def test_what_only_looks_like_it_is_left(name: str) -> None:
    module = make_fx(LEFT[name], tracing_mode="fake")(X, Y)
    assert after_autograd(module) is module


def test_a_product_and_a_sum_are_counted_as_pytorch_counts_them() -> None:
    counters.clear()
    after_autograd(make_fx(lambda x, y: torch.mm(x, y) + y[0], tracing_mode="fake")(X, Y))
    assert counters["inductor"] == {"pattern_matcher_count": 1, "pattern_matcher_nodes": 2, "addmm": 1}


def test_the_bias_of_a_convolution_is_added_by_the_loop_that_reads_it() -> None:
    given = X[None], torch.randn(3, 4, 2), torch.randn(3)
    module = make_fx(lambda x, weight, bias: F.conv1d(x, weight, bias).relu(), tracing_mode="fake")(*given)
    found = after_autograd(module)
    assert "None, [1], [0], [1]" in found.code
    torch.testing.assert_close(found(*given), module(*given))


def test_gradients_are_those_of_the_program() -> None:
    def program(x: Any, y: Any) -> list[Any]:
        z = torch.mm(x.double().float().t().t(), y) + y[0]
        return [torch.cat([z[:, :2] * 1, z[:, 2:]], 1)]

    given = [one.clone().requires_grad_() for one in (X, Y)]
    weights = torch.randn(4, 6)
    wanted = torch.autograd.grad((program(*given)[0] * weights).sum(), given)
    found = torch.autograd.grad((compile_fx(program, given)(*given)[0] * weights).sum(), given)
    torch.testing.assert_close(found, wanted)
