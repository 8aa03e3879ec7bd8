"""Is it noticed that arguments share memory in one call, and not in another?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch as torch
from tests.compiler.alike import check

BACKENDS = ("eager", "aot_eager", "inductor")


def written(t: Any, compiled: Any) -> Any:
    f = compiled(lambda x, y: (x.add_(1), y * 2)[1])
    x, y = t.ones(3), t.ones(3)
    return [f(x, y), f(x, x), f(x, y), f(y, y), x, y]


def read(t: Any, compiled: Any) -> Any:
    f = compiled(lambda x, y, z: x + y + z)
    x, y, z = t.ones(3), t.ones(3), t.ones(3)
    return [f(x, y, z), f(x, x, y), f(x, y, x), f(y, x, x), f(x, x, x), f(z, y, x)]


def with_gradients(t: Any, compiled: Any) -> Any:
    f = compiled(lambda x, y: (x * y).sum())
    x, y = t.ones(3, requires_grad=True), t.full((3,), 2.0, requires_grad=True)
    f(x, y).backward()
    f(x, x).backward()
    return [x.grad, y.grad]


def parameters(t: Any, compiled: Any) -> Any:
    model = t.nn.Sequential(t.nn.Linear(2, 2, bias=False), t.nn.Linear(2, 2, bias=False))
    for parameter in model.parameters():
        t.nn.init.constant_(parameter, 0.5)
    f = compiled(model)
    found = [f(t.ones(2))]
    model[1].weight = model[0].weight
    found.append(f(t.ones(2)))
    found[1].sum().backward()
    return [*found, model[0].weight.grad]


def tensors_in_a_list(t: Any, compiled: Any) -> Any:
    state = [t.ones(2), t.ones(2)]

    def g(x: Any) -> Any:
        state[0].add_(x)
        return state[1] + state[0]

    f = compiled(g)
    found = [f(t.ones(2))]
    state[1] = state[0]
    return [*found, f(t.ones(2)), f(state[0])]


@pytest.mark.parametrize("program", [written, read, with_gradients, parameters, tensors_in_a_list])
def test_tensors_that_become_one(require: Any, program: Any) -> None:
    check(require("torch"), program)


@pytest.mark.parametrize("backend", BACKENDS)
def test_views_that_come_to_overlap(backend: str) -> None:
    """PyTorch's "aot_eager" gives another answer here than eager mode."""

    def g(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    f = torch.compile(g, backend=backend)
    for run in (f, f):
        for make in (_apart, _halves, _overlapping, _part, _same, _overlapping, _apart):
            ours, wanted = make(), make()
            assert torch.equal(run(*ours), g(*wanted))
            assert all(map(torch.equal, ours, wanted))


def _apart() -> list[Any]:
    return [torch.ones(3), torch.ones(3)]


def _halves() -> list[Any]:
    return list(torch.arange(6.0).chunk(2))


def _overlapping() -> list[Any]:
    whole = torch.arange(6.0)
    return [whole[:3], whole[2:5]]


def _part() -> list[Any]:
    whole = torch.ones(3)
    return [whole, whole[1:]]


def _same() -> list[Any]:
    return [torch.ones(3)] * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_through_views_that_come_to_overlap(backend: str) -> None:
    def g(x: Any, y: Any) -> Any:
        x.mul_(3)
        return (x * x + y).sum()

    f = torch.compile(g, backend=backend)
    found = []
    for run in (f, g):
        run(*(torch.ones(3, requires_grad=True) * 1 for _ in range(2))).backward()
        leaf = torch.arange(4.0, requires_grad=True)
        whole = leaf * 2
        run(whole[:3], whole[1:]).backward()
        found.append(leaf.grad)
    assert torch.equal(*found)


def test_which_tensors_became_one_is_said(require: Any) -> None:
    def told(t: Any) -> list[str]:
        f = t.compile(lambda x, y, z: x + y + z, backend="eager")
        x, y, z = t.ones(3), t.ones(3), t.ones(3)
        lines = []
        for first, second in (((x, y, z), (x, y, y)), ((x, y, y), (x, y, z))):
            t._dynamo.reset()
            f(*first)
            with pytest.raises(t._dynamo.exc.RecompileError) as found, t._dynamo.config.patch(error_on_recompile=True):
                f(*second)
            lines.append(str(found.value).splitlines()[2].partition("#")[0].rstrip())
        return lines

    assert told(torch) == told(require("torch"))


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
def test_an_argument_that_backward_needs_is_written_to(backend: str) -> None:
    """PyTorch's graphs keep the argument, and give another gradient or an error."""

    def g(x: Any, y: Any) -> Any:
        z = y.tanh() * x.t().exp()
        x.add_(1)
        y.detach().mul_(2)
        return z * 2

    found = []
    for run in (torch.compile(g, backend=backend), g):
        x, y = torch.arange(6.0).reshape(2, 3), torch.linspace(0, 1, 6).reshape(3, 2).requires_grad_()
        run(x, y).sum().backward()
        found += [x, y.grad]
    assert torch.equal(found[0], found[2])
    assert torch.allclose(found[1], found[3])
