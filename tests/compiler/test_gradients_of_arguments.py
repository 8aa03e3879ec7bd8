"""Does a compiled function read the gradients of its arguments, and the limits of dtypes, as PyTorch's does?"""

from __future__ import annotations

from typing import Any

import pytest

BACKENDS = ("eager", "aot_eager")


def doubled_or_added(torch: Any, tensors: list[Any]) -> Any:
    return [x * 2 if x.grad is None else x.grad + x for x in tensors]


def stepped(torch: Any, tensors: list[Any]) -> None:
    with torch.no_grad():
        for x in tensors:
            if x.grad is not None:
                x.add_(x.grad, alpha=-0.5)
                x.grad.zero_()


def clipped(torch: Any, tensors: list[Any]) -> Any:
    return torch.nn.utils.clip_grad_norm_(tensors, 1.0)


def limited(torch: Any, tensors: list[Any]) -> None:
    torch.nn.utils.clip_grad_value_(tensors, 0.5)


def joined(torch: Any, tensors: list[Any]) -> Any:
    return torch.nn.utils.parameters_to_vector(tensors) * 2


def of_a_result(torch: Any, tensors: list[Any]) -> Any:
    (x, *_) = tensors
    y = x.detach() * 2
    return y if y.grad is None else x


def limits(torch: Any, tensors: list[Any]) -> Any:
    info = torch.finfo(tensors[0].dtype)
    return tensors[0].clamp(max=info.eps) * torch.iinfo(torch.int16).max, info.bits


PROGRAMS = (doubled_or_added, stepped, clipped, limited, joined, of_a_result, limits)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_one_graph_does_what_the_program_does(torch: Any, program: Any, backend: str) -> None:
    torch.compiler.reset()
    outcomes = []
    for run in (program, torch.compile(program, backend=backend, fullgraph=True)):
        tensors = [torch.arange(3.0).add(n).requires_grad_() for n in range(2)]
        results = []
        for _ in range(3):
            (tensors[0] * 3 + tensors[1]).sum().backward()
            results.append(run(torch, tensors))
        outcomes.append((results, [x.grad for x in tensors], tensors))
    torch.testing.assert_close(outcomes[1], outcomes[0])


def test_a_gradient_that_comes_and_goes_chooses_its_graph(torch: Any) -> None:
    torch.compiler.reset()
    graphs = []

    def keep(module: Any, inputs: Any) -> Any:
        graphs.append([node.name for node in module.graph.nodes if node.op == "placeholder"])
        return module.forward

    run = torch.compile(doubled_or_added, backend=keep)
    x = torch.ones(2, requires_grad=True)
    found = []
    for gradient in (None, torch.ones(2), torch.ones(2) * 5, None):
        x.grad = gradient
        found.append(run(torch, [x])[0].tolist())
    assert found == [[2, 2], [2, 2], [6, 6], [2, 2]]
    assert len(graphs) == 2
    assert [len(names) for names in graphs] == [1, 2]
