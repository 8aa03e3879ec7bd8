"""Are factors of matrices, and what is made of them, PyTorch's, with its refusals, its warnings and its gradients?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import linalg
from glasstorch.autograd import gradcheck, gradgradcheck
from glasstorch.core import warn_once
from tests.refusals import same_refusal

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(12)


def matrix(*shape: int, dtype: str = "float64") -> Any:
    values = RANDOM.normal(size=shape) + (1j * RANDOM.normal(size=shape) if dtype.startswith("complex") else 0)
    return glasstorch.from_numpy(np.asarray(values, dtype))


# Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 3), (2, 3, 5), (0, 3, 3), (3, 0), (2, 0, 0)])
def test_the_product_of_permutation_and_triangles_is_the_matrix(shape: Sequence[int], dtype: str) -> None:
    x = matrix(*shape, dtype=dtype)
    for found in (linalg.lu(x), glasstorch.lu_unpack(*linalg.lu_factor(x))):
        np.testing.assert_allclose((found.P @ found.L @ found.U).numpy(), x.numpy(), atol=1e-5)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_system_is_solved_with_the_ldl_decomposition(dtype: str, hermitian: bool) -> None:
    x, b = matrix(2, 4, 4, dtype=dtype), matrix(4, 2, dtype=dtype)
    x = x + (x.mH if hermitian else x.mT)
    solution = linalg.ldl_solve(*linalg.ldl_factor(x, hermitian=hermitian), b, hermitian=hermitian)
    np.testing.assert_allclose((x @ solution).numpy(), np.broadcast_to(b.numpy(), (2, 4, 2)), atol=1e-10)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_inverse_comes_from_the_cholesky_triangle(dtype: str, upper: bool) -> None:
    x = matrix(2, 3, 3, dtype=dtype)
    x = x @ x.mH + glasstorch.eye(3, dtype=x.dtype)
    factor, b = linalg.cholesky(x, upper=upper), matrix(3, 2, dtype=dtype)
    np.testing.assert_allclose((glasstorch.cholesky_inverse(factor, upper) @ x).numpy(), [np.eye(3)] * 2, atol=1e-10)
    np.testing.assert_allclose((x @ b.cholesky_solve(factor, upper)).numpy(), [b.numpy()] * 2, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_reflections_give_the_orthogonal_factor(dtype: str) -> None:
    x, b = matrix(2, 4, 3, dtype=dtype), matrix(2, 4, 2, dtype=dtype)
    a, tau = glasstorch.geqrf(x)
    q = linalg.householder_product(a, tau)
    np.testing.assert_allclose((q @ a.triu()[..., :3, :]).numpy(), x.numpy(), atol=1e-12)
    back = glasstorch.ormqr(a, tau, glasstorch.ormqr(a, tau, b), transpose=True)
    np.testing.assert_allclose(back.numpy(), b.numpy(), atol=1e-12)


# As PyTorch ---------------------------------------------------------------------------------------------------------

CALLS = [
    lambda t, x, s, b: t.cholesky(s), lambda t, x, s, b: s.cholesky(True), lambda t, x, s, b: t.cholesky_inverse(s),
    lambda t, x, s, b: t.cholesky_solve(b, s), lambda t, x, s, b: t.cholesky_solve(b[0], s, True),
    lambda t, x, s, b: t.geqrf(x), lambda t, x, s, b: t.geqrf(x.mT), lambda t, x, s, b: t.linalg.lu_factor(x),
    lambda t, x, s, b: t.linalg.lu_factor_ex(x.mT), lambda t, x, s, b: t.linalg.lu(x), lambda t, x, s, b: t.lu(x),
    lambda t, x, s, b: x.lu(get_infos=True),
    lambda t, x, s, b: t.lu_unpack(*t.linalg.lu_factor(x)),
    lambda t, x, s, b: t.lu_unpack(*t.linalg.lu_factor(x), unpack_data=False),
    lambda t, x, s, b: t.lu_unpack(*t.linalg.lu_factor(x), unpack_pivots=False),
    lambda t, x, s, b: t.lu_solve(b, *t.linalg.lu_factor(s)),
    lambda t, x, s, b: t.linalg.ldl_factor(s + x[:, :3].mT), lambda t, x, s, b: t.linalg.ldl_factor_ex(s),
    lambda t, x, s, b: t.qr(x), lambda t, x, s, b: t.qr(x, False), lambda t, x, s, b: t.svd(x)[1],
    lambda t, x, s, b: t.svd(x, compute_uv=False), lambda t, x, s, b: t.orgqr(*t.geqrf(x)),
    lambda t, x, s, b: t.matrix_exp(s), lambda t, x, s, b: s.inverse(), lambda t, x, s, b: s.slogdet(),
    lambda t, x, s, b: s.det(), lambda t, x, s, b: t.lu(x, out=(t.empty(0), t.empty(0, dtype=t.int32))),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_values_sizes_strides_dtypes_and_names_are_pytorchs(require: Require, call: Callable[..., Any]) -> None:
    torch = require("torch")
    x, b = RANDOM.normal(size=(2, 4, 3)).astype("float32"), RANDOM.normal(size=(2, 3, 2)).astype("float32")
    s = x.mT @ x + np.eye(3, dtype="float32")
    found = []
    for library in (glasstorch, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(call(library, *(library.from_numpy(value.copy()) for value in (x, s, b))))
    ours, theirs = (list(r) if isinstance(r, tuple) else [r] for r in found)
    assert type(found[0]).__name__ == type(found[1]).__name__
    assert [(tuple(r.shape), r.stride(), repr(r.dtype)) for r in ours] == [
        (tuple(r.shape), r.stride(), repr(r.dtype)) for r in theirs
    ]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-3, atol=1e-4)


def test_what_has_a_newer_name_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warn_once, "_given", set())
    x = glasstorch.eye(2)
    factors = linalg.lu_factor(x)
    for name, arguments in (
        ("cholesky", (x,)), ("qr", (x,)), ("lu", (x,)), ("lu_solve", (x, *factors)), ("triangular_solve", (x, x)),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match=rf"torch\.{name} is deprecated in favor of torch\.linalg"):
            getattr(glasstorch, name)(*arguments)
        getattr(glasstorch, name)(*arguments)


REFUSED = [
    *(lambda t, f=f: getattr(t, f)(t.ones(3)) for f in ("cholesky", "cholesky_inverse", "geqrf", "matrix_exp", "svd")),
    *(lambda t, f=f: getattr(t, f)(t.ones(2, 3)) for f in ("cholesky", "cholesky_inverse", "matrix_exp", "inverse")),
    *(
        lambda t, f=f: getattr(t, f)(t.ones(2, 2, dtype=t.int64))
        for f in ("cholesky", "cholesky_inverse", "geqrf", "matrix_exp", "svd", "qr")
    ),
    *(
        lambda t, f=f, shape=shape: getattr(t.linalg, f)(t.ones(*shape, dtype=t.int64))
        for f in ("lu", "lu_factor", "lu_factor_ex", "ldl_factor_ex")
        for shape in ((3,), (2, 2))
    ),
    *(lambda t, f=f: getattr(t, f)(t.ones(2, 2).half()) for f in ("cholesky", "geqrf", "svd", "qr")),
    lambda t: t.cholesky(-t.ones(2, 2)), lambda t: t.cholesky(-t.ones(2, 2, 2)),
    lambda t: t.cholesky_inverse(t.zeros(2, 2)), lambda t: t.cholesky_inverse(t.zeros(2, 2, 2)),
    lambda t: t.linalg.lu_factor(t.zeros(2, 2)), lambda t: t.linalg.lu_factor(t.zeros(3, 2, 2)),
    lambda t: t.linalg.lu_factor_ex(t.zeros(2, 2), check_errors=True),
    lambda t: t.linalg.lu_factor(t.ones(3, 3), pivot=False), lambda t: t.linalg.lu(t.ones(3, 3), pivot=False),
    lambda t: t.linalg.ldl_factor(t.ones(2, 3)), lambda t: t.linalg.ldl_factor(t.ones(2, 2).half()),
    lambda t: t.lu_unpack(t.ones(3), t.ones(3, dtype=t.int32)), lambda t: t.lu_unpack(t.ones(3, 3), t.ones(3)),
    lambda t: t.lu_unpack(t.ones(3, 3), t.tensor([1, 2, 5], dtype=t.int32)),
    lambda t: t.linalg.householder_product(t.ones(3), t.ones(3)),
    lambda t: t.linalg.householder_product(t.ones(2, 3), t.ones(2)),
    lambda t: t.linalg.householder_product(t.ones(3, 2), t.ones(3)),
    lambda t: t.linalg.householder_product(t.ones(2, 3, 2), t.ones(3, 2)),
    lambda t: t.linalg.householder_product(t.ones(3, 2), t.ones(2).double()),
    lambda t: t.linalg.householder_product(t.ones(3, 2), t.ones(1, 2)),
    lambda t: t.linalg.householder_product(t.ones(3, 2).half(), t.ones(2).half()),
    lambda t: t.cholesky(t.eye(3), out=t.empty(0, dtype=t.int64)),
    lambda t: t.linalg.lu_factor(t.eye(3), out=(t.empty(0), t.empty(0, dtype=t.int64))),
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_refusal(require("torch"), call)


def test_pivots_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"of shape \[3\], but got shape \[2\]"):
        glasstorch.lu_unpack(glasstorch.ones(3, 3), glasstorch.ones(2, dtype=glasstorch.int32))


@pytest.mark.parametrize("function", [linalg.ldl_factor, lambda x: linalg.ldl_factor_ex(x, check_errors=True)])
def test_a_singular_block_of_ldl_is_refused_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError, match=r"\(Batch element 1\): The diagonal block at 1 is exactly singular"):
        function(glasstorch.stack([glasstorch.eye(2), glasstorch.zeros(2, 2)]))


@pytest.mark.parametrize(("out", "message"), [((), "of 2 elements but got 0"), (1, "must be tuple of Tensors")])
def test_lu_refuses_an_out_that_is_no_pair(out: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        glasstorch.lu(glasstorch.eye(2), out=out)


# Gradients ------------------------------------------------------------------------------------------------------------

GRADIENTS: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda a: linalg.lu(a)[1:], [(2, 3, 3)]), (lambda a: linalg.lu(a)[1:], [(4, 2)]),
    (lambda a: linalg.lu(a)[1:], [(2, 4)]), (lambda a: linalg.lu(a)[1], [(3, 3)]),
    (lambda a: linalg.lu_factor(a)[0], [(4, 3)]), (lambda a: linalg.lu_factor(a)[0], [(2, 2, 3)]),
    (lambda a: glasstorch.lu_unpack(a, glasstorch.tensor([2, 2], dtype=glasstorch.int32))[1:], [(3, 2)]),
    (lambda a: glasstorch.lu_unpack(a, glasstorch.tensor([2, 2], dtype=glasstorch.int32))[2], [(2, 3)]),
    (lambda a: glasstorch.linalg.cholesky(a @ a.mH + 2 * glasstorch.eye(3)), [(2, 3, 3)]),
    (lambda a, t: linalg.householder_product(a, t), [(4, 3), (3,)]),
    (lambda a, t: linalg.householder_product(a, t), [(2, 3, 2), (2, 1)]),
    (linalg.matrix_exp, [(2, 3, 3)]), (linalg.matrix_exp, [(1, 1)]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("function", "shapes"), GRADIENTS)
def test_gradients_are_those_of_finite_differences(function: Callable[..., Any], shapes: Any, dtype: str) -> None:
    inputs = [matrix(*shape, dtype=dtype).requires_grad_() for shape in shapes]
    assert gradcheck(function, inputs)
    if dtype == "float64":
        assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_a_cholesky_triangle_are_those_of_finite_differences(dtype: str, upper: bool) -> None:
    factor, b = matrix(2, 3, 3, dtype=dtype).requires_grad_(), matrix(3, 2, dtype=dtype).requires_grad_()

    def triangle(x: Any) -> Any:
        part = x.tril(-1) + 3 * glasstorch.eye(3, dtype=x.dtype)
        return part.mH if upper else part

    for function, inputs in (
        (lambda f, b: glasstorch.cholesky_solve(b, triangle(f), upper), [factor, b]),
        (lambda f: glasstorch.cholesky_inverse(triangle(f), upper), [factor]),
    ):
        assert gradcheck(function, inputs)
        assert gradgradcheck(function, inputs)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("linalg_ldl_factor_ex", lambda x: linalg.ldl_factor(x)[0]),
        ("linalg_ldl_solve", lambda x: linalg.ldl_solve(x, glasstorch.tensor([1, 2], dtype=glasstorch.int32), x)),
    ],
)  # fmt: skip
def test_what_has_no_derivative_says_so_on_the_way_back(name: str, call: Callable[..., Any]) -> None:
    x = glasstorch.eye(2).requires_grad_()
    with pytest.raises(RuntimeError, match=f"derivative for aten::{name} is not implemented"):
        call(x).sum().backward()


def test_the_phase_of_complex_singular_vectors_has_a_gradient_where_it_cancels() -> None:
    x = matrix(3, 3, dtype="complex128").requires_grad_()

    def invariant(x: Any) -> Any:
        u, _, vh = linalg.svd(x)
        return u[..., :2] @ vh[..., :2, :]

    assert gradcheck(invariant, [x])
