"""Is a gradient through an operator without an autograd kernel warned of as in PyTorch?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch

_numbers = itertools.count()
WARNED = "an autograd kernel was not registered to the Autograd key"


@pytest.fixture
def make(torch: Any) -> Iterator[Any]:
    """Makes an operator of a schema and a kernel for the CPU."""
    libraries = []

    def made(kernel: Any, schema: str = "f(Tensor x) -> Tensor") -> Any:
        name = f"unregistered_{next(_numbers)}"
        library = torch.library.Library(name, "DEF")
        libraries.append(library)
        library.define(schema)
        library.impl(schema.partition("(")[0], kernel, "CPU")
        return getattr(getattr(torch.ops, name), schema.partition("(")[0])

    yield made
    for library in libraries:
        library._destroy()


def by_numpy(torch: Any) -> Any:
    return lambda x: torch.from_numpy(x.detach().numpy() * 2)


def test_a_result_that_no_operator_made_has_a_node_that_warns(torch: Any, make: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = make(by_numpy(torch))(x)
    assert (y.requires_grad, y.grad_fn.name()) == (True, "torch::autograd::WarnNotImplemented")
    with pytest.warns(UserWarning, match=WARNED):
        y.sum().backward()
    assert x.grad is None


def test_a_result_of_other_operators_has_their_gradient_and_a_hook_that_warns(torch: Any, make: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = make(lambda x: x * 2)(x)
    assert y.grad_fn.name() == "MulBackward0"
    with pytest.warns(UserWarning, match=WARNED):
        y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_each_of_several_results_is_seen(torch: Any, make: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    both = make(lambda x: (x.detach() * 2, x.detach().long(), x * 3), "f(Tensor x) -> (Tensor, Tensor, Tensor)")(x)
    assert [y.requires_grad for y in both] == [True, False, True]
    assert both[0].grad_fn.name() == "torch::autograd::WarnNotImplemented"
    listed = make(lambda x: [x.detach() * 2, x.detach() + 1], "f(Tensor x) -> Tensor[]")(x)
    assert [y.requires_grad for y in listed] == [True, True]


def test_nothing_is_recorded_where_no_gradient_is_needed(torch: Any, make: Any) -> None:
    f = make(by_numpy(torch))
    assert not f(torch.ones(2)).requires_grad
    with torch.no_grad():
        assert not f(torch.ones(2, requires_grad=True)).requires_grad


def test_what_is_written_to_keeps_its_history(torch: Any, make: Any) -> None:
    def kernel(x: Any) -> Any:
        x.detach().numpy()[...] = 3
        return x

    x = torch.ones(2, requires_grad=True) * 1
    y = make(kernel, "f_(Tensor(a!) x) -> Tensor(a!)")(x)
    assert (y is x, y.grad_fn.name(), y.tolist()) == (True, "MulBackward0", [3.0, 3.0])


def test_a_fallthrough_silences_it(torch: Any, make: Any) -> None:
    f = make(by_numpy(torch))
    name = f.default.namespace
    with torch.library._scoped_library(name, "IMPL") as library:
        library.impl("f", torch.library.fallthrough_kernel, "Autograd")
        assert not f(torch.ones(2, requires_grad=True)).requires_grad


def test_the_mode_may_be_nothing(torch: Any, make: Any) -> None:
    assert torch._C._get_autograd_fallback_mode() == "warn"
    torch._C._set_autograd_fallback_mode("nothing")
    try:
        x = torch.ones(2, requires_grad=True)
        assert make(by_numpy(torch))(x).grad_fn is None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make(lambda x: x * 2)(x).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
    finally:
        torch._C._set_autograd_fallback_mode("warn")


@pytest.mark.parametrize("mode", ["error", "other"])
def test_another_mode_is_refused(torch: Any, mode: str) -> None:
    with pytest.raises(RuntimeError):
        torch._C._set_autograd_fallback_mode(mode)
    assert torch._C._get_autograd_fallback_mode() == "warn"


def test_an_operator_of_the_librarys_own_is_passed_by() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    assert not glasstorch.ops.aten.zeros_like.default(x).requires_grad
