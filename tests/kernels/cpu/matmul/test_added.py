"""Are products added to a tensor as PyTorch adds them, in every dtype, and refused as there?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import DtypeError, DtypeNotImplementedError, ShapeError
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN = float("nan")
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
