"""Are softmax and log_softmax right and stable, whatever the shape and the dimension?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import glasstorch

random = np.random.default_rng(0)
SHAPES = [
    (),
    (1,),
    (7,),
    (3, 5),
    (2, 3, 4),
    (2, 1, 3, 2),
    (3, 100),
    (2, 100, 3),
    (2_000, 2),
    (2, 70_000),
    (3, 0),
    (0, 3),
]


def exact(array: Any, dim: int) -> Any:
    """softmax in float64."""
    wide = array.astype(np.float64)
    wide = np.exp(wide - wide.max(dim, keepdims=True, initial=-math.inf))
    return wide / wide.sum(dim, keepdims=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_dimension_of_every_shape(torch: Any, shape: tuple[int, ...], dtype: str) -> None:
    array = np.asarray(random.standard_normal(shape) * 5, dtype)
    x = torch.from_numpy(array)
    for dim in range(-len(shape), len(shape)):
        np.testing.assert_allclose(torch.softmax(x, dim).numpy(), exact(array, dim), rtol=2e-4)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(
                torch.log_softmax(x, dim).numpy(), np.log(exact(array, dim)), rtol=2e-5, atol=1e-6
            )
    if not shape:
        assert torch.softmax(x, 0).tolist() == torch.softmax(x, -1).tolist() == 1.0


def test_any_layout_is_read(torch: Any) -> None:
    array = random.standard_normal((4, 6))
    for x, wanted in ((torch.from_numpy(array).t(), array.T), (torch.from_numpy(array)[:, ::2], array[:, ::2])):
        assert torch.softmax(x, 1).is_contiguous()
        np.testing.assert_allclose(torch.softmax(x, 1).numpy(), exact(wanted, 1))
    row = torch.from_numpy(array[0]).expand(4, 6)
    np.testing.assert_allclose(torch.softmax(row, 0).numpy(), np.full((4, 6), 0.25))


@pytest.mark.parametrize("columns", [3, 200])
def test_large_numbers_do_not_overflow(torch: Any, columns: int) -> None:
    """Rows whose maxima are near each other, and rows whose maxima are worlds apart."""
    for heights in ([1e4, 1e4 + 1], [1e4, -1e4], [-1e30, 1e30]):
        x = torch.tensor([[height] * columns for height in heights])
        np.testing.assert_allclose(torch.softmax(x, 1).numpy(), 1 / columns, rtol=1e-5)
        np.testing.assert_allclose(torch.log_softmax(x, 1).numpy(), -math.log(columns), rtol=1e-5)


@pytest.mark.parametrize("columns", [3, 200])
def test_infinity_and_nan_stay_in_their_rows(torch: Any, columns: int) -> None:
    x = torch.zeros(4, columns)
    x[0, 0], x[1, 0], x[2, 0] = math.inf, math.nan, -math.inf
    for function, rest in ((torch.softmax, 1 / (columns - 1)), (torch.log_softmax, -math.log(columns - 1))):
        result = function(x, 1).numpy()
        assert np.isnan(result[:2]).all()
        assert result[2, 0] == (0 if function is torch.softmax else -math.inf)
        np.testing.assert_allclose(result[2, 1:], rest, rtol=1e-5)
    assert np.isnan(torch.softmax(torch.full((2, columns), -math.inf), 1).numpy()).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_computed_in_float32(torch: Any, dtype: str) -> None:
    x = torch.zeros(2, 4096).to(getattr(torch, dtype))
    assert torch.softmax(x, 1).dtype == x.dtype
    assert torch.softmax(x, 1).tolist() == [[1 / 4096] * 4096] * 2
    assert torch.softmax(x, 1, dtype=torch.float32).dtype == torch.float32


def test_a_dtype_converts_first(torch: Any) -> None:
    x = torch.arange(3)
    assert torch.softmax(x, 0, dtype=torch.float64).dtype == torch.float64
    assert torch.log_softmax(x, 0, dtype=torch.float32).sum().dtype == torch.float32
    out = torch.zeros(3)
    assert torch.softmax(x, 0, dtype=torch.float32, out=out) is out
    np.testing.assert_allclose(out.numpy(), exact(np.arange(3), 0), rtol=1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 70), (2, 3, 2)])
def test_gradients_twice(name: str, shape: tuple[int, ...]) -> None:
    x = glasstorch.from_numpy(random.standard_normal(shape)).requires_grad_()
    for dim in range(len(shape)):
        assert glasstorch.autograd.gradcheck(lambda x, d=dim: getattr(glasstorch, name)(x, d), (x,))
    if x.numel() < 20:
        assert glasstorch.autograd.gradgradcheck(lambda x: getattr(glasstorch, name)(x, 1), (x,))


def test_the_inputs_are_not_touched() -> None:
    for shape in ((5, 4), (5, 100), (5, 4, 3)):
        x = glasstorch.from_numpy(random.standard_normal(shape)).requires_grad_()
        before = x.tolist()
        result = glasstorch.softmax(x, 1)
        kept = result.tolist()
        result.backward(glasstorch.ones(shape, dtype=glasstorch.float64))
        assert x.tolist() == before
        assert result.tolist() == kept


def test_long_sums_keep_their_digits() -> None:
    array = random.standard_normal((2_000, 2)).astype(np.float32)
    ours = glasstorch.softmax(glasstorch.from_numpy(array), 0).numpy()
    np.testing.assert_allclose(ours, exact(array, 0), rtol=3e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "dim"), [((300, 20), 1), ((70, 1000), 1), ((9, 300, 40), 1), ((0, 3), 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_halves_and_their_gradients_are_rounded_once(name: str, shape: tuple[int, ...], dim: int, dtype: str) -> None:
    random = np.random.default_rng(3)
    half = getattr(glasstorch, dtype)
    x, given = (glasstorch.from_numpy(random.normal(size=shape).astype(np.float32) * 3).to(half) for _ in "xg")
    eps = 2.0**-10 if dtype == "float16" else 2.0**-7
    x.requires_grad_()
    found = getattr(x, name)(dim)
    (gradient,) = glasstorch.autograd.grad(found, x, given)
    wide = getattr(x.detach().double(), name)(dim)
    assert found.dtype == gradient.dtype == half
    assert glasstorch.allclose(found.detach().double(), wide, rtol=eps / 1.9, atol=1e-7)
    saved, given = found.detach().double(), given.double()  # what the way back has: it is rounded already
    if name == "softmax":
        wanted = (given - (given * saved).sum(dim, keepdim=True)) * saved
    else:
        wanted = given - saved.exp() * given.sum(dim, keepdim=True)
    assert glasstorch.allclose(gradient.double(), wanted, rtol=eps, atol=1e-4)
