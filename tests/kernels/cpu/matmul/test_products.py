"""Are matrices of every dtype and layout multiplied right, and what is not read or copied?"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import glasstorch

random = np.random.default_rng(0)
LAYOUTS = {
    "row-major": lambda a: a,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "columns apart": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "rows apart": lambda a: np.repeat(a, 2, 0)[::2],
    "one row": lambda a: np.broadcast_to(a[:1], a.shape),
}


def given(torch: Any, array: Any, layout: str) -> Any:
    """The array as a tensor laid out in that way: views are taken of writable memory."""
    arranged = LAYOUTS[layout](array)
    if layout == "one row":
        return torch.from_numpy(array[:1].copy()).expand(array.shape), arranged
    return torch.from_numpy(arranged), arranged


@pytest.mark.parametrize(("left", "right"), [*itertools.product(LAYOUTS, LAYOUTS)])
def test_any_layout_is_multiplied(torch: Any, left: str, right: str) -> None:
    a, x = given(torch, random.standard_normal((5, 7)), left)
    b, y = given(torch, random.standard_normal((7, 3)), right)
    np.testing.assert_allclose((a @ b).numpy(), x @ y)
    np.testing.assert_allclose(torch.addmm(torch.ones(3).double(), a, b).numpy(), x @ y + 1)
    np.testing.assert_allclose((a @ b[:, 0]).numpy(), x @ y[:, 0])
    assert (a @ b).is_contiguous()


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_empty_matrices(torch: Any, shape: tuple[int, int, int]) -> None:
    n, k, m = shape
    result = torch.addmm(torch.ones(m), torch.ones(n, k), torch.ones(k, m), beta=2)
    assert result.tolist() == [[2.0 + k] * m] * n
    assert torch.mm(torch.ones(n, k), torch.ones(k, m)).tolist() == [[float(k)] * m] * n
    assert torch.mv(torch.ones(n, k), torch.ones(k)).tolist() == [float(k)] * n


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("size", [3, 40])
def test_integers_wrap_around(torch: Any, dtype: str, size: int) -> None:
    """Small and large matrices; magnitudes whose sums float64 represents exactly, and others."""
    limit = min(np.iinfo(dtype).max, 2**62)
    for highest in (5, limit):
        a = random.integers(0, highest, (size, size)).astype(dtype)
        b = random.integers(0, highest, (size, size)).astype(dtype)
        exact = (a.astype(object) @ b.astype(object)) % 2**64
        wanted = exact.astype(np.uint64).astype(dtype)
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        assert (x @ y).tolist() == wanted.tolist()
        assert torch.bmm(x[None], y[None]).tolist() == [wanted.tolist()]
        assert torch.dot(x[0], y[:, 0]).tolist() == wanted[0, 0]
        assert torch.mv(x, y[:, 0]).tolist() == wanted[:, 0].tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_multiplied_in_float32(torch: Any, dtype: str) -> None:
    a = torch.ones(2, 4096).to(getattr(torch, dtype))
    assert (a @ a.t()).tolist() == [[4096.0] * 2] * 2
    assert (a @ a[0]).tolist() == [4096.0] * 2
    assert torch.addmm(a[:, :2], a, a.t(), beta=-4096).tolist() == [[0.0] * 2] * 2
    assert torch.mm(a, a.t(), out=torch.empty(0).to(a.dtype)).dtype == a.dtype


def test_what_beta_or_alpha_0_leaves_out_is_not_read(torch: Any) -> None:
    bad, good = torch.full((2, 2), math.nan), torch.ones(2, 2)
    assert torch.addmm(bad, good, good, beta=0).tolist() == [[2.0] * 2] * 2
    assert torch.addmm(good, bad, good, alpha=0, beta=3).tolist() == [[3.0] * 2] * 2


def test_factors_of_integers_are_truncated(torch: Any) -> None:
    x = torch.ones(2, 2).long()
    assert torch.addmm(x, x, x, beta=0.9, alpha=2.5).tolist() == [[4] * 2] * 2


@pytest.mark.parametrize("bias", [(), (1,), (4,), (1, 4), (2, 1), (2, 4)])
def test_a_bias_is_broadcast(torch: Any, bias: tuple[int, ...]) -> None:
    b = random.standard_normal(bias)
    x, y = random.standard_normal((2, 3)), random.standard_normal((3, 4))
    for beta, alpha in ((1, 1), (2, 1), (1, -0.5)):
        result = torch.addmm(*map(torch.from_numpy, map(np.asarray, (b, x, y))), beta=beta, alpha=alpha)
        np.testing.assert_allclose(result.numpy(), beta * b + alpha * (x @ y))


def test_out_may_have_any_layout_and_be_an_input(torch: Any) -> None:
    x = torch.arange(9.0).reshape(3, 3)
    wanted = (x.numpy() @ x.numpy()).tolist()
    for out in (torch.empty(0), torch.empty(3, 3).t(), torch.empty(6, 6)[::2, ::2]):
        assert torch.mm(x, x, out=out) is out
        assert out.tolist() == wanted
    bias = x.clone()
    assert torch.addmm(bias, x, x, out=bias).tolist() == (x.numpy() @ x.numpy() + x.numpy()).tolist()
    assert x.clone().addmm_(x, x, beta=0).tolist() == wanted


def test_a_product_may_be_written_over_an_operand() -> None:
    # PyTorch hands the same memory to the BLAS, which may read what it has written: its result differs from run to run.
    x = glasstorch.arange(9.0).reshape(3, 3)
    wanted = (x.numpy() @ x.numpy()).tolist()
    assert glasstorch.mm(x, x, out=x).tolist() == wanted


def test_a_product_with_infinity_warns_of_nothing(torch: Any) -> None:
    x, zero = torch.full((2, 2), math.inf), torch.zeros(2, 2)
    assert str((x @ zero).tolist()) == str(torch.addmm(zero, x, zero).tolist()) == str([[math.nan] * 2] * 2)
    assert str(torch.dot(x[0], zero[0]).tolist()) == "nan"


PRODUCTS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "mm": (glasstorch.mm, [(2, 3), (3, 4)]),
    "bmm": (glasstorch.bmm, [(2, 2, 3), (2, 3, 2)]),
    "mv": (glasstorch.mv, [(2, 3), (3,)]),
    "dot": (glasstorch.dot, [(3,), (3,)]),
    "addmm": (lambda *t: glasstorch.addmm(*t, beta=0.5, alpha=2), [(4,), (2, 3), (3, 4)]),
    "addmm with a column": (glasstorch.addmm, [(2, 1), (2, 3), (3, 4)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients_twice(name: str) -> None:
    function, shapes = PRODUCTS[name]
    inputs = [glasstorch.from_numpy(random.standard_normal(shape)).requires_grad_() for shape in shapes]
    assert glasstorch.autograd.gradcheck(function, inputs)
    assert glasstorch.autograd.gradgradcheck(function, inputs)
