"""Can a view be made once more, of another base?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch


def base_and_other(torch: Any) -> tuple[Any, Any]:
    base = torch.arange(12.0).reshape(3, 4).clone()
    return base, base * 10


def tracked(torch: Any, base: Any) -> Any:
    with torch.autograd._force_original_view_tracking(True):
        return base[1:].t()


def made_in(name: str) -> Callable[[Any, Any], Any]:
    def make(torch: Any, base: Any) -> Any:
        with getattr(torch, name)():
            return base[1:]

    return make


def after_a_change(torch: Any, base: Any) -> Any:
    view = base.t()[1:]
    view.add_(1)
    base.mul_(2)
    return view


def of_a_function(torch: Any, base: Any) -> Any:
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view(-1)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.view(3, 4)

    return Flat.apply(base.requires_grad_() * 1)


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "slice": lambda torch, x: x[1:],
    "transposed": lambda torch, x: x[1:].t(),
    "select": lambda torch, x: x[1, 1:],
    "reshape": lambda torch, x: x.reshape(-1)[2:],
    "diagonal": lambda torch, x: x[:, :3].diagonal(),
    "expand": lambda torch, x: x[:1].expand(5, 4),
    "unbind": lambda torch, x: x.unbind()[1],
    "split": lambda torch, x: x.split(2)[0],
    "as_strided": lambda torch, x: x.as_strided((2,), (1,), 3),
    "alias": lambda torch, x: torch.ops.aten.alias(x),
    "complex": lambda torch, x: torch.view_as_complex(x.view(3, 2, 2))[1:],
    "without a gradient": made_in("no_grad"),
    "in inference mode": made_in("inference_mode"),
    "after a change in place": after_a_change,
    "of a function": of_a_function,
    "that remembers": tracked,
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_made_of_another_tensor(torch: Any, name: str) -> None:
    base, other = base_and_other(torch)
    view, expected = VIEWS[name](torch, base), VIEWS[name](torch, other.clone())
    expected = other.as_strided(view.shape, view.stride(), view.storage_offset()) if "change" in name else expected
    for made in (view._view_func(other), view._view_func_unsafe(other), view._view_func_unsafe(other, None, None)):
        assert made.tolist() == expected.tolist()
        assert (made._base is other, made.stride()) == (True, view.stride())


def of_inference(torch: Any) -> Any:
    with torch.inference_mode():
        return torch.ones(3)[1:]


NO_VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "base": lambda torch, x: x,
    "result": lambda torch, x: x + 1,
    "detached": lambda torch, x: x[1:].detach(),
    "of an inference tensor": lambda torch, x: of_inference(torch),
}


@pytest.mark.parametrize("name", NO_VIEWS)
def test_what_is_no_view_has_none(torch: Any, name: str) -> None:
    base, other = base_and_other(torch)
    tensor = NO_VIEWS[name](torch, base)
    assert tensor._view_func(other) is tensor._view_func_unsafe(other) is tensor._rev_view_func_unsafe(other) is None


@pytest.mark.parametrize(
    ("make", "alike"),
    [
        (lambda torch: torch.ones(3, 4, dtype=torch.int64), True),
        (lambda torch: torch.ones(3, 4, device="meta"), True),
        (lambda torch: torch.ones(4, 3).t(), False),
        (lambda torch: torch.ones(3, 4, 1), False),
        (lambda torch: torch.ones(4, 4)[1:], False),
        (lambda torch: torch.ones(20)[:12].view(3, 4), False),
    ],
)
def test_another_layout_is_taken_only_if_asked_for(torch: Any, make: Callable[[Any], Any], alike: bool) -> None:
    view, other = torch.ones(3, 4)[1:], make(torch)
    made = view._view_func(other)
    assert (made is not None) is alike
    unsafe = view._view_func_unsafe(other)
    assert (unsafe.shape, unsafe.stride(), unsafe.storage_offset()) == ((2, 4), (4, 1), 4)
    assert unsafe.dtype is other.dtype


def test_bits_count_as_layout(torch: Any) -> None:
    base = torch.ones(2, dtype=torch.complex64)
    assert base[1:]._view_func(base.conj()) is None


def test_a_storage_that_is_too_short_is_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 8"):
        torch.ones(3, 4)[1:]._view_func_unsafe(torch.ones(2))


def test_it_is_recorded(torch: Any) -> None:
    x = torch.arange(12.0).view(3, 4).requires_grad_()
    base = x * 1
    made = torch.ones(3, 4)[1:]._view_func(base)
    assert made.grad_fn.name() == "AsStridedBackward0"
    made.sum().backward()
    assert x.grad.sum(1).tolist() == [0, 4, 4]


def test_what_is_no_tensor_is_refused(torch: Any) -> None:
    view = torch.ones(3)[1:]
    for function in (view._view_func, view._view_func_unsafe):
        for value in (3, None):
            words = rf"_view_func\(\): argument 'new_base' \(position 1\) must be Tensor, not {type(value).__name__}"
            with pytest.raises(TypeError, match=words):
                function(value)
        with pytest.raises(TypeError, match="new_base"):
            function()
    with pytest.raises(RuntimeError, match="_rev_view_func expect a single argument that is a Tensor"):
        view._rev_view_func_unsafe(3)
    with pytest.raises(TypeError):
        view._rev_view_func_unsafe(new_view=view)


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in ("complex", "that remembers")])
def test_no_base_is_made_of_another_view(torch: Any, name: str) -> None:
    base, _ = base_and_other(torch)
    with pytest.raises(RuntimeError, match=r"No _rev_view_func\(\) found"):
        VIEWS[name](torch, base)._rev_view_func_unsafe(torch.ones(3))


@pytest.mark.parametrize("name", ["complex", "that remembers"])
def test_there_are_no_inverses_of_view_operators_and_no_visitors(name: str) -> None:
    base, other = base_and_other(glasstorch)
    view = VIEWS[name](glasstorch, base)
    with pytest.raises(RuntimeError, match="glasstorch has no inverses of view operators"):
        view._rev_view_func_unsafe(view)
    if name == "that remembers":
        with pytest.raises(RuntimeError, match="calls no visitors"):
            view._view_func_unsafe(other, int)
    else:
        assert view._view_func_unsafe(other, int).shape == (2, 2)
