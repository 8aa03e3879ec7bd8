"""Are decompositions and solutions right, laid out as PyTorch's, and refused as there?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import linalg
from glasstorch.autograd import gradcheck, gradgradcheck

Require = Callable[[str], Any]
Array = np.ndarray[Any, Any]
DTYPES = ["float32", "float64", "complex64", "complex128"]
RANDOM = np.random.default_rng(6)
CLOSE = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-11, "complex128": 1e-11}


def matrix(*shape: int, dtype: str = "float64") -> Any:
    values = RANDOM.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * RANDOM.normal(size=shape)
    return glasstorch.from_numpy(values.astype(dtype))


def positive(*shape: int, dtype: str = "float64") -> Any:
    values = matrix(*shape, dtype=dtype)
    return values @ values.mH + glasstorch.from_numpy(np.eye(shape[-1]).astype(dtype))


def close(one: Any, other: Any) -> None:
    tolerance = CLOSE[one.dtype.name]
    np.testing.assert_allclose(one.resolve_conj().numpy(), other.resolve_conj().numpy(), tolerance, tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
def test_the_triangle_of_cholesky_gives_the_matrix(dtype: str, upper: bool) -> None:
    x = positive(2, 3, 3, dtype=dtype)
    triangle = linalg.cholesky(x, upper=upper)
    close(triangle.mH @ triangle if upper else triangle @ triangle.mH, x)
    close(triangle, triangle.triu() if upper else triangle.tril())


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_inverse_undoes_the_matrix(dtype: str) -> None:
    x = matrix(2, 3, 3, dtype=dtype)
    close(linalg.inv(x) @ x, glasstorch.from_numpy(np.eye(3).astype(dtype)).expand(2, 3, 3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinants_are_numpys(dtype: str) -> None:
    x = matrix(2, 3, 3, dtype=dtype)
    np.testing.assert_allclose(linalg.det(x).numpy(), np.linalg.det(x.numpy()), CLOSE[dtype], CLOSE[dtype])
    sign, logarithm = linalg.slogdet(x)
    np.testing.assert_allclose((sign * logarithm.exp()).numpy(), np.linalg.det(x.numpy()), CLOSE[dtype], CLOSE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigenvectors_take_the_matrix_apart(dtype: str, triangle: str) -> None:
    x = positive(2, 3, 3, dtype=dtype)
    noise = glasstorch.ones(3, 3).triu(1) if triangle == "L" else glasstorch.ones(3, 3).tril(-1)
    values, vectors = linalg.eigh(x + noise, triangle)  # the other triangle is not read
    close(vectors @ (values.unsqueeze(-1) * vectors.mH), x)
    assert bool((values.diff() >= 0).all())
    close(linalg.eigvalsh(x), values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_that_are_only_stretched_are_found_for_any_matrix(dtype: str) -> None:
    x = matrix(2, 3, 3, dtype=dtype)
    values, vectors = linalg.eig(x)
    assert values.is_complex()
    assert vectors.is_complex()
    close(x.to(values.dtype) @ vectors, vectors * values.unsqueeze(-2))
    close(linalg.eigvals(x), values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3), (0, 3)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_a_triangle_and_an_orthogonal_matrix_give_the_matrix(dtype: str, shape: tuple[int, ...], mode: str) -> None:
    x = matrix(*shape, dtype=dtype)
    q, r = linalg.qr(x, mode)
    close(q @ r, x)
    close(r, r.triu())
    close(linalg.qr(x, "r").R, linalg.qr(x, "reduced").R)
    assert linalg.qr(x, "r").Q.shape == (0,)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_singular_values_and_vectors_give_the_matrix(dtype: str, shape: tuple[int, ...], full: bool) -> None:
    x = matrix(*shape, dtype=dtype)
    u, s, vh = linalg.svd(x, full)
    k = s.shape[-1]
    close(u[..., :k] @ (s.unsqueeze(-1) * vh[..., :k, :]), x)
    close(linalg.svdvals(x), s)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_solution_solves(dtype: str, left: bool, turned: bool) -> None:
    a = matrix(2, 3, 3, dtype=dtype)
    b = matrix(3, 4, dtype=dtype) if left else matrix(4, 3, dtype=dtype)
    a = a.mT.contiguous().mT if turned else a
    x = linalg.solve(a, b, left=left)
    close(a @ x if left else x @ a, b.expand(2, *b.shape))


def test_a_solution_for_a_vector_is_a_vector() -> None:
    a, b = matrix(3, 3), matrix(3)
    close(a @ linalg.solve(a, b), b)
    batch, vectors = matrix(2, 3, 3), matrix(2, 3)
    close((batch @ linalg.solve(batch, vectors).unsqueeze(-1)).squeeze(-1), vectors)


def test_the_pseudo_inverse_and_the_rank_obey_tolerances() -> None:
    x = glasstorch.from_numpy(np.diag([4.0, 1.0, 0.01]))
    assert linalg.matrix_rank(x).item() == 3
    assert linalg.matrix_rank(x, rtol=0.01).item() == 2
    assert linalg.matrix_rank(x, atol=2.0).item() == 1
    assert linalg.matrix_rank(x, 2.0).item() == 1
    assert linalg.matrix_rank(x, glasstorch.tensor(0.5)).item() == 2
    assert linalg.matrix_rank(x, rtol=glasstorch.tensor(0.01), hermitian=True).item() == 2
    with pytest.raises(RuntimeError, match=r"^torch\.linalg\.matrix_rank: The input tensor input must"):
        linalg.matrix_rank(x[0])
    assert linalg.pinv(x, rtol=0.01)[2, 2].item() == 0
    assert linalg.pinv(x, 0.01)[2, 2].item() == 0
    assert linalg.pinv(x, glasstorch.tensor(0.01), hermitian=True)[2, 2].item() == 0
    assert linalg.pinv(x, atol=glasstorch.tensor(2.0))[1, 1].item() == 0
    close(linalg.pinv(x), linalg.inv(x))


@pytest.mark.parametrize("power", [-3, -1, 0, 1, 2, 5])
def test_a_power_is_a_product(power: int) -> None:
    x = matrix(2, 2)
    np.testing.assert_allclose(linalg.matrix_power(x, power).numpy(), np.linalg.matrix_power(x.numpy(), power))


@pytest.mark.parametrize("order", [1, -1, 2, -2, float("inf"), -float("inf"), "fro", "nuc"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_norms_of_matrices_are_numpys(order: Any, keepdim: bool) -> None:
    x = matrix(2, 3, 4)
    found = linalg.matrix_norm(x, order, (0, 2), keepdim)
    np.testing.assert_allclose(found.numpy(), np.linalg.norm(x.numpy(), order, (0, 2), keepdim))


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3, -1, float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_of_vectors_are_numpys(order: float, dtype: str) -> None:
    x = matrix(3, 4, dtype=dtype)
    found = linalg.vector_norm(x, order, 1)
    np.testing.assert_allclose(found.numpy(), np.linalg.norm(x.numpy(), order, 1), CLOSE[dtype])
    assert not found.is_complex()


# As PyTorch --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda L, x, r, b: L.cholesky(x @ x.mT), lambda L, x, r, b: L.cholesky_ex(x @ x.mT),
        lambda L, x, r, b: L.inv(x),
        lambda L, x, r, b: L.inv_ex(x), lambda L, x, r, b: L.eig(x),
        lambda L, x, r, b: L.eigh(x), lambda L, x, r, b: L.eigvalsh(x),
        lambda L, x, r, b: L.qr(r), lambda L, x, r, b: L.qr(r, "complete"), lambda L, x, r, b: L.qr(r, "r"),
        lambda L, x, r, b: L.svd(r), lambda L, x, r, b: L.svd(r.mT, False), lambda L, x, r, b: L.svdvals(r),
        lambda L, x, r, b: L.slogdet(x), lambda L, x, r, b: L.det(x), lambda L, x, r, b: L.solve(x, b),
        lambda L, x, r, b: L.solve(x, b.mT, left=False), lambda L, x, r, b: L.solve(x, b[..., 0]),
        lambda L, x, r, b: L.solve_ex(x, b),
    ],
)  # fmt: skip
def test_sizes_strides_dtypes_and_names_are_pytorchs(require: Require, call: Callable[..., Any]) -> None:
    torch = require("torch")
    values = [RANDOM.normal(size=shape).astype("float32") for shape in ((2, 3, 3), (2, 4, 3), (2, 3, 2))]
    found = [
        call(library.linalg, *(library.from_numpy(value.copy()) for value in values)) for library in (glasstorch, torch)
    ]
    ours, theirs = (list(r) if isinstance(r, tuple) else [r] for r in found)
    assert type(found[0]).__name__ == type(found[1]).__name__
    assert [(tuple(r.shape), r.stride(), repr(r.dtype)) for r in ours] == [
        (tuple(r.shape), r.stride(), repr(r.dtype)) for r in theirs
    ]


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.linalg.cholesky(t.tensor(SINGULAR) - 3), lambda t: t.linalg.cholesky(-t.ones(2, 1, 1)),
        lambda t: t.linalg.cholesky(t.ones(2, 2, dtype=t.int64)), lambda t: t.linalg.cholesky(t.ones(2, 3)),
        lambda t: t.linalg.cholesky(t.ones(3)), lambda t: t.linalg.cholesky(t.ones(2, 2, dtype=t.float16)),
        lambda t: t.linalg.inv(t.tensor(SINGULAR)), lambda t: t.linalg.inv(t.zeros(2, 2, 2)),
        lambda t: t.linalg.inv(t.ones(2, 2, dtype=t.int64)), lambda t: t.linalg.det(t.ones(2, 3)),
        lambda t: t.linalg.eigh(t.ones(2, 2), "X"), lambda t: t.linalg.eigh(t.ones(2, 2, dtype=t.int64)),
        lambda t: t.linalg.qr(t.ones(2, 2), "x"), lambda t: t.linalg.svd(t.ones(2, 2), driver="gesvd"),
        lambda t: t.linalg.solve(t.tensor(SINGULAR), t.ones(2)),
        lambda t: t.linalg.solve(t.stack([t.eye(2), t.tensor(SINGULAR)]), t.ones(2, 2, 1)),
        lambda t: t.linalg.solve(t.ones(3, 3), t.ones(2)),
        lambda t: t.linalg.solve(t.ones(3, 3), t.ones(3, dtype=t.float64)),
        lambda t: t.linalg.matrix_norm(t.ones(2, 2), 3), lambda t: t.linalg.matrix_norm(t.ones(2, 2), "x"),
        lambda t: t.linalg.vector_norm(t.ones(2, dtype=t.int64)),
        lambda t: t.linalg.vector_norm(t.ones(0), float("inf")),
        lambda t: t.linalg.vector_norm(t.ones(2), dtype=t.complex64),
        lambda t: t.linalg.matrix_power(t.ones(2, 3), 2), lambda t: t.linalg.matrix_rank(t.ones(2, 2, dtype=t.int64)),
        lambda t: t.linalg.cross(t.ones(2), t.ones(2)), lambda t: t.linalg.cross(t.ones(2, 3), t.ones(3)),
        lambda t: t.linalg.cross(t.ones(3), t.ones(3), out=t.ones(3).double()),
        lambda t: t.linalg.vecdot(t.ones(2), t.ones(2, dtype=t.int64)), lambda t: t.outer(t.ones(2), t.ones(2, 2)),
        lambda t: t.trace(t.ones(3)), lambda t: t.trace(t.ones(2, 2, dtype=t.bool)),
        lambda t: t.tensordot(t.ones(2, 3), t.ones(4, 2), 1), lambda t: t.tensordot(t.ones(2), t.ones(2).double(), 1),
        lambda t: t.tensordot(t.ones(2), t.ones(2), 2), lambda t: t.inner(t.ones(2), t.ones(3)),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    torch = require("torch")
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(Exception) as ours:
        call(glasstorch)
    assert isinstance(
        ours.value, NotImplementedError if isinstance(theirs.value, NotImplementedError) else RuntimeError
    )
    assert str(ours.value) == str(theirs.value)
    is_their_own = isinstance(theirs.value, torch.linalg.LinAlgError)
    assert isinstance(ours.value, linalg.LinAlgError) == is_their_own


# Gradients ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a: linalg.cholesky(a @ a.mT + 1), [(2, 3, 3)]),
        (lambda a: linalg.cholesky(a @ a.mT + 1, upper=True), [(3, 3)]),
        (lambda a: linalg.eig(a)[0].abs(), [(3, 3)]),
        (lambda a: linalg.eig(a)[1].abs(), [(3, 3)]),
        (lambda a: linalg.eigvals(a).abs(), [(2, 2, 2)]),
        (lambda a: linalg.eigh(a + a.mT)[0], [(3, 3)]),
        (lambda a: linalg.eigh(a + a.mT)[1].abs(), [(3, 3)]),
        (lambda a: linalg.eigvalsh(a + a.mT), [(2, 2, 2)]),
        (lambda a: linalg.svd(a, False)[0].abs(), [(4, 3)]),
        (lambda a: linalg.svd(a)[1], [(2, 4, 3)]),
        (lambda a: linalg.svd(a, False)[2].abs(), [(3, 4)]),
        (lambda a, b: linalg.solve(a, b), [(2, 3, 3), (3, 2)]),
        (lambda a, b: linalg.solve(a, b), [(3, 3), (3,)]),
        (lambda a, b: linalg.solve(a, b, left=False), [(3, 3), (2, 3)]),
        (lambda a: linalg.slogdet(a)[1], [(2, 3, 3)]),
        (lambda a: linalg.qr(a)[0], [(4, 3)]),
        (lambda a: linalg.qr(a)[1], [(2, 3, 3)]),
        (linalg.qr, [(2, 4)]),
        (linalg.pinv, [(2, 3)]),
        (linalg.pinv, [(3, 2)]),
        (lambda a: linalg.vector_norm(a, 0.5), [(3,)]),
        (lambda a: linalg.vector_norm(a, float("inf"), 0, True), [(3, 2)]),
    ],
)
def test_gradients_are_those_of_finite_differences(function: Callable[..., Any], shapes: list[Any]) -> None:
    inputs = [matrix(*shape).requires_grad_() for shape in shapes]
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def test_the_gradient_of_a_determinant_that_is_0_are_the_cofactors() -> None:
    x = glasstorch.tensor(SINGULAR, dtype=glasstorch.float64, requires_grad=True)
    linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4, -2], [-2, 1]], rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "values", "wanted"),
    [
        (lambda t, x: t.logdet(x), SINGULAR, [[-np.inf, np.inf], [np.inf, -np.inf]]),
        (lambda t, x: t.linalg.slogdet(x)[1], [[0.0]], [[np.inf]]),
        (
            lambda t, x: t.logdet(x).sum(),
            [SINGULAR, [[1.0, 0.0], [0.0, 2.0]]],
            [[[-np.inf, np.inf], [np.inf, -np.inf]], [[1.0, 0.0], [0.0, 0.5]]],
        ),
        (lambda t, x: t.linalg.qr(x)[1].sum(), [[0.0]], [[np.nan]]),
        (lambda t, x: t.linalg.solve_ex(x, x)[0].sum(), SINGULAR, [[np.nan] * 2] * 2),
        (lambda t, x: t.linalg.cholesky_ex(x)[0].sum(), [[0.0]], [[np.nan]]),
    ],
)
def test_a_singular_matrix_stops_no_gradients(torch: Any, function: Any, values: Any, wanted: Any) -> None:
    x = torch.tensor(values, requires_grad=True)
    function(torch, x).backward()
    found = x.grad.numpy()
    if np.isnan(wanted).all():
        assert not np.isfinite(found).all()
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("shape", "mode"), [((2, 4, 3), "r"), ((4, 3), "complete")])
def test_the_gradient_of_qr_is_refused_where_it_depends_on_what_is_not_there(shape: Any, mode: str) -> None:
    _, r = linalg.qr(matrix(*shape).requires_grad_(), mode)
    with pytest.raises(NotImplementedError, match=r"[Tt]he .* is not (computed|differentiable)"):
        r.sum().backward()


def test_the_gradients_of_complex_matrices_are_those_of_finite_differences() -> None:
    x = matrix(3, 3, dtype="complex128").requires_grad_()
    assert gradcheck(lambda x: linalg.slogdet(x)[0], [x])
    assert gradcheck(lambda x: linalg.slogdet(x)[1], [x])
    assert gradcheck(linalg.det, [x])
    assert gradcheck(linalg.inv, [x])
    assert gradcheck(lambda x: linalg.cholesky(x @ x.mH).abs(), [x])
    assert gradcheck(lambda x: linalg.solve(x, x.mH), [x])
    assert gradcheck(lambda x: linalg.qr(x)[1], [x])
    assert gradcheck(linalg.pinv, [x])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32"])
def test_a_contracted_dimension_of_size_1_stands_for_all_in_the_dtype_of_the_tensors(dtype: str) -> None:
    def a(*shape: int) -> Any:
        return glasstorch.arange(shape[0] * shape[1]).view(shape).to(getattr(glasstorch, dtype))

    for x, y, dims in ((a(3, 1), a(2, 3), ([1, 0], [0, 1])), (a(2, 3), a(1, 3), ([0, 1], [0, 1]))):
        found = glasstorch.tensordot(x, y, dims)
        assert str(found.dtype) == f"torch.{dtype}"
        first, second = (np.array(t.numpy(), np.int64).transpose(d) for t, d in zip((x, y), dims, strict=True))
        assert found.item() == (first * second).sum()
