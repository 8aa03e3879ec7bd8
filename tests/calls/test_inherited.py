"""Does a class that inherits `__torch_function__` get by its short way what one gets that calls Tensor's itself?"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as gt
from glasstorch.calls.inherited import known_answer
from glasstorch.calls.overloaded import UNASKED
from glasstorch.core.plain_types import HEIRS

Require = Callable[[str], Any]


def heir(torch: Any, base: Any = None) -> Any:
    """A class that says nothing of calls."""
    return type("Kind", (base or torch.Tensor,), {})


def asked(torch: Any) -> Any:
    """A class of the same name that is asked, and says what Tensor says."""

    def answer(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super(made, cls).__torch_function__(func, types, args, kwargs)

    made = type("Kind", (torch.Tensor,), {"__torch_function__": classmethod(answer)})
    return made


def shown(value: Any) -> Any:
    """A result without the module's name: of a tensor its class, elements and whether it has a history."""
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(shown, value)]
    if hasattr(value, "untyped_storage"):
        return type(value).__name__, value.tolist(), value.requires_grad, value.is_leaf
    return value


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a function": lambda t, x, p: t.add(x, x),
    "with a plain tensor": lambda t, x, p: t.add(p, x, alpha=2),
    "with a number": lambda t, x, p: t.mul(x, 3),
    "by name": lambda t, x, p: t.sum(x, dim=0, keepdim=True),
    "by another name": lambda t, x, p: t.sum(x, axis=0),
    "a method": lambda t, x, p: x.exp(),
    "an operator": lambda t, x, p: [x + x, x * 2, 2 - x, x @ x, p + x, -x],
    "a list of them": lambda t, x, p: t.cat([x, p, x]),
    "several results": lambda t, x, p: t.max(x, 0),
    "a list of results": lambda t, x, p: x.split(2),
    "a view": lambda t, x, p: x.view(2, 2),
    "an index": lambda t, x, p: x[1:],
    "out": lambda t, x, p: t.add(x, x, out=t.empty(4)),
    "out of the class": lambda t, x, p: t.add(p, p, out=x.clone()),
    "in place": lambda t, x, p: x.clone().add_(1),
    "no tensor": lambda t, x, p: [t.equal(x, p), x.dim(), t.is_floating_point(x)],
    "a history": lambda t, x, p: t.mul(x.clone().requires_grad_(), p),
    "of a leaf": lambda t, x, p: t.mul(p.clone().requires_grad_(), x),
    "a factory": lambda t, x, p: [t.zeros_like(x), x.new_ones(2)],
}


@pytest.mark.parametrize("name", CALLS)
def test_an_heir_gets_what_it_would_say_itself(name: str) -> None:
    call = CALLS[name]
    short, long = heir(gt), asked(gt)
    assert short in HEIRS
    assert long not in HEIRS
    plain = gt.tensor([1.0, 2.0, 3.0, 4.0])
    assert shown(call(gt, plain.as_subclass(short), plain)) == shown(call(gt, plain.as_subclass(long), plain))


@pytest.mark.parametrize("name", CALLS)
def test_an_heir_gets_what_it_gets_in_pytorch(name: str, require: Require) -> None:
    torch = require("torch")
    call = CALLS[name]
    results = []
    for library in (gt, torch):
        plain = library.tensor([1.0, 2.0, 3.0, 4.0])
        results.append(shown(call(library, plain.as_subclass(heir(library)), plain)))
    assert results[0] == results[1]


def test_what_somebody_else_holds_keeps_its_class() -> None:
    kind, plain = heir(gt), gt.ones(3)
    kept = gt.ones(3)
    library = gt.library.Library("held", "FRAGMENT")
    library.define("give(Tensor x) -> Tensor")
    library.impl("give", lambda x: kept, "CPU")
    into = gt.empty(3)
    x = plain.as_subclass(kind)
    assert type(gt.add(x, x, out=into)) is kind
    assert type(into) is gt.Tensor
    assert type(gt.ops.held.give(x)) is kind
    assert type(kept) is gt.Tensor
    assert type(plain.add_(x)) is kind
    assert type(plain) is gt.Tensor


def test_a_fresh_result_is_given_the_class_and_not_copied() -> None:
    made: list[Any] = []
    kind = heir(gt)

    class Watching(gt.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            made.append(weakref.ref(result))
            return result

    x = gt.ones(3).as_subclass(kind)
    with Watching():
        result = gt.add(x, x)
    assert type(result) is kind
    assert made[-1]() is result


def test_a_class_with_fields_of_its_own_gets_an_instance() -> None:
    class Fields(gt.Tensor):
        __slots__ = ("more",)

    x = gt.ones(3).as_subclass(Fields)
    result = gt.add(x, x)
    assert type(result) is Fields
    result.more = 1
    assert result.tolist() == [2.0] * 3


def test_two_classes_are_both_asked() -> None:
    kind = heir(gt)
    lower = heir(gt, kind)
    x, y = gt.ones(3).as_subclass(kind), gt.ones(3).as_subclass(lower)
    assert known_answer(gt.add, (x, y), {}) is UNASKED
    assert type(gt.add(x, y)) is lower
    other = gt.ones(3).as_subclass(heir(gt))
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.add'"):
        gt.add(x, other)


def test_a_class_that_comes_to_answer_is_asked_and_so_are_its_descendants(require: Require) -> None:
    for library in (gt, require("torch")):
        kind = heir(library)
        lower = heir(library, kind)
        x = library.ones(3).as_subclass(lower)
        heard: list[str] = []

        def answer(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            heard.append(func.__name__)  # noqa: B023
            return "answered"

        kind.__torch_function__ = classmethod(answer)
        assert library.add(x, x) == "answered"
        assert x.shape == "answered"
        assert heard == ["add", "__get__"]
        del kind.__torch_function__
        assert type(library.add(x, x)) is lower
        assert x.shape == (3,)


def test_a_class_that_sees_operators_is_no_heir() -> None:
    seen: list[str] = []

    class Sees(gt.Tensor):
        __torch_function__ = classmethod(gt.Tensor.__torch_function__.__func__)  # type: ignore[assignment]

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return super().__torch_dispatch__(func, types, args, kwargs)

    assert Sees not in HEIRS
    x = gt.ones(3).as_subclass(Sees)
    gt.add(x, x)
    assert seen[0] == "aten.add.Tensor"


def test_within_the_call_no_type_is_asked_and_after_an_error_it_is_again() -> None:
    enabled: list[bool] = []
    library = gt.library.Library("asking", "FRAGMENT")
    library.define("tell(Tensor x) -> Tensor")

    def tell(x: Any) -> Any:
        enabled.append(gt._C._is_torch_function_enabled())
        raise ValueError("told")

    library.impl("tell", tell, "CPU")
    x = gt.ones(3).as_subclass(heir(gt))
    with pytest.raises(ValueError, match="told"):
        gt.ops.asking.tell(x)
    assert enabled == [False]
    assert gt._C._is_torch_function_enabled()
