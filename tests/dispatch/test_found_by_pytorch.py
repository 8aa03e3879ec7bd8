"""Does what PyTorch's own tests once found wrong give what it gives in PyTorch?

Each was accepted, refused or answered in another way when PyTorch's tests were first run on this library.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same


def subclass_of_tensors(t: Any) -> Any:
    class Kept(t.Tensor):  # type: ignore[misc,name-defined]
        pass

    return Kept


def asked_about(t: Any, call: Callable[[Any], Any]) -> list[str]:
    """The functions that a class of tensors is asked about in a call."""
    asked: list[str] = []

    class Asking(t.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    call(Asking)
    return asked


def a_kernel_of_sum(t: Any) -> Any:
    library = t.library.Library("aten", "IMPL")
    try:
        library.impl("aten::sum", lambda x, dtype=None: x.new_full((), 7.0), "CPU")
        return t.ones(2).sum().item()
    finally:
        library._destroy()


def meta_of_a_composite(t: Any) -> Any:
    library = t.library.Library("aten", "IMPL")
    try:
        library.impl("reshape", lambda x, shape: x, "Meta")
    finally:
        library._destroy()


def implemented_under(t: Any, key: str) -> Any:
    library = t.library.Library("found_by_pytorch", "DEF")
    try:
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", lambda x: x, key)
    finally:
        library._destroy()


def on_a_default_device(t: Any) -> Any:
    t.set_default_device("meta")
    try:
        return str(t.ones(1).device), str(t.get_default_device())
    finally:
        t.set_default_device(None)


def in_a_device(t: Any) -> Any:
    with t.device("meta"):
        return str(t.ones(1).device), str(t.tensor([1]).device)


def deep_copied(t: Any) -> Any:
    class Wrapped(t.Tensor):  # type: ignore[misc,name-defined]
        __torch_function__ = t._C._disabled_torch_function_impl

    return type(copy.deepcopy(t.ones(2).as_subclass(Wrapped))).__name__


FOUND: dict[str, Callable[[Any], Any]] = {
    "a subclass keeps its type": lambda t: [
        type(one).__name__
        for x in [t.ones(2).as_subclass(subclass_of_tensors(t))]
        for one in (x + 1, 1 + x, x.sin(), t.cat([x, x]), x[0], x.max(0).values)
    ],
    "its handler is asked": lambda t: asked_about(t, lambda kind: t.ones(2).as_subclass(kind) + 1),
    "it is asked inside a list of indices": lambda t: asked_about(
        t, lambda kind: t.ones(2, 2)[[t.tensor([0]).as_subclass(kind), t.tensor([1])]]
    ),
    "a namespace that is taken": lambda t: t.library.Library("prim", "DEF"),
    "an unknown key": lambda t: implemented_under(t, "NoSuchKey"),
    "a key that begins a range": lambda t: implemented_under(t, "StartOfDenseBackends"),
    "a key that ends a range": lambda t: implemented_under(t, "EndOfDenseBackends"),
    "meta of a composite": meta_of_a_composite,
    "a negative index": lambda t: t.device("cuda", -2),
    "a kernel of sum": a_kernel_of_sum,
    "a product with a tensor on meta": lambda t: tuple((t.ones(2, 3) @ t.ones(3, 1, device="meta")).shape),
    "too many arguments of an overload packet": lambda t: t.ops.aten.add(t.ones(1), t.ones(1), 2),
    "a copy of a subclass without new_empty": deep_copied,
    "a default device": on_a_default_device,
    "a device as a context": in_a_device,
    "symbols": lambda t: [one.__name__ for one in (t.SymInt, t.SymFloat, t.SymBool)],
    "types": lambda t: [isinstance(2, one) for one in (t.types.Number, t.types._Number)],
    "poisson": lambda t: (t.manual_seed(0), tuple(t.poisson(t.full((3,), 4.0)).shape))[1],
    "quasirandom": lambda t: t.quasirandom.SobolEngine(2).draw(3).tolist(),
    "helpers": lambda t: t._utils._get_device_index("cuda:1", optional=True),
    "a library that is none": lambda t: t.ops.load_library(__file__),
}
# Where the words of the error say more than PyTorch's, or list the overloads, of which not all are here.
OTHER_WORDS = ("an unknown key", "a key that begins a range", "a key that ends a range", "a negative index") + (
    "too many arguments of an overload packet",
)


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_wrong_is_as_in_pytorch(name: str, require: Callable[[str], Any]) -> None:
    def quietly(t: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return FOUND[name](t)

    assert_same(quietly, require("torch"), words=name not in OTHER_WORDS)
