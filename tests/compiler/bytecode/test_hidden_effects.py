"""Does a captured function do what the function does, where it would be easy to do something else?"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo import optimize

Point = namedtuple("Point", "x y")  # noqa: PYI024  # a class without types, as programs have them
COUNTS: list[int] = []


def counting(x: Any, seen: list[int] = []) -> Any:  # noqa: B006  # that is what is tested
    seen.append(1)
    return x + len(seen)


class Noisy:
    """An object that counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __len__(self) -> int:
        self.asked += 1
        return 3

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return True

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: int) -> int:
        self.asked += 1
        return other

    def __contains__(self, item: object) -> bool:
        self.asked += 1
        return True

    def __repr__(self) -> str:
        self.asked += 1
        return "noisy"


class Registry:
    members: list[int] = []  # noqa: RUF012  # that is what is tested


def outer_counter() -> Callable[[Any], Any]:
    count = 0

    def bump() -> int:
        nonlocal count
        count += 1
        return count

    return lambda x: x + bump()


def aliases(x: Any) -> Any:
    a = b = [x]
    a += [x + 1]
    c = a * 2
    a.append(x + 2)
    return len(b), len(c), b[-1], (a is b) if False else 0


def keeps_kinds(x: Any) -> Any:
    p = Point(x, 2)
    return p[:1], (*p, 3), p + (4,), x.shape[:1], {"a": 1} | {"b": x.dim()}


def with_try(x: Any) -> Any:
    try:
        y = x + {"a": 1}["a"]
    except KeyError:
        y = x
    try:
        y = y + {"a": 1}["b"]
    except KeyError:
        y = y * 2
    return y


def grad_mode(x: Any) -> Any:
    y = x * 2
    torch.set_grad_enabled(False)
    z = x * 3
    torch.set_grad_enabled(True)
    return y, z


def under_no_grad(x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
    return y + x


def seeded(x: Any) -> Any:
    torch.manual_seed(7)
    return x + torch.rand(2)


def asked(noisy: Noisy) -> Callable[[Any], Any]:
    return lambda x: x + (noisy + 1) + len(noisy) + (noisy == 1) + (2 in noisy) + len(f"{noisy}")


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a default that is changed": (lambda x: counting(x) + counting(x), ()),
    "a list of a class": (lambda x: (type(Registry()).members.append(1), x + len(Registry.members))[1], ()),
    "a global list": (lambda x: (COUNTS.append(1), x + len(COUNTS))[1], ()),
    "a variable of an outer function": (outer_counter(), ()),
    "a list with two names": (aliases, ()),
    "classes of parts and sums": (keeps_kinds, ()),
    "errors that are caught": (with_try, ()),
    "the mode of gradients": (grad_mode, ()),
    "a block without gradients": (under_no_grad, ()),
    "a seed": (seeded, ()),
    "a zero's sign": (lambda x, n: torch.atan2(x * n, -x), (0.0,)),
    "a negative zero": (lambda x, n: torch.atan2(x * n, -x), (-0.0,)),
    "not a number": (lambda x, n: x + n, (float("nan"),)),
    "an ordered dict": (lambda x, table: (OrderedDict(table), x + table["a"]), (OrderedDict(a=1),)),
    "keys of a dict": (lambda x, table: (list(table.keys()), [*table.values()], x), ({"a": 1, "b": 2},)),
    "a view of a dict": (lambda x, table: (sorted(table.items()), "a" in table, x), ({"a": 1},)),
    "a number of a tensor": (lambda x: x + torch.numel(x) + int(torch.is_tensor(x)), ()),
    "equal tensors": (lambda x: x + int(torch.equal(x, x)), ()),
    "a generator": (lambda x: sum(y for y in [x, x + 1]), ()),
    "a set": (lambda x: x + len({1, 2}) + (2 in {1, 2}), ()),
    "deleting": (lambda x, items: (items.pop(), x + len(items))[1], ([1, 2, 3],)),
    "recursion": (lambda x: power(x, 4), ()),
    "a cell that is set later": (lambda x: set_later(x), ()),
    "star arguments": (lambda x, *rest: (rest, x + sum(rest)), (1, 2)),
    "a chain of comparisons": (lambda x, n: x + (1 < n <= 3 < 4 != n), (2,)),
    "a lambda that is passed on": (lambda x: list(map(lambda y: y + x, [x])), ()),  # noqa: C417
    "a string's methods": (lambda x, s: (s.split(","), s.format(1), x), ("a,b{}",)),
    "walrus": (lambda x: (y := x + 1) * y, ()),
    "nested functions with defaults": (lambda x: with_default(x), ()),
    "in-place on a view": (lambda x: (x[0].add_(1), x)[1], ()),
    "an assertion": (lambda x: checked(x), ()),
}


def power(x: Any, n: int) -> Any:
    return x if n == 1 else x * power(x, n - 1)


def with_default(x: Any) -> Any:
    def inner(y: Any, z: Any = x) -> Any:
        return y * z

    return inner(x + 1)


def set_later(x: Any) -> Any:
    def inner() -> Any:
        return later + x

    later = x * 2
    return inner()


def checked(x: Any) -> Any:
    assert x.dim() == 1, "one dimension"
    return x + 1


def value(result: Any) -> str:
    return f"{type(result).__name__} {result}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_calls_give_what_two_calls_of_the_function_give(name: str) -> None:
    function, rest = PROGRAMS[name]

    def twice(run: Callable[..., Any]) -> list[str]:
        COUNTS.clear()
        Registry.members.clear()
        counting.__defaults__[0].clear()  # type: ignore[index]
        found = []
        for start in (1.0, 2.0):
            x = torch.tensor([start, 3.0])
            result = run(x, *(list(item) if isinstance(item, list) else item for item in rest))
            found.append(f"{value(result)} {x} {len(COUNTS)} {len(Registry.members)} {torch.is_grad_enabled()}")
        return found

    if name == "a variable of an outer function":
        assert twice(outer_counter()) == twice(optimize(lambda module, inputs: module.forward)(outer_counter()))
        return
    assert twice(function) == twice(optimize(lambda module, inputs: module.forward)(function))


def test_an_object_is_asked_as_often_as_by_the_function() -> None:
    plain, captured = Noisy(), Noisy()
    x = torch.ones(1)
    expected = asked(plain)(x)
    found = optimize(lambda module, inputs: module.forward)(asked(captured))(x)
    assert torch.equal(expected, found)
    assert captured.asked == plain.asked


def test_a_hook_that_comes_later_runs() -> None:
    layer = torch.nn.Linear(2, 2)
    run = optimize(lambda module, inputs: module.forward)(lambda x: layer(x))
    x = torch.ones(1, 2)
    run(x)
    seen: list[int] = []
    layer.register_forward_hook(lambda *_: seen.append(1) and None)
    run(x)
    assert seen == [1]
    layer.forward = lambda x: x * 0  # type: ignore[method-assign]
    assert run(x).tolist() == [[0, 0]]


def test_a_tensors_own_class_answers() -> None:
    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "mine"

    x = torch.ones(2).as_subclass(Mine)
    run = optimize(lambda module, inputs: module.forward)(lambda x: x + 1)
    assert run(x) == "mine"


def test_a_name_of_python_that_a_module_defines_later_is_found() -> None:
    names: dict[str, Any] = {"torch": torch}
    exec("def function(x):\n    return x + len([1, 2])", names)
    run = optimize(lambda module, inputs: module.forward)(names["function"])
    assert run(torch.zeros(1)).item() == 2
    names["len"] = lambda items: 10
    assert run(torch.zeros(1)).item() == 10
