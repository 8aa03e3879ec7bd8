"""Do the functions that make tensors of random numbers give PyTorch's, sizes, dtype, strides and numbers?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.random.torch_numbers import refusal, torch_module
from tests.refusals import builtin

Library = Any

CALLS: dict[str, Callable[[Library], Any]] = {
    "rand": lambda t: t.rand(2, 3),
    "rand of a generator": lambda t: t.rand((2, 3), generator=t.Generator().manual_seed(4), dtype=t.float64),
    "rand of complex": lambda t: t.rand(20, dtype=t.complex64),
    "rand of integers": lambda t: t.rand(2, dtype=t.int64),
    "rand_like": lambda t: t.rand_like(t.zeros(3, 4).t()),
    "rand_like, other dtype": lambda t: t.rand_like(t.zeros(3, dtype=t.int64), dtype=t.float16),
    "rand_like, row-major": lambda t: t.rand_like(t.zeros(3, 4).t(), memory_format=t.contiguous_format),
    "rand_like of a generator": lambda t: t.rand_like(t.zeros(3), generator=t.Generator().manual_seed(4)),
    "rand_like of integers": lambda t: t.rand_like(t.zeros(3, dtype=t.int64)),
    "randn": lambda t: t.randn(5, 7),
    "randn of a generator": lambda t: t.randn(3, generator=t.Generator().manual_seed(4)),
    "randn of complex": lambda t: t.randn(9, dtype=t.complex128),
    "randn_like": lambda t: t.randn_like(t.zeros(5, 4).t()),
    "randn_like of a generator": lambda t: t.randn_like(t.zeros(20), generator=t.Generator().manual_seed(4)),
    "randint": lambda t: t.randint(9, (5,)),
    "randint between": lambda t: t.randint(-9, 9, (5,), dtype=t.int8),
    "randint of a generator": lambda t: t.randint(9, (5,), generator=t.Generator().manual_seed(4)),
    "randint between, of a generator": lambda t: t.randint(3, 9, (5,), generator=t.Generator().manual_seed(4)),
    "randint of complex": lambda t: t.randint(9, (5,), dtype=t.complex64),
    "randint_like": lambda t: t.randint_like(t.zeros(4, 3).t(), 9),
    "randint_like between": lambda t: t.randint_like(t.zeros(4), 3, 9, dtype=t.uint8),
    "randint_like of a generator": lambda t: t.randint_like(t.zeros(4), 9, generator=t.Generator().manual_seed(4)),
    "randint_like between, of a generator": (
        lambda t: t.randint_like(t.zeros(4), 3, 9, generator=t.Generator().manual_seed(4))
    ),
    "randint_like below a tensor": lambda t: t.randint_like(t.zeros(4), t.tensor(9)),
    "randint_like below a tensor, of a generator": (
        lambda t: t.randint_like(t.zeros(4), t.tensor(9), generator=t.Generator().manual_seed(4))
    ),
    "randint_like below a tensor with dimensions": lambda t: t.randint_like(t.zeros(4), t.tensor([9])),
    "randperm": lambda t: t.randperm(9),
    "randperm of a generator": lambda t: t.randperm(9, generator=t.Generator().manual_seed(4), dtype=t.int32),
    "randperm of bool": lambda t: t.randperm(1, dtype=t.bool),
    "randperm of uint16": lambda t: t.randperm(4, dtype=t.uint16),
    "normal": lambda t: t.normal(1.5, 2, (3, 4)),
    "normal of a generator": lambda t: t.normal(0, 1.0, (3,), generator=t.Generator().manual_seed(4)),
    "normal of integers": lambda t: t.normal(0.0, 1.0, (3,), dtype=t.int64),
    "normal with means": lambda t: t.normal(t.arange(20.0)),
    "normal with means and a deviation": lambda t: t.normal(t.arange(6.0).reshape(2, 3).t(), 0.5),
    "normal with means, negative deviation": lambda t: t.normal(t.arange(6.0), -0.5),
    "normal with means of integers": lambda t: t.normal(t.arange(6)),
    "normal with deviations": lambda t: t.normal(2.0, t.arange(6.0)),
    "normal with deviations of float64": lambda t: t.normal(2, t.arange(6.0, dtype=t.float64)),
    "normal with negative deviations": lambda t: t.normal(2.0, t.arange(6.0) - 1),
    "normal with complex deviations": lambda t: t.normal(t.ones(3), t.ones(3, dtype=t.complex64)),
    "normal with both": lambda t: t.normal(t.arange(3.0), t.arange(6.0).reshape(2, 3)),
    "normal with both, two dtypes": lambda t: t.normal(t.arange(3.0), t.ones(3, dtype=t.float64)),
    "normal with both, sizes that do not fit": lambda t: t.normal(t.ones(2), t.ones(3)),
    "bernoulli": lambda t: t.bernoulli(t.arange(12.0).reshape(4, 3).t() / 11),
    "bernoulli of a generator": lambda t: t.bernoulli(t.full((9,), 0.5), generator=t.Generator().manual_seed(4)),
    "bernoulli of a number": lambda t: t.bernoulli(t.zeros(4, 3, dtype=t.int64).t(), 0.5),
    "bernoulli of integers": lambda t: t.bernoulli(t.tensor([0, 1])),
    "bernoulli, a method": lambda t: t.full((9,), 0.3).bernoulli(),
    "bernoulli of a number, a method": lambda t: t.ones(9, dtype=t.bool).bernoulli(p=0.3),
}


def told(library: Library, call: Callable[[Library], Any]) -> object:
    """All that can be seen of a result, or the kind of refusal."""
    library.manual_seed(21)
    result, refused = refusal(lambda: call(library))
    if refused is not None:
        return builtin(refused)
    dtype = str(result.dtype)
    return tuple(result.shape), result.stride(), dtype, result.tolist(), library.rand(1).item()


@pytest.mark.parametrize("name", CALLS)
def test_every_factory_gives_what_torch_s_gives(name: str) -> None:
    torch, ours = torch_module(), pytest.importorskip("glasstorch")
    assert told(ours, CALLS[name]) == told(torch, CALLS[name])


def test_options_of_a_factory_are_taken(torch: Any) -> None:
    x = torch.normal(0.0, 1.0, (3,), dtype=torch.float64, device="cpu", requires_grad=True)
    assert (x.dtype, x.requires_grad) == (torch.float64, True)
    assert torch.rand_like(x, requires_grad=True).requires_grad
    assert not torch.randn_like(x).requires_grad
    assert torch.rand(2, 3, device="meta").shape == torch.randint_like(torch.ones(2, 3, device="meta"), 5).shape


def test_no_gradient_reaches_the_parameters_and_they_get_zeros(torch: Any) -> None:
    mean, std = torch.zeros(3, requires_grad=True), torch.ones(2, 3, requires_grad=True)
    chance = torch.full((3,), 0.5, requires_grad=True)
    torch.normal(mean, std).sum().backward()
    assert mean.grad.tolist() == [0, 0, 0]
    assert std.grad.tolist() == [[0, 0, 0]] * 2
    for call in (lambda: torch.normal(mean, 2.0), lambda: torch.normal(1.0, std), lambda: torch.bernoulli(chance)):
        assert call().requires_grad
    torch.bernoulli(chance).sum().backward()
    assert chance.grad.tolist() == [0, 0, 0]
    into = torch.ones(3).requires_grad_() * 1
    into.bernoulli_(chance).sum().backward()
    assert chance.grad.tolist() == [0, 0, 0]


def test_what_draws_of_a_chance_record_has_pytorchs_name(torch: Any) -> None:
    x = torch.full((3,), 0.5, requires_grad=True)
    drawn = [torch.bernoulli(x), (x * 1).bernoulli_(torch.full((3,), 0.5)), (x * 1).bernoulli_(0.5)]
    assert [y.grad_fn.name() for y in drawn] == ["BernoulliBackward0", "BernoulliBackward1", "BernoulliBackward2"]


def test_drawing_by_a_number_has_no_derivative_and_says_so(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    for y in (torch.bernoulli(x, 0.5), x.bernoulli(0.5)):
        assert y.grad_fn.name().endswith("NotImplemented")
        with pytest.raises(RuntimeError, match="derivative for aten::bernoulli is not implemented"):
            y.sum().backward()
    assert not torch.bernoulli(x.detach(), 0.5).requires_grad
