"""Does a call whose types were seen before get what binding each argument gives?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch as gt
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.overload import Ready

X = gt.arange(6.0).view(2, 3)
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("aten.add.Tensor", (X, X)),
    ("aten.add.Tensor", (X, 2)),
    ("aten.add.Tensor", (X, True)),
    ("aten.add.Tensor", (X, None)),
    ("aten.add.Tensor", (X, "2")),
    ("aten.add.Tensor", (X, X, 2)),
    ("aten.add.Tensor", (X,)),
    ("aten.add.Tensor", ()),
    ("aten.sum.dim_IntList", (X, [0])),
    ("aten.sum.dim_IntList", (X, 1)),
    ("aten.sum.dim_IntList", (X, None)),
    ("aten.sum.dim_IntList", (X, (0, 1), True)),
    ("aten.cat.default", ([X, X],)),
    ("aten.cat.default", ((X, X), 1)),
    ("aten.cat.default", (X,)),
    ("aten.max.dim", (X, 1)),
    ("aten.split.Tensor", (X, 1)),
    ("aten.clamp.default", (X, None, 3)),
    ("aten.linear.default", (X, X)),
    ("aten.linear.default", (X, X, None)),
    ("aten.index.Tensor", (X, [None, gt.tensor([0])])),
    ("aten.zeros.default", ([2],)),
    ("aten.mean.default", (gt.nn.Parameter(X),)),
    ("aten.avg_pool1d.default", (X, [2])),
    ("of_users.all.default", (X, 1, 2.0, "a", True)),
    ("of_users.all.default", (X, 1, 2, "a", True)),
    ("of_users.all.default", (X, True, 2.0, "a", True)),
    ("of_users.all.default", (X, 1.5, 2.0, "a", True)),
    ("of_users.all.default", (2, 1, 2.0, "a", True)),
    ("of_users.all.default", (X, 1)),
    ("of_users.maybe.default", (None, [1], X)),
    ("of_users.maybe.default", (X, 1, None)),
    ("of_users.maybe.default", (X,)),
]


@pytest.fixture(autouse=True)
def users() -> Iterator[None]:
    with Library("of_users", "FRAGMENT") as library:
        library.define("all(Tensor x, int i, float f, str s, bool b) -> Tensor")
        library.define("maybe(Tensor? x, int[1] sizes=1, Tensor? y=None) -> Tensor")
        library.impl("all", lambda *args: gt.tensor([float(str(a) == repr(a)) for a in args[1:]]), "CPU")
        library.impl("maybe", lambda *args: gt.tensor(float(len(args))), "CompositeExplicitAutograd")
        yield


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives: types and values, or the error."""
    try:
        result = call()
    except (RuntimeError, TypeError, IndexError) as error:
        return type(error), str(error)
    several = result if isinstance(result, list | tuple) else [result]
    return type(result), [(type(one), one.tolist()) for one in several]


@pytest.mark.parametrize(("name", "args"), CALLS, ids=lambda value: str(value) if isinstance(value, str) else "")
def test_a_call_seen_before_gives_what_its_first_gave(name: str, args: tuple[Any, ...]) -> None:
    operator = gt.ops
    for part in name.split("."):
        operator = getattr(operator, part)
    kinds = tuple(map(type, args))

    def bound_each_time() -> Any:
        operator.ready.clear()
        operator.ready[kinds] = None
        return operator(*args)

    wanted = outcome(bound_each_time)
    operator.ready.clear()
    assert outcome(lambda: operator(*args)) == wanted
    assert outcome(lambda: operator(*args)) == wanted
    if operator.family:
        assert outcome(lambda: Operator.__call__(operator, *args)) == wanted


def test_what_is_ready_has_its_tensors_and_the_defaults_of_the_rest() -> None:
    add = gt.ops.aten.add.Tensor
    add(X, X)
    assert add.ready[gt.Tensor, gt.Tensor] == Ready((0, 1), (1,))
    assert add.ready[gt.Tensor, int] is None  # the number becomes a tensor


def test_a_call_seen_before_asks_a_mode_that_is_switched_on() -> None:
    heard = []

    class Hearing(gt.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            heard.append(func)
            return func(*args, **(kwargs or {}))

    add = gt.ops.aten.add.Tensor
    add(X, X)
    with Hearing():
        add(X, X)
    assert heard == [add]
