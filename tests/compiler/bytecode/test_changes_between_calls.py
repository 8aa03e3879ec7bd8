"""Is a graph captured anew when anything that it assumed has changed, however the program reaches it?"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import glasstorch
from glasstorch._dynamo import optimize


class World:
    """What a program may change between two calls: each attribute is new for each test."""

    def __init__(self) -> None:
        class Base:
            factor = 2

            def grow(self, x: Any) -> Any:
                return x * self.factor

            @classmethod
            def shared(cls, x: Any) -> Any:
                return x + cls.factor

            @property
            def size(self) -> int:
                return self.factor * 10

            def __len__(self) -> int:
                return 3

        class Derived(Base):
            def __init__(self) -> None:
                self.own = 1

            def grow(self, x: Any) -> Any:
                return super().grow(x) + self.own

        def helper(x: Any, scale: int = 2, *, shift: int = 1) -> Any:
            return x * scale + shift

        self.base, self.derived, self.helper = Base, Derived, helper
        self.thing = Derived()
        self.module = types.ModuleType("a_module_of_this_test")
        self.module.rate = 3  # type: ignore[attr-defined]
        self.partial = functools.partial(helper, scale=3)
        self.table = {"a": 1, (1, 2): 5}
        self.group = {1, 2}


def of_a_method(w: World) -> Callable[[Any], Any]:
    return lambda x: w.thing.grow(x)


def of_a_new_object(w: World) -> Callable[[Any], Any]:
    derived = w.derived
    return lambda x: derived().grow(x) + len(derived())


def of_a_class(w: World) -> Callable[[Any], Any]:
    return lambda x: w.derived.shared(x) + w.thing.size


def of_what_is_missing(w: World) -> Callable[[Any], Any]:
    return lambda x: x + getattr(w.thing, "extra", 4) + hasattr(w.thing, "other") + w.thing.factor


def of_a_function(w: World) -> Callable[[Any], Any]:
    return lambda x: w.helper(x) + w.partial(x)


def of_an_import(w: World) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        from a_module_of_this_test import rate  # type: ignore[import-not-found]

        return x * rate

    return function


def of_containers(w: World) -> Callable[[Any], Any]:
    return lambda x: x * w.table[(1, 2)] + sum(w.group) + w.table.get("z", 3)


def replace_method(w: World) -> None:
    w.base.grow = lambda self, x: x - 5  # type: ignore[method-assign]


def replace_initializer(w: World) -> None:
    w.derived.__init__ = lambda self: setattr(self, "own", 7)  # type: ignore[method-assign]


def replace_length(w: World) -> None:
    w.base.__len__ = lambda self: 8  # type: ignore[method-assign]


def shadow_method(w: World) -> None:
    w.thing.grow = lambda x: x - 6  # type: ignore[method-assign]


def set_factor(w: World) -> None:
    w.base.factor = 9


def set_factor_of_the_object(w: World) -> None:
    w.thing.factor = 4


def set_factor_of_the_derived_class(w: World) -> None:
    w.derived.factor = 6


def add_what_was_missing(w: World) -> None:
    w.thing.extra = 11  # type: ignore[attr-defined]
    w.thing.other = 1  # type: ignore[attr-defined]


def set_defaults(w: World) -> None:
    w.helper.__defaults__ = (5,)  # type: ignore[attr-defined]


def set_keyword_defaults(w: World) -> None:
    w.helper.__kwdefaults__ = {"shift": 50}  # type: ignore[attr-defined]


def set_partial(w: World) -> None:
    w.partial = functools.partial(w.helper, scale=12)


def set_rate(w: World) -> None:
    w.module.rate = 20  # type: ignore[attr-defined]


def change_table(w: World) -> None:
    w.table[(1, 2)] = 6


def change_group(w: World) -> None:
    w.group.add(9)


def add_key(w: World) -> None:
    w.table["z"] = 30


OF_OBJECTS = (of_a_method, of_a_new_object, of_a_class, of_what_is_missing)
CHANGES = {
    **dict.fromkeys(
        (
            replace_method, replace_initializer, replace_length, shadow_method, set_factor, set_factor_of_the_object,
            set_factor_of_the_derived_class, add_what_was_missing,
        ),
        OF_OBJECTS,
    ),
    **dict.fromkeys((set_defaults, set_keyword_defaults, set_partial), (of_a_function,)),
    set_rate: (of_an_import,),
    **dict.fromkeys((change_table, change_group, add_key), (of_containers,)),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_between_two_calls_is_seen(change: Callable[[World], None], monkeypatch: pytest.MonkeyPatch) -> None:
    x = glasstorch.ones(2)
    for program in CHANGES[change]:
        w = World()
        monkeypatch.setitem(sys.modules, "a_module_of_this_test", w.module)
        plain = program(w)
        run = optimize(lambda module, inputs: module.forward, nopython=True)(plain)
        assert run(x).tolist() == plain(x).tolist()
        change(w)
        assert run(x).tolist() == plain(x).tolist(), program.__name__


def test_a_mode_that_is_set_outside_is_seen() -> None:
    def plain(x: Any) -> Any:
        y = x @ x
        return 1 if y.dtype == glasstorch.bfloat16 else 2, glasstorch.ones(1) * (glasstorch.ones(1).dtype.itemsize)

    run = optimize(lambda module, inputs: module.forward, nopython=True)(plain)
    x = glasstorch.ones(2, 2)
    assert run(x)[0] == 2
    with glasstorch.autocast("cpu"):
        assert run(x)[0] == 1
    assert run(x)[1].item() == 4
    glasstorch.set_default_dtype(glasstorch.float64)
    try:
        assert run(x)[1].item() == 8
    finally:
        glasstorch.set_default_dtype(glasstorch.float32)


def test_whether_a_tensor_is_a_leaf_is_seen() -> None:
    run = optimize(lambda module, inputs: module.forward, nopython=True)(lambda x: x * (2 if x.is_leaf else 3))
    x = glasstorch.ones(2, requires_grad=True)
    assert run(x).tolist() == [2, 2]
    assert run(x * 1).tolist() == [3, 3]


def test_a_class_that_derives_from_tuple_has_its_own_methods() -> None:
    class Odd(NamedTuple):
        a: int

        def __len__(self) -> int:
            return 7

    class Tagged(tuple):  # type: ignore[type-arg]
        pass

    tagged = Tagged((1, 2))
    tagged.tag = 5  # type: ignore[attr-defined]
    plain = lambda x, odd, tagged: x + len(odd) + tagged.tag  # noqa: E731
    run = optimize(lambda module, inputs: module.forward)(plain)
    assert run(glasstorch.zeros(1), Odd(1), tagged).item() == 12


def test_a_buffer_that_a_module_registers_while_it_runs_is_found() -> None:
    class Growing(glasstorch.nn.Module):
        def forward(self, x: Any) -> Any:
            if not hasattr(self, "seen"):
                self.register_buffer("seen", x * 2)
            return x + self.seen

    def told(compiled: bool) -> list[Any]:
        module: Any = Growing()
        run = optimize(lambda module, inputs: module.forward)(module) if compiled else module
        results = [run(glasstorch.full((2,), float(n))).tolist() for n in (1, 2, 3)]
        return [results, {name: value.tolist() for name, value in module.state_dict().items()}]

    assert told(compiled=True) == told(compiled=False)
