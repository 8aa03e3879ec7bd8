"""Are norms, and tensors of limited norm, PyTorch's: in pieces and blocks, along each dimension, and of nothing?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
SHAPES = [(3077,), (3, 1031), (5, 1024), (2, 3, 2048), (4, 7)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_long_vectors_have_pytorchs_norm(require: Require, shape: Any, dtype: str) -> None:
    torch = require("torch")
    data = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for dim in (None, 0, -1):
        for keepdim in (False, True):
            ours, theirs = (
                library.linalg.vector_norm(library.from_numpy(data.copy()), 2, dim, keepdim).numpy()
                for library in (glasstorch, torch)
            )
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-12 if dtype == "float64" else 4e-6)


@pytest.mark.parametrize("shape", [(3, 32769), (1638, 30), (4, 5, 6)])
@pytest.mark.parametrize("p", [1, 2, 0.5, float("inf")])
def test_parts_are_scaled_as_by_pytorch(require: Require, shape: Any, p: float) -> None:
    torch = require("torch")
    data = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    for dim in range(-len(shape), 0):
        limit = float(np.abs(data).max()) if p == float("inf") else float(np.abs(data).sum() / shape[dim])
        ours, theirs = (
            library.renorm(library.from_numpy(data.copy()), p, dim, limit * 0.9).numpy()
            for library in (glasstorch, torch)
        )
        np.testing.assert_allclose(ours, theirs, rtol=2e-5)  # PyTorch's 1- and 0.5-norms are less exact than ours


def test_parts_that_are_short_enough_are_left_alone_and_the_others_are_scaled_in_place() -> None:
    x = glasstorch.tensor([[3.0, 4.0], [0.3, 0.4]])
    assert x.renorm_(2, 0, 1.0) is x
    np.testing.assert_allclose(x.norm(2, 1).numpy(), [1, 0.5], rtol=1e-6)
    assert x[1].tolist() == glasstorch.tensor([0.3, 0.4]).tolist()


def test_a_part_of_almost_no_length_is_not_divided_by_nothing(require: Require) -> None:
    values = [[3e-7, 4e-7], [0.0, 0.0]]
    ours, theirs = (t.renorm(t.tensor(values), 2, 0, 1e-7).numpy() for t in (glasstorch, require("torch")))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_allclose(ours[0], [5e-8, 2e-7 / 3], rtol=1e-6)  # 1e-7 is added to the norm of 5e-7


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3)])
def test_nothing_is_scaled_to_nothing(shape: Any) -> None:
    assert glasstorch.zeros(shape).renorm(2, 0, 1.0).shape == shape


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.renorm(t.ones(2, 2), -1, 0, 1.0), lambda t: t.renorm(t.ones(2, 2), 1j, 0, 1.0),
        lambda t: t.renorm(t.ones(2, 2), 2, 0, -1.5), lambda t: t.renorm(t.ones(2, 2), 2, 0, 1j),
        lambda t: t.renorm(t.ones(2, 2), 2, 2, 1.0), lambda t: t.renorm(t.ones(2), 2, 0, 1.0),
        lambda t: t.renorm(t.ones(2, 2, dtype=t.int64), 2, 0, 1.0),
        lambda t: t.renorm(t.ones(2, 2), 2, 0, 1.0, out=t.ones(2, 2, dtype=t.float64)),
        lambda t: t.dist(t.ones(2, dtype=t.int64), t.ones(2, dtype=t.int64)), lambda t: t.dist(t.ones(2), t.ones(3)),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


NORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "vector": lambda t, x, dtype: t.linalg.vector_norm(x, -1, dtype=dtype),
    "norm": lambda t, x, dtype: t.norm(x, 2, dtype=dtype),
    "spectral": lambda t, x, dtype: t.linalg.matrix_norm(x, 2, dtype=dtype),
    "frobenius": lambda t, x, dtype: t.linalg.norm(x, "fro", dtype=dtype),
    "masked": lambda t, x, dtype: t.masked.norm(x, 2, 0, dtype=dtype),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize(
    ("given", "asked"),
    [("float32", "int64"), ("float32", "bool"), ("float64", "float32"), ("float16", "bfloat16"),
     ("float32", "complex64"), ("complex64", "float32"), ("complex128", "complex64")],
)  # fmt: skip
def test_a_norm_is_not_computed_in_a_dtype_that_holds_less(require: Require, name: str, given: str, asked: str) -> None:
    torch = require("torch")
    same_refusal(torch, lambda t: NORMS[name](t, t.ones(2, 2, dtype=getattr(t, given)), getattr(t, asked)))


def test_a_norm_may_be_computed_in_a_wider_dtype(torch: Any) -> None:
    x = torch.full((4,), 300.0, dtype=torch.float16)
    found = torch.linalg.vector_norm(x, 2, dtype=torch.float64)
    assert (repr(found.dtype), found.item()) == ("torch.float64", 600.0)
    assert repr(torch.linalg.vector_norm(x.float() * 1j, 2, dtype=torch.complex128).dtype) == "torch.float64"


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("p", [2, 1.5, 3, -2, 0.5])
def test_the_norm_of_one_element_is_its_size(require: Require, dtype: str, p: float) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        x = library.tensor([[1e-30], [2e30], [-3.0], [0.0]], dtype=getattr(library, dtype), requires_grad=True)
        lengths = library.linalg.vector_norm(x, p, 1)
        lengths.sum().backward()
        found.append([lengths.tolist(), x.grad.numpy()])
    (ours, slope), (theirs, wanted) = found
    assert ours == theirs
    np.testing.assert_allclose(slope, wanted, rtol=1e-6)


def test_the_distance_of_numbers_is_that_of_their_difference(torch: Any) -> None:
    x = torch.tensor([2e30])
    assert torch.dist(x, x * 0).item() == torch.norm(x, 3, 0).item() == torch.masked.norm(x, 2, 0).item() == x.item()
