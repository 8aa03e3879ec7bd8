"""Is attention found however it is written, does it stay what it was, and is what only looks like it left alone?"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo.utils import counters
from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.compiler.patterns.passes import before_autograd
from glasstorch.fx.graph_module import GraphModule

F = torch.nn.functional
N = 8
pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")
Program = Callable[..., Any]

torch.manual_seed(0)
SHOWN = torch.rand(2, 1, N, N) > 0.3
SHOWN[..., 0] = True
BIAS = torch.randn(N, N)


def scores(q: Any, k: Any) -> Any:
    return q @ k.transpose(-2, -1) * 0.5


def causal(q: Any, k: Any, v: Any) -> Any:
    hidden = torch.tril(torch.ones(N, N)) == 0
    return F.dropout(torch.softmax(scores(q, k).masked_fill(hidden, -math.inf), dim=-1), 0.0) @ v


def bert(q: Any, k: Any, v: Any) -> Any:
    weights = F.softmax((q.permute(0, 2, 1, 3) @ k.permute(0, 2, 3, 1) / 2.0).type_as(q), -1)
    return torch.matmul(F.dropout(weights, 0.1, False), v.permute(0, 2, 1, 3))


def einsum(q: Any, k: Any, v: Any) -> Any:
    weights = F.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * 0.5, 3)
    return torch.einsum("bhij,bhjd->bhid", weights, v)


FOUND: dict[str, Program] = {
    "plain": lambda q, k, v: (q @ k.mT).softmax(-1) @ v,
    "quotient": lambda q, k, v: torch.matmul(torch.matmul(q, k.transpose(2, 3)).div(2.0).softmax(3), v),
    "scaled query": lambda q, k, v: ((q * 0.5) @ k.mT).softmax(-1) @ v,
    "causal": causal,
    "added": lambda q, k, v: F.softmax(scores(q, k) + BIAS, -1) @ v,
    "added to": lambda q, k, v: F.softmax(BIAS + scores(q, k), -1) @ v,
    "filled": lambda q, k, v: F.softmax(scores(q, k).masked_fill(~SHOWN, -math.inf), 3) @ v,
    "where": lambda q, k, v: F.softmax(torch.where(SHOWN, scores(q, k), -math.inf), 3) @ v,
    "dropout": lambda q, k, v: F.dropout(F.softmax(scores(q, k), 3), 0.5) @ v,
    "bert": bert,
    "einsum": einsum,
    "batches of one head": lambda q, k, v: torch.bmm(torch.bmm(q[0], k[0].mT).softmax(2), v[0]),
    "masked batches": lambda q, k, v: torch.bmm((scores(q[0], k[0]) + BIAS).softmax(2), v[0]),
}

LEFT: dict[str, Program] = {
    "over the queries": lambda q, k, v: scores(q, k).softmax(-2) @ v,
    "weights are a result": lambda q, k, v: ((w := scores(q, k).softmax(-1)) @ v).sum(-1, keepdim=True) + w,
    "a finite fill": lambda q, k, v: scores(q, k).masked_fill(~SHOWN, -1e9).softmax(-1) @ v,
    "a scale that is a tensor": lambda q, k, v: ((q @ k.mT) * BIAS[0, 0]).softmax(-1) @ v,
    "a value of another batch size": lambda q, k, v: scores(q, k).softmax(-1) @ v[:1],
    "added twice": lambda q, k, v: torch.add(scores(q, k), BIAS, alpha=2).softmax(-1) @ v,
    "a mask of another dtype": lambda q, k, v: (scores(q, k) + BIAS.double()).softmax(-1).float() @ v,
    "written to in between": lambda q, k, v: (s := scores(q, k), q.mul_(2), s.softmax(-1) @ v)[2],
    "an einsum of columns": lambda q, k, v: torch.einsum("bhij,bhid->bhjd", scores(q, k).softmax(-1), v),
}


def compiled(program: Program, given: list[Any]) -> tuple[Program, GraphModule]:
    """A compiled program, and its graph as the backend got it."""
    found: list[GraphModule] = []

    def keep(module: GraphModule, examples: Any) -> Program:
        found.append(module)
        return compile_fx(module, examples)

    run = torch.compile(lambda *values: program(*values), backend=keep, fullgraph=True)
    run(*given)
    return run, found[0]


def inputs() -> list[Any]:
    torch.manual_seed(1)
    return [torch.randn(2, 3, N, N, requires_grad=True) for _ in range(3)]


@pytest.mark.parametrize("name", FOUND)
def test_attention_is_found_and_gives_the_same(name: str) -> None:
    given = inputs()
    program = FOUND[name]
    run, module = compiled(program, given)
    counters.clear()
    assert "scaled_dot_product_attention" in before_autograd(module).code
    assert counters["inductor"]["fuse_attention"] == counters["inductor"]["pattern_matcher_count"] == 1
    assert "scaled_dot_product_attention" not in module.code
    torch.manual_seed(2)
    wanted = program(*given)
    torch.manual_seed(2)
    found = run(*given)
    gradient = torch.randn(*wanted.shape)
    torch.testing.assert_close(found, wanted)
    of_found, of_wanted = (torch.autograd.grad(one, given, gradient) for one in (found, wanted))
    torch.testing.assert_close(of_found, of_wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LEFT)
def test_what_only_looks_like_attention_is_left(name: str) -> None:
    _, module = compiled(LEFT[name], [one.detach() for one in inputs()])
    assert before_autograd(module) is module


def test_rows_of_which_a_mask_hides_everything_stay_nan() -> None:
    shown = SHOWN.clone()
    shown[1, 0, 3] = False
    programs: list[Program] = [
        lambda q, k, v, m: torch.where(m, scores(q, k), -math.inf).softmax(-1) @ v,
        lambda q, k, v, m: scores(q, k).masked_fill(m.logical_not(), -math.inf).softmax(-1) @ v,
        lambda q, k, v, m: (scores(q, k) + torch.zeros(2, 1, N, N).masked_fill(~m, -math.inf)).softmax(-1) @ v,
    ]
    given = [one.detach() for one in inputs()]
    for program in programs:
        run, module = compiled(program, [*given, shown])
        assert "scaled_dot_product_attention" in before_autograd(module).code
        found, wanted = run(*given, shown), program(*given, shown)
        assert wanted.isnan().sum() == 3 * N
        torch.testing.assert_close(found, wanted, equal_nan=True)


def test_a_mask_that_is_known_to_be_causal_is_not_kept() -> None:
    assert "is_causal = True" in before_autograd(compiled(causal, inputs())[1]).code


def test_what_was_replaced_and_what_was_not_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    modules = [compiled(program, inputs())[1] for program in (FOUND["plain"], LEFT["a value of another batch size"])]
    torch._logging.set_logs(patterns=True)
    try:
        for module in modules:
            before_autograd(module)
    finally:
        torch._logging.set_logs()
    first, second = capsys.readouterr().err.splitlines()
    assert first == "[patterns] attention: matmul, softmax, matmul_1 became scaled_dot_product_attention"
    assert second.endswith("are left: query, key and value have other batch sizes")
