"""Are the changes that a program makes to what lives outside carried out once, in order, on the very objects?"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._dynamo import Unsupported, optimize

Require = Callable[[str], Any]

COUNT = 0
SEEN: list[Any] = []


class Thing:
    """An object of the outside."""

    def __init__(self) -> None:
        self.count = 1
        self.items: list[Any] = []
        self.last: Any = None


class Slotted:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 1


def lists(x: Any, w: Any) -> Any:
    items = w["items"]
    items.append(x + 1)
    items.extend([2, x])
    items.insert(0, "first")
    last = items.pop()
    del items[1]
    items[0] = len(items)
    numbers = [n for n in items if isinstance(n, int)]
    twos, place = numbers.count(2), numbers.index(2)
    items += [last * 2]
    items.reverse()
    return sum(items[:1]), place, twos, items


def sorting(x: Any, w: Any) -> Any:
    numbers = w["numbers"]
    numbers.sort(key=lambda n: -n)
    numbers.remove(2)
    numbers[1:2] = [7, 8, 9]
    return x * numbers[0], sorted(numbers, reverse=True)


def dicts(x: Any, w: Any) -> Any:
    table = w["table"]
    table["b"] = x + 1
    table.update({"c": 3}, d=4)
    first = table.pop("a")
    table.setdefault("e", []).append(first)
    table |= {"f": x}
    del table["c"]
    keys = table.keys()
    return list(keys), list(keys), "d" in keys, len(table), table.get("nope"), table["b"] * 2


def sets(x: Any, w: Any) -> Any:
    group = w["set"]
    group.add(5)
    group.discard(1)
    group |= {8}
    return x + len(group), 5 in group


def ordered(x: Any, w: Any) -> Any:
    table = w["ordered"]
    table.move_to_end("a")
    table["n"] = x + 1
    return list(table), table.popitem(last=False)


def attributes(x: Any, w: Any) -> Any:
    thing = w["thing"]
    thing.count += 2
    thing.last = x * thing.count
    thing.new = thing.items
    thing.items.append(thing.last)
    del thing.count
    return thing.new[0] + 1, hasattr(thing, "count")


def slots(x: Any, w: Any) -> Any:
    w["slotted"].value += 1
    return x + w["slotted"].value


def two_names(x: Any, w: Any) -> Any:
    a, b = w["thing"], w["same thing"]
    a.count = 5
    b.items.append(a.count)
    w["items"].append(w["same items"][-1])
    return x + b.count + len(a.items), len(w["same items"])


def globals_(x: Any, w: Any) -> Any:
    global COUNT
    COUNT += 1
    SEEN.append(COUNT)
    return x + COUNT, len(SEEN)


def cycles(x: Any, w: Any) -> Any:
    own = [x + 1]
    own.append(own)
    w["items"].append(own)
    w["table"]["itself"] = w["table"]
    pair = (own, own)
    return pair, own[1] is own


def exchanged(x: Any, w: Any) -> Any:
    thing = w["thing"]
    thing.items, w["items"] = w["items"], thing.items
    thing.items.append(1)
    w["items"].append(2)
    return x + len(thing.items)


def functions(x: Any, w: Any) -> Any:
    count = 0

    def bump(by: int = 1, *, times: int = 1) -> int:
        nonlocal count
        count += by * times
        return count

    bump(times=3)
    w["table"]["bump"] = bump
    return x + count


def while_iterating(x: Any, w: Any) -> Any:
    items = w["numbers"]
    for n in items:
        if n < 3:
            items.append(n + 5)
    return x + 1, len(items)


PROGRAMS = (
    lists, sorting, dicts, sets, ordered, attributes, slots, two_names, globals_, cycles, exchanged, functions,
    while_iterating,
)  # fmt: skip


def world() -> dict[str, Any]:
    thing, items, seen = Thing(), [1, 2], Slotted()
    return {
        "thing": thing, "same thing": thing, "items": items, "same items": items, "table": {"a": 1},
        "ordered": OrderedDict(a=1, b=2), "set": {1, 2}, "numbers": [3, 1, 2], "slotted": seen,
    }  # fmt: skip


def shown(value: Any, seen: tuple[int, ...] = ()) -> str:
    """A value as text; what contains itself is cut."""
    if id(value) in seen:
        return "itself"
    seen = (*seen, id(value))
    if hasattr(value, "tolist"):
        return f"tensor {value.tolist()}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(shown(item, seen) for item in value)})"
    if isinstance(value, dict):
        return f"{type(value).__name__}({', '.join(f'{key}: {shown(item, seen)}' for key, item in value.items())})"
    if isinstance(value, Thing):
        return f"thing {shown(vars(value), seen)}"
    if isinstance(value, Slotted):
        return f"slotted {value.value}"
    if callable(value):
        return f"function {value.__name__} gives {value()}, {value(2, times=2)}"
    return repr(value)


def outcome(t: Any, function: Callable[..., Any]) -> list[str]:
    global COUNT
    COUNT = 0
    SEEN.clear()
    found = []
    for _ in range(2):
        w = world()
        items, thing = w["items"], w["thing"]
        result = function(t.ones(2), w)
        same = w["same items"] is items and w["same thing"] is thing and thing is w["thing"]
        found.append(f"{shown(result)} | {shown(w)} | {COUNT} {shown(SEEN)} | {same} {items is w['items']}")
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_changed_outside_is_what_the_function_changes(program: Callable[..., Any]) -> None:
    graphs: list[Any] = []

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module.forward

    expected = outcome(glasstorch, program)
    assert outcome(glasstorch, optimize(backend, nopython=True)(program)) == expected
    assert graphs


def counter() -> Callable[[Any], Any]:
    count, seen = 0, [1]

    def bump() -> int:
        nonlocal count
        count += 1
        seen.append(count)
        return count

    return lambda x: (x + bump() + bump() + count, len(seen))


def test_a_variable_of_an_outer_function_is_set() -> None:
    x = glasstorch.zeros(1)
    plain, captured = counter(), optimize(lambda module, inputs: module.forward, nopython=True)(counter())
    for _ in range(3):
        assert shown(plain(x)) == shown(captured(x))


def test_a_module_is_changed(require: Require) -> None:
    def make(t: Any) -> Any:
        class Counting(t.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("total", t.zeros(2))
                self.calls = 0
                self.seen: list[Any] = []

            def forward(self, x: Any) -> Any:
                self.calls += 1
                self.total = self.total + x
                self.total.add_(1)
                self.seen.append(self.calls)
                return self.total * self.calls

        return Counting()

    def told(t: Any, compile_: Any) -> list[Any]:
        module = make(t)
        run = compile_(module)
        results = [run(t.ones(2)).tolist() for _ in range(3)]
        state = {name: value.tolist() for name, value in module.state_dict().items()}
        return [results, module.calls, module.seen, state]

    t = require("torch")
    compiled = told(glasstorch, optimize(lambda module, inputs: module.forward, nopython=True))
    assert compiled == told(t, lambda module: module)
    assert compiled == told(t, lambda module: t.compile(module, backend="eager", fullgraph=True))


def test_what_is_two_objects_in_one_call_and_one_in_the_next_is_captured_anew() -> None:
    def function(x: Any, a: list[int], b: list[int]) -> Any:
        a.append(1)
        return x + len(b)

    run = optimize(lambda module, inputs: module.forward, nopython=True)(function)
    assert run(glasstorch.zeros(1), [1], [1]).item() == 1
    same = [1]
    assert run(glasstorch.zeros(1), same, same).item() == 2
    assert same == [1, 1]


def test_an_object_that_comes_in_is_the_one_that_goes_out() -> None:
    run = optimize(lambda module, inputs: module.forward, nopython=True)(lambda x, thing: (x + 1, thing))
    for thing in (Thing(), Thing()):
        assert run(glasstorch.zeros(1), thing)[1] is thing


def test_what_is_not_understood_is_refused_by_name() -> None:
    class Careful:
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

    def of_a_class(x: Any) -> Any:
        Thing.count = 1  # type: ignore[assignment]
        return x

    def of_a_parameter(x: Any, module: Any) -> Any:
        module.weight = x
        return x

    def of_a_tensor(x: Any) -> Any:
        x.grad = None
        return x

    x, linear = glasstorch.ones(2), glasstorch.nn.Linear(1, 1)
    for function, rest, text in (
        (of_a_class, (), "a change of the attribute count of type"),
        (of_a_parameter, (linear,), "a change of the parameter or submodule weight"),
        (of_a_tensor, (), "a change of the attribute grad of a tensor"),
    ):
        with pytest.raises(Unsupported, match=text):
            optimize(lambda module, inputs: module.forward, nopython=True)(function)(x, *rest)  # type: ignore[operator]
