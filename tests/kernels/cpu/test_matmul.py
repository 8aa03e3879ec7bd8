"""Are matrices of every dtype and layout multiplied right, added to a tensor as PyTorch does, and refused as there?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import DtypeError, DtypeNotImplementedError, ShapeError
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN = float("nan")
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


# Products added to a tensor ---------------------------------------------------------------------------------------

# name, sizes of the tensor that is added to, sizes of the factors
CASES = [
    ("addmv", (2,), (2, 3), (3,)),
    ("addr", (2, 3), (2,), (3,)),
    ("baddbmm", (2, 2, 2), (2, 2, 3), (2, 3, 2)),
    ("addbmm", (2, 2), (4, 2, 3), (4, 3, 2)),
]
BY_NAME = pytest.mark.parametrize(("name", "bias", "left", "right"), CASES, ids=[case[0] for case in CASES])


@BY_NAME
def test_nan_is_ignored_where_its_factor_is_zero(torch: Any, name: str, bias: Any, left: Any, right: Any) -> None:
    function = getattr(torch, name)
    x, a, b = torch.full(bias, NAN), torch.ones(left), torch.ones(right)
    assert not function(x, a, b, beta=0).isnan().any()
    if name not in (
        "addr",
        "baddbmm",
    ):  # which multiplies by alpha whatever it is, and PyTorch's loop for small ones too
        x = torch.ones(bias)
        assert function(x, a * NAN, b, alpha=0).tolist() == x.tolist()


@BY_NAME
@pytest.mark.parametrize("dtype", ["int64", "int8", "float16", "bfloat16", "complex64"])
def test_values_are_pytorchs(require: Require, name: str, bias: Any, left: Any, right: Any, dtype: str) -> None:
    torch = require("torch")
    random = np.random.default_rng(3)
    arrays = [random.integers(-3, 4, shape) for shape in (bias, left, right)]
    results = []
    for library in (glasstorch, torch):
        tensors = [library.tensor(array.tolist()).to(getattr(library, dtype)) for array in arrays]
        results.append(getattr(library, name)(*tensors, beta=2, alpha=3))
    assert results[0].dtype.name == str(results[1].dtype).removeprefix("torch.")
    assert results[0].tolist() == results[1].tolist()


@BY_NAME
def test_the_result_may_be_written_over_an_operand(torch: Any, name: str, bias: Any, left: Any, right: Any) -> None:
    x, a, b = (torch.arange(float(np.prod(shape))).reshape(shape) for shape in (bias, left, right))
    function = getattr(torch, name)
    expected = function(x, a, b, beta=2).tolist()
    assert function(x, a, b, beta=2, out=x) is x
    assert x.tolist() == expected


def test_bool_adds_with_or_and_multiplies_with_and(torch: Any) -> None:
    x, a, b = torch.tensor([[True, False]]), torch.tensor([True]), torch.tensor([False, False])
    assert torch.addr(x, a, b).tolist() == [[True, False]]
    assert torch.addr(x, a, ~b, beta=False).tolist() == [[True, True]]
    assert torch.addr(x, a, ~b, alpha=False).tolist() == [[True, False]]


def test_vdot_conjugates_what_stands_on_the_left(torch: Any) -> None:
    x, y = torch.tensor([1 + 2j]), torch.tensor([3 - 1j])
    assert torch.vdot(x, y).item() == 1 - 7j
    assert torch.vdot(x.conj(), y).item() == 5 + 5j
    assert torch.vdot(torch.tensor([2, 3]), torch.tensor([4, 5])).item() == 23


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t, o: t.addmv(o(3), o(3, 2), o(3)), ShapeError, "size mismatch, got input (3), mat (3x2), vec (3)"),
        (lambda t, o: t.addmv(o(2, 2), o(3, 2), o(2)), ShapeError, "vector + matrix @ vector expected, got 2, 2, 1"),
        (
            lambda t, o: t.addmv(o(3).double(), o(3, 2), o(2)),
            DtypeError,
            "addmv input tensors must have the same dtype, but got Double, Float, and Float",
        ),
        (lambda t, o: t.baddbmm(o(2, 3, 4), o(2, 3), o(2, 3, 4)), ShapeError, "batch1 must be a 3D tensor"),
        (
            lambda t, o: t.baddbmm(o(1, 2, 3, 4), o(2, 3, 2), o(2, 2, 4)),
            ShapeError,
            "the number of sizes provided (3) must be greater or equal to the number of dimensions in the tensor (4)",
        ),
        (
            lambda t, o: t.baddbmm(o(2, 3, 4).double(), o(2, 3, 2), o(2, 2, 4)),
            DtypeError,
            "Input dtypes must be the same, got: input double, batch1: float, batch2: float",
        ),
        (
            lambda t, o: t.baddbmm(o(2, 3, 4), o(2, 3, 2), o(2, 2, 4).double()),
            DtypeError,
            "expected scalar type Float but found Double",
        ),
        (
            lambda t, o: t.addbmm(o(3, 4), o(2, 3, 4), o(3, 4, 4)),
            ShapeError,
            "batch1 and batch2 must have same number of batches, got 2 and 3",
        ),
        (
            lambda t, o: t.addbmm(o(3, 4), o(2, 3, 4), o(2, 5, 4)),
            ShapeError,
            "Incompatible matrix sizes for bmm (3x4 and 5x4)",
        ),
        (
            lambda t, o: t.addbmm(o(3, 4), o(2, 3, 4).double(), o(2, 4, 4)),
            DtypeError,
            "mat1 and mat2 must have the same dtype, but got Double and Float",
        ),
        (lambda t, o: t.addr(o(3, 4), o(3, 1), o(4)), ShapeError, "addr: Expected 1-D argument vec1, but got 2-D"),
        (
            lambda t, o: t.addr(o(3, 4).long(), o(3).long(), o(4).long(), alpha=1.5),
            DtypeError,
            "For integral input tensors, argument alpha must not be a floating point number.",
        ),
        (
            lambda t, o: t.addmv(o(3).bool(), o(3, 2).bool(), o(2).bool()),
            DtypeNotImplementedError,
            "\"addmv_impl_cpu\" not implemented for 'Bool'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    torch: Any, call: Callable[..., Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error if torch is glasstorch else RuntimeError) as refused:
        call(torch, torch.ones)
    assert message in str(refused.value)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "int64"])
@pytest.mark.parametrize("factor", [1j, 1e300, True])
@pytest.mark.parametrize(("name", "bias", "left", "right"), [("addmm", (2, 2), (2, 2), (2, 2)), *CASES])
def test_a_factor_that_the_dtype_cannot_hold_is_refused(
    require: Require, name: str, bias: Any, left: Any, right: Any, factor: Any, dtype: str
) -> None:
    torch = require("torch")
    for keyword in ("beta", "alpha"):

        def call(library: Any, keyword: str = keyword) -> Any:
            tensors = (library.ones(shape).to(getattr(library, dtype)) for shape in (bias, left, right))
            return getattr(library, name)(*tensors, **{keyword: factor}).tolist()

        try:
            wanted = call(torch)
        except RuntimeError:
            same_refusal(torch, call)
        else:
            assert call(glasstorch) == wanted


def test_products_without_rows_and_columns_are_added(torch: Any) -> None:
    assert torch.addbmm(torch.ones(0, 0), torch.ones(0, 0, 0), torch.ones(0, 0, 0)).shape == (0, 0)
    assert torch.addbmm(torch.ones(2, 0), torch.ones(3, 2, 4), torch.ones(3, 4, 0)).shape == (2, 0)
