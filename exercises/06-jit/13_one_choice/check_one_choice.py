"""Is the choice one graph, with the same results, gradients and side effects?"""

from collections.abc import Callable
from itertools import product
from typing import Any

import glasstorch as torch
from glasstorch._dynamo import explain
from workbook.exercises.asking import Ask, close, expect

SIZES_AND_DIMS = (((3,), 0), ((2, 3), 1), ((2, 3), -1), ((3, 2), 0), ((2, 3, 4), 1), ((2, 3, 4), -2))


def probabilities(sizes: tuple[int, ...], dim: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Probabilities along a dimension, which require a gradient."""
    count = torch.Size(sizes).numel()
    logits = (torch.arange(count, dtype=dtype) * 7 % 5 + torch.arange(count, dtype=dtype) / 100).view(sizes)
    return logits.softmax(dim).requires_grad_()


def chosen(soft: torch.Tensor, dim: int) -> torch.Tensor:
    """1 where the probabilities are largest; no two are equal."""
    return (soft == soft.amax(dim, keepdim=True)).to(soft.dtype)


def compiled(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[Any]]:
    """The compiled function, and a list to which its graphs are added."""
    graphs = []

    def keep(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module.forward

    return torch.compile(function, backend=keep), graphs


def test_results_and_gradients(ask: Ask) -> None:
    """results and gradients, as it is and compiled"""
    function = ask.get("harden")
    ways = product(("as it is", "compiled"), (torch.float32, torch.float64), SIZES_AND_DIMS)
    for way, dtype, (sizes, dim) in ways:
        soft = probabilities(sizes, dim, dtype)
        if way == "compiled":
            came = compiled(function)[0](soft, dim)
        else:
            came = ask("harden", soft, dim).value
        asked = f"for probabilities of the sizes {sizes} along {dim}, of the dtype {dtype}, {way}"
        expect(came.detach(), chosen(soft.detach(), dim), same=close, asked=f"the result {asked}")
        weights = torch.arange(soft.numel(), dtype=dtype).view(sizes)
        (gradient,) = torch.autograd.grad((came * weights).sum(), soft)
        because = "the gradient of the choice is that of the probabilities"
        expect(gradient, weights, same=close, asked=f"the gradient {asked}", because=because)


def test_one_hot_already(ask: Ask) -> None:
    """the result and the gradient for probabilities that are one-hot, or equal"""
    for row, accepted in (([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]), ([0.25, 0.375, 0.375], [0.0, 1.0, 0.0])):
        soft = torch.tensor(row, requires_grad=True)
        came = ask("harden", soft, 0).value
        because = "the first place of the largest probability is chosen"
        expect(came.detach(), torch.tensor(accepted), same=close, asked=f"the result for {row}", because=because)


def test_one_graph(ask: Ask) -> None:
    """the graphs of the compiled function"""
    function = ask.get("harden")
    ask("harden", probabilities((3,), 0), 0).value  # noqa: B018  # refuses where the function has raised an error
    for sizes, dim in SIZES_AND_DIMS:
        soft = probabilities(sizes, dim)
        explained = explain(function)(soft, dim)
        reasons = "; ".join(str(reason.reason) for reason in explained.break_reasons)
        run, graphs = compiled(function)
        run(soft, dim)
        because = f"the reasons: {reasons}" if reasons else "the choice is made in the graph"
        came, asked = (len(graphs), explained.graph_break_count), f"graphs and breaks for the sizes {sizes} along {dim}"
        expect(came, (1, 0), asked=asked, because=because)


def test_side_effects(ask: Ask) -> None:
    """the global `choices` and the probabilities after some calls"""
    run, _ = compiled(ask.get("harden"))
    before, soft = ask.get("choices"), probabilities((2, 3), 1).detach()
    kept = soft.tolist()
    ask("harden", soft, 1).value  # noqa: B018
    for _ in range(3):
        run(soft, 1)
    came = ask.get("choices") - before, soft.tolist()
    asked = "by how much `choices` has grown in one call and three compiled ones of two choices, and the probabilities"
    expect(came, (8, kept), asked=asked)
