"""Are products, variances and running sums PyTorch's, where there is little or much to compute from too?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.autograd import gradcheck, gradgradcheck
from tests.refusals import same_refusal

Require = Callable[[str], Any]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0:UserWarning")
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 0), (0, 2), (3, 1), (3, 4)])
@pytest.mark.parametrize("correction", [0, 1, 0.5, 5])
def test_variances_of_few_elements_are_pytorchs(require: Require, name: str, shape: Any, correction: Any) -> None:
    torch = require("torch")
    data = np.random.default_rng(1).normal(size=shape)
    for dim in ((), *range(len(shape))):
        ours, theirs = (
            getattr(library, name)(library.from_numpy(data.copy()), dim, correction=correction)
            for library in (glasstorch, torch)
        )
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


def test_dividing_by_nothing_is_warned_about() -> None:
    with pytest.warns(UserWarning, match=r"var\(\): degrees of freedom is <= 0"):
        assert glasstorch.tensor([1.0]).var().isnan()
    with pytest.warns(UserWarning, match=r"std\(\): degrees of freedom is <= 0"):
        assert glasstorch.tensor([1.0, 2.0]).std(correction=5).isinf()


def test_a_mean_beside_a_variance_is_nan_where_an_element_follows_infinity(require: Require) -> None:
    inf = float("inf")
    rows = [[inf, inf], [1.0, inf], [inf, 1.0], [-inf, inf]]
    for library in (glasstorch, require("torch")):
        _, mean = library.var_mean(library.tensor(rows), 1)
        np.testing.assert_array_equal(mean.numpy(), [np.nan, inf, np.nan, np.nan])


def test_a_variance_far_from_0_keeps_its_digits() -> None:
    x = glasstorch.tensor([10000.0, 10000.5, 10001.0])
    assert x.var().item() == 0.25


def test_the_variance_of_complex_numbers_is_real() -> None:
    x = glasstorch.tensor([1 + 1j, 3 - 1j])
    assert x.var().dtype is glasstorch.float32
    assert x.var().item() == 4


def test_a_hash_is_the_exclusive_or_of_64_bits() -> None:
    bits = np.array([1.5, -0.0], np.float64).view(np.uint64)
    assert glasstorch.tensor([1.5, -0.0]).hash_tensor().item() == bits[0] ^ bits[1]
    assert glasstorch.tensor([-3], dtype=glasstorch.int8).hash_tensor().item() == 2**64 - 3
    assert glasstorch.tensor([[5, 3], [5, 8]]).hash_tensor(0, keepdim=True).tolist() == [[0, 11]]
    assert glasstorch.zeros(3, 0).hash_tensor(0).shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_are_as_exact_as_pytorchs(require: Require, dtype: str, name: str) -> None:
    data = np.random.default_rng(2).uniform(0.9, 1.1, 1000)
    ours, theirs = (
        getattr(library, name)(library.from_numpy(data).to(getattr(library, dtype)), 0).to(library.float64).numpy()
        for library in (glasstorch, require("torch"))
    )
    np.testing.assert_allclose(ours, theirs, rtol={"float32": 1e-6, "float16": 4e-3, "bfloat16": 3e-2}[dtype])


def test_a_running_sum_in_place_is_in_its_own_dtype() -> None:
    x = glasstorch.tensor([1, 2, 3], dtype=glasstorch.int32)
    assert x.cumsum_(0) is x
    assert (x.tolist(), x.dtype) == ([1, 3, 6], glasstorch.int32)
    assert x.cumprod(0).dtype is glasstorch.int64


ZEROS = [[2.0, 0.0, 3.0], [0.0, 0.0, 1.0], [1.0, 2.0, 4.0]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.prod(), lambda x: x.prod(0), lambda x: x.prod(1, True), lambda x: x.cumprod(0),
        lambda x: x.cumprod(-1),
    ],
)  # fmt: skip
def test_products_with_zeros_are_differentiated_without_dividing(function: Callable[..., Any]) -> None:
    x = glasstorch.tensor(ZEROS, dtype=glasstorch.float64, requires_grad=True)
    assert gradcheck(function, [x])
    assert gradgradcheck(function, [x])


def test_the_gradient_of_a_deviation_of_equal_elements_is_0() -> None:
    x = glasstorch.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("shift", [0.0, 1e4, float("-inf"), float("inf")])
def test_logsumexp_does_not_overflow(require: Require, shift: float) -> None:
    ours, theirs = (
        library.logsumexp(library.tensor([[1.0, 2.0], [3.0, 4.0]]) + shift, 1).numpy()
        for library in (glasstorch, require("torch"))
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.tensor([1, 2]).var(), lambda t: t.tensor([True]).std(), lambda t: t.tensor([1.0]).cumsum(1),
        lambda t: t.tensor([1.0]).prod(1),
        lambda t: t.prod(t.ones(2), 0, dtype=t.float64, out=t.empty((), dtype=t.int64)),
        lambda t: t.var(t.ones(2), [0], out=t.empty((), dtype=t.int64)), lambda t: t.hash_tensor(t.ones(2), mode=1),
        lambda t: t.hash_tensor(t.ones(0)), lambda t: t.hash_tensor(t.ones(0), 0),
        lambda t: t.hash_tensor(t.ones(1) * 1j),
        lambda t: t.hash_tensor(t.ones(2), out=t.tensor(0)), lambda t: t.hash_tensor(t.ones(2, 2), [0, 0]),
        lambda t: t.aminmax(t.ones(0)), lambda t: t.aminmax(t.ones(0), dim=0), lambda t: t.aminmax(t.ones(1) * 1j),
        lambda t: t.aminmax(t.tensor(1j), dim=0), lambda t: t.aminmax(t.ones(2), dim=1),
        lambda t: t.aminmax(t.ones(2), out=(t.tensor(0), t.tensor(0))),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_the_variance_of_nothing_warns_of_degrees_of_freedom_only(torch: Any, dtype: str) -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0") as caught:
        found = torch.zeros(0, 2, dtype=getattr(torch, dtype)).var(0)
    assert found.isnan().all()
    assert all("degrees of freedom" in str(warning.message) for warning in caught)
