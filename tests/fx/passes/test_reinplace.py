"""Do operators work in place where nobody can tell?"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch

Require = Callable[[str], Any]


def reinplaced(t: Any, function: Callable[..., Any], *args: Any) -> Any:
    """The module of a function's operators, before and after the pass."""
    module = import_module(f"{t.__name__}.fx.experimental.proxy_tensor").make_fx(function)(*args)
    before = [str(value) for value in flat(t, module(*copies(args)))]
    made = import_module(f"{t.__name__}.fx.passes.reinplace").reinplace(module, *args)
    given = copies(args)
    assert [str(value) for value in flat(t, made(*given))] == before
    assert str(tuple(given)) == str(args)  # no argument was written to
    return made


def flat(t: Any, values: Any) -> list[Any]:
    return t.utils._pytree.tree_leaves(values)  # type: ignore[no-any-return]


def copies(args: Any) -> list[Any]:
    return [arg.clone() for arg in args]


def in_place(t: Any, function: Callable[[Any], Any]) -> list[str]:
    module = reinplaced(t, function, t.arange(12.0).reshape(3, 4))
    return [str(node.target) for node in module.graph.nodes if node.op == "call_function"]


PROGRAMS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "a chain": lambda a: lambda x: a.relu.default(a.mul.Tensor(a.add.Tensor(x, 1), 2)),
    "what is used later": lambda a: lambda x: a.add.Tensor(a.mul.Tensor(y := a.neg.default(x), 2), y),
    "a view that is used later": lambda a: lambda x: (
        v := a.view.default(y := a.neg.default(x), [12]), a.mul.Tensor(y, 2), v,
    ),
    "a view that is not": lambda a: lambda x: a.mul.Tensor(a.view.default(a.neg.default(x), [12]), 2),
    "both arguments": lambda a: lambda x: a.mul.Tensor(y := a.neg.default(x), y),
    "another dtype": lambda a: lambda x: a.ge.Scalar(a.neg.default(x), 0),
    "another size": lambda a: lambda x: a.add.Tensor(a.neg.default(a.select.int(x, 0, 0)), x),
    "the result": lambda a: lambda x: (a.add.Tensor(y := a.neg.default(x), 1), y),
    "overlapping memory": lambda a: lambda x: a.add.Tensor(
        a.expand.default(a.neg.default(a.select.int(x, 0, 0)), [3, 4]), 1
    ),
    "one of several views": lambda a: lambda x: a.add.Tensor(
        (parts := a.split.Tensor(a.neg.default(x), 2, 1))[0], parts[1]
    ),
    "a part that is written": lambda a: lambda x: a.select_scatter.default(
        a.neg.default(x), a.ones.default([4], device=x.device), 0, 1
    ),
    "a part that is computed and written back": lambda a: lambda x: a.diagonal_scatter.default(
        y := a.neg.default(x), a.add.Tensor(a.diagonal.default(y), 5)
    ),
    "a part that is written back elsewhere": lambda a: lambda x: a.select_scatter.default(
        y := a.neg.default(x), a.add.Tensor(a.select.int(y, 0, 0), 5), 0, 1
    ),
    "a part that is written back and used": lambda a: lambda x: a.add.Tensor(
        a.slice_scatter.default(y := a.neg.default(x), a.add.Tensor(a.slice.Tensor(y, 0, 0, 1), 5), 0, 0, 1), 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_work_in_place_where_pytorchs_do(require: Require, make: Callable[[Any], Any]) -> None:
    ours, theirs = (in_place(t, make(t.ops.aten)) for t in (glasstorch, require("torch")))
    assert ours == theirs


def a_random_program(t: Any, seed: int) -> Callable[[Any], Any]:
    """Operators and views of values made before, three of which are returned."""
    aten = t.ops.aten

    def program(x: Any) -> Any:
        draw = random.Random(seed)
        values = [x, aten.neg.default(x)]
        for _ in range(draw.randint(3, 9)):
            one, other = (draw.choice(values[-4:]) for _ in range(2))
            make = draw.randrange(5)
            if make == 0:
                values.append(aten.relu.default(one))
            elif make == 1:
                values.append(aten.view.default(aten.view.default(one, [12]), [3, 4]))
            elif make == 2:
                row = aten.add.Tensor(aten.select.int(one, 0, 1), draw.randrange(9))
                values.append(aten.select_scatter.default(draw.choice([one, other]), row, 0, 1))
            else:
                values.append(aten.add.Tensor(one, other))
        return values[-1], values[-2]

    return program


@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_gives_the_same_in_place(seed: int, torch: Any) -> None:
    reinplaced(torch, a_random_program(torch, seed), torch.arange(12.0).reshape(3, 4))
