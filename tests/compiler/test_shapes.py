"""Is one graph right for many sizes, and is a new one made only where it is not?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from glasstorch import _dynamo

Require = Callable[[str], Any]
Program = Callable[..., Any]


def batch(torch: Any, rows: int) -> tuple[Any]:
    return (torch.arange(float(rows * 4)).reshape(rows, 4) / 10 - 1,)


def two(torch: Any, rows: int) -> tuple[Any, Any]:
    return *batch(torch, rows), *batch(torch, rows + 2)


def with_number(torch: Any, number: int) -> tuple[Any, int]:
    return *batch(torch, 12), number


def in_a_loop(x: Any) -> Any:
    total = x
    for _ in range(3):
        total = total * 2 + x.size(0)
    return total.mean(0)


def branching(x: Any) -> Any:
    return x * 2 if x.shape[0] > 4 else x * 3


# A function of the library, its arguments for a number, and the numbers.
PROGRAMS: dict[str, tuple[Callable[[Any], Program], Callable[[Any, int], tuple[Any, ...]], tuple[int, ...]]] = {
    "sum": (lambda t: lambda x: x.sum() + x.shape[0], batch, (3, 5, 7, 9, 2, 1)),
    "view": (lambda t: lambda x: x.view(x.shape[0] * 2, -1) * x.shape[0], batch, (3, 5, 7, 9)),
    "size": (lambda t: lambda x: (x * 2, x.shape[0] * 2, x.shape), batch, (3, 5, 7, 9)),
    "branch": (lambda t: branching, batch, (3, 5, 7, 9, 4, 2)),
    "cat": (lambda t: lambda x, y: t.cat([x, y]) + 1, two, (3, 5, 7, 9)),
    "slice": (lambda t: lambda x: x.reshape(-1)[: x.shape[0]], batch, (3, 5, 7, 9)),
    "unrolled": (lambda t: lambda x: [x + i for i in range(x.shape[0])][-1], batch, (3, 5, 7)),
    "int": (lambda t: lambda x, n: x * n + n // 2, with_number, (3, 5, 7, 9)),
    "int as a size": (lambda t: lambda x, n: x.view(n, -1), with_number, (3, 4, 6, 2)),
    "loop": (lambda t: in_a_loop, batch, (3, 5, 7, 9)),
    "attention": (
        lambda t: lambda x: t.softmax(x.view(x.shape[0], 2, 2).transpose(1, 2) / x.shape[0] ** 0.5, -1),
        batch,
        (3, 5, 7, 9),
    ),
    "new": (lambda t: lambda x: x.new_zeros(x.shape[0], x.shape[1] + 1), batch, (3, 5, 7)),
    "range": (lambda t: lambda x: t.arange(x.shape[0]), batch, (3, 5, 7)),
    "negative": (lambda t: lambda x: x * -x.shape[0], batch, (3, 5, 7)),
    "transposed": (lambda t: lambda x: x.t().contiguous().view(-1).sum(), batch, (3, 5, 7)),
}


def plain(torch: Any, found: Any) -> list[Any]:
    """Results as Python's own objects."""
    leaves = import_module(f"{torch.__name__}.utils._pytree").tree_leaves(found)
    return [leaf.tolist() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]


def graphs(torch: Any, name: str, **options: Any) -> tuple[int, list[Any]]:
    """How many graphs are made, and what the function gives for each number."""
    make, arguments, numbers = PROGRAMS[name]
    seen: list[Any] = []

    def backend(module: Any, examples: list[Any]) -> Any:
        seen.append([str(e) if not isinstance(e, torch.Tensor) else tuple(e.shape) for e in examples])
        return module.forward

    import_module(f"{torch.__name__}._dynamo").reset()
    run, results = torch.compile(make(torch), backend=backend, **options), []
    for number in numbers:
        found = run(*arguments(torch, number))
        results.append(plain(torch, found))
    return len(seen), results


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_many_graphs_are_made_as_in_pytorch(require: Require, name: str) -> None:
    torch = require("torch")
    ours, results = graphs(glasstorch, name)
    theirs, _ = graphs(torch, name)
    assert ours == theirs
    make, arguments, numbers = PROGRAMS[name]
    for number, found in zip(numbers, results, strict=True):
        expected = make(glasstorch)(*arguments(glasstorch, number))
        assert found == plain(glasstorch, expected)


@pytest.mark.parametrize("dynamic", [True, False, None])
def test_dynamic_says_what_is_a_symbol(require: Require, dynamic: bool | None) -> None:
    ours, theirs = (graphs(torch, "view", dynamic=dynamic)[0] for torch in (glasstorch, require("torch")))
    assert ours == theirs


def test_marks_say_what_is_a_symbol_and_what_is_not() -> None:
    made: list[Any] = []
    run = glasstorch.compile(lambda x: x * 2, backend=lambda module, inputs: made.append(module) or module.forward)
    for rows in (3, 5, 7):
        (x,) = batch(glasstorch, rows)
        _dynamo.mark_dynamic(x, 0)
        run(x)
    assert len(made) == 1
    (x,) = batch(glasstorch, 9)
    _dynamo.mark_static(x)
    _dynamo.reset()
    for rows in (3, 5, 7):
        (x,) = batch(glasstorch, rows)
        _dynamo.mark_static(x, 0)
        run(x)
    assert len(made) == 4


def test_a_mark_that_the_program_breaks_is_an_error() -> None:
    (x,) = batch(glasstorch, 3)
    _dynamo.mark_dynamic(x, 0)
    with pytest.raises(RuntimeError, match="your code specialized it to be a constant"):
        glasstorch.compile(lambda x: x * 2 if x.shape[0] == 3 else x, backend="eager")(x)
    (x,) = batch(glasstorch, 3)
    _dynamo.maybe_mark_dynamic(x, 0)
    glasstorch.compile(lambda x: x * 2 if x.shape[0] == 3 else x, backend="eager")(x)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_batches_of_all_sizes_train_with_two_captures(backend: str) -> None:
    glasstorch.manual_seed(0)
    model = glasstorch.nn.Sequential(glasstorch.nn.Linear(4, 8), glasstorch.nn.ReLU(), glasstorch.nn.Linear(8, 2))
    _dynamo.reset()
    loss = lambda x: model(x).square().mean() * x.shape[0]  # noqa: E731
    run = glasstorch.compile(loss, backend=backend)
    for rows in (3, 5, 8, 2, 6, 5):
        (x,) = batch(glasstorch, rows)
        gradients = []
        for function in (run, loss):
            model.zero_grad()
            function(x).backward()
            gradients.append([p.grad.clone() for p in model.parameters()])
        assert all(glasstorch.allclose(a, b, atol=1e-5) for a, b in zip(*gradients, strict=True)), rows
    assert len(run._optimized.entries) == 2


def test_sizes_that_the_program_changes_are_those_before() -> None:
    run = glasstorch.compile(lambda x: (x.unsqueeze_(0), x.shape, x.shape[1] * 2), backend="eager")
    for rows in (3, 5, 7):
        changed, shape, twice = run(glasstorch.ones(rows))
        assert (changed.shape, shape, twice) == ((1, rows), (1, rows), 2 * rows)
