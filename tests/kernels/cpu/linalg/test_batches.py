"""Do many small matrices, which are handled together, give what each of them gives alone?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import linalg

RANDOM = np.random.default_rng(15)
COUNT = 20


def batch(*shape: int, dtype: str = "float64") -> Any:
    values = RANDOM.normal(size=(COUNT, *shape))
    if dtype.startswith("complex"):
        values = values + 1j * RANDOM.normal(size=(COUNT, *shape))
    return glasstorch.from_numpy(np.asarray(values, dtype))


def results(value: Any) -> list[Any]:
    return [r.resolve_conj().numpy() for r in (value if isinstance(value, tuple) else (value,))]


def triangle(x: Any, upper: bool) -> Any:
    part = (x + 3 * glasstorch.eye(x.shape[-1])).tril()
    return part.mH if upper else part


CASES: list[tuple[Callable[..., Any], tuple[int, ...]]] = [
    (lambda x, b: linalg.lu_factor_ex(x), (4, 4)), (lambda x, b: linalg.lu_factor_ex(x), (4, 3)),
    (lambda x, b: linalg.lu_factor_ex(x), (3, 4)), (lambda x, b: linalg.lu(x), (3, 3)),
    (lambda x, b: linalg.det(x), (4, 4)), (lambda x, b: linalg.slogdet(x), (4, 4)),
    (lambda x, b: linalg.inv(x), (4, 4)),
    (linalg.solve, (4, 4)), (lambda x, b: linalg.solve(x, b[..., 0]), (4, 4)),
    (lambda x, b: linalg.solve(x, b.mT, left=False), (4, 4)), (lambda x, b: linalg.cholesky(x @ x.mH), (3, 3)),
    (lambda x, b: linalg.cholesky(x @ x.mH, upper=True), (3, 3)), (lambda x, b: linalg.eigvalsh(x + x.mH), (3, 3)),
    (lambda x, b: linalg.eigh(x + x.mH)[1].abs(), (3, 3)), (lambda x, b: linalg.svdvals(x), (3, 5)),
    (lambda x, b: tuple(r.abs() for r in linalg.svd(x)), (4, 4)), (lambda x, b: linalg.qr(x, "r")[1].abs(), (4, 3)),
    (lambda x, b: tuple(r.abs() for r in linalg.qr(x)), (3, 4)),
    *((lambda x, b, u=upper: linalg.solve_triangular(triangle(x, u), b, upper=u), (4, 4)) for upper in (False, True)),
    (lambda x, b: linalg.solve_triangular(triangle(x, True), b.mT, upper=True, left=False), (4, 4)),
    (lambda x, b: linalg.solve_triangular(x / 4, b, upper=True, unitriangular=True), (4, 4)),
    *((lambda x, b, u=upper: glasstorch.cholesky_solve(b, triangle(x, u), u), (4, 4)) for upper in (False, True)),
    *((lambda x, b, a=adjoint: linalg.lu_solve(*linalg.lu_factor(x), b, adjoint=a), (4, 4))
      for adjoint in (False, True)),
    *((lambda x, b, a=adjoint: linalg.lu_solve(*linalg.lu_factor(x), b.mT, left=False, adjoint=a), (4, 4))
      for adjoint in (False, True)),
    (lambda x, b: glasstorch.geqrf(x), (4, 3)), (lambda x, b: glasstorch.geqrf(x), (3, 5)),
    *((lambda x, b, u=upper: glasstorch.cholesky_inverse(linalg.cholesky(x @ x.mH, upper=u), u), (4, 4))
      for upper in (False, True)),
    (lambda x, b: linalg.solve(x.mT, b.mT, left=False), (4, 4)),
    (lambda x, b: linalg.householder_product(*glasstorch.geqrf(x)), (4, 3)),
    (lambda x, b: linalg.householder_product(glasstorch.geqrf(x)[0], glasstorch.geqrf(x)[1][:, :2]), (4, 4)),
    *((lambda x, b, t=transpose: glasstorch.ormqr(*glasstorch.geqrf(x), b, True, t), (4, 3))
      for transpose in (False, True)),
    *((lambda x, b, t=transpose: glasstorch.ormqr(*glasstorch.geqrf(x), b.mT, False, t), (4, 4))
      for transpose in (False, True)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("function", "shape"), CASES)
def test_a_batch_is_each_of_its_matrices(function: Callable[..., Any], shape: tuple[int, ...], dtype: str) -> None:
    x, b = batch(*shape, dtype=dtype), batch(4, 2, dtype=dtype)
    together = results(function(x, b))
    alone = [results(function(x[i : i + 1], b[i : i + 1])) for i in range(COUNT)]
    for found, parts in zip(together, zip(*alone, strict=True), strict=True):
        np.testing.assert_allclose(found, np.concatenate(parts), rtol=1e-9, atol=1e-9)


def test_a_matrix_without_an_inverse_leaves_the_others_theirs() -> None:
    x = batch(3, 3)
    x[7] = 0
    inverse, info = linalg.inv_ex(x)
    assert info.nonzero().tolist() == [[7]]
    assert not inverse[7].isfinite().any()
    np.testing.assert_allclose((inverse @ x)[:7].numpy(), [np.eye(3)] * 7, atol=1e-9)
    solution, info = linalg.solve_ex(x, batch(3, 1))
    assert info.nonzero().tolist() == [[7]]
    assert not solution[:7].isnan().any()
    assert linalg.lu_factor_ex(x).info.tolist() == [int(i == 7) for i in range(COUNT)]


def test_a_matrix_without_a_cholesky_triangle_is_named() -> None:
    x = batch(3, 3)
    x = x @ x.mT
    x[7] = -glasstorch.eye(3)
    factor, info = linalg.cholesky_ex(x)
    assert info.nonzero().tolist() == [[7]]
    np.testing.assert_allclose((factor @ factor.mT)[:7].numpy(), x[:7].numpy(), atol=1e-9)
    with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 7\)"):
        linalg.cholesky(x)


def test_what_is_nearly_singular_is_solved_with_the_factors_that_were_found() -> None:
    random = np.random.default_rng(9)  # here LAPACK meets a zero that our elimination does not meet
    for _ in range(12):
        nearly = (random.integers(-2, 3, (5, 4)) @ random.integers(-2, 3, (4, 5))).astype("float32") * np.float32(0.1)
        others = 50 * np.eye(5, dtype="float32") + random.normal(size=(COUNT - 1, 5, 5)).astype("float32")
        x = glasstorch.from_numpy(np.concatenate([nearly[None], others]))
        found, info = linalg.solve_ex(x, glasstorch.ones(5, 1))
        assert bool(found[0].isfinite().all()) == (info[0] == 0)
        np.testing.assert_allclose((x @ found)[1:].numpy(), 1, rtol=1e-4)


@pytest.mark.parametrize("count", [1, COUNT])
def test_a_singular_matrix_is_divided_by_its_zeros(torch: Any, count: int) -> None:
    inf, nan = float("inf"), float("nan")
    x = torch.eye(2).repeat(count, 1, 1)
    x[count - 1] = 0
    assert str(torch.linalg.inv_ex(x).inverse[-1].tolist()) == str([[nan, nan], [nan, inf]])
    x[count - 1] = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    assert torch.linalg.inv_ex(x).inverse[-1].tolist() == [[-inf, inf], [inf, -inf]]
    assert not torch.linalg.solve_ex(x, torch.ones(2, 1)).result[-1].isfinite().any()


@pytest.mark.parametrize("count", [1, COUNT])
@pytest.mark.parametrize("size", [5, 70])
@pytest.mark.parametrize("upper", [False, True])
def test_nan_is_not_positive(torch: Any, count: int, size: int, upper: bool) -> None:
    x = torch.eye(size).repeat(count, 1, 1)
    x[count - 1, 2, 2] = float("nan")
    x[count - 1, 4, 4] = -1
    assert torch.linalg.cholesky_ex(x, upper=upper).info.tolist() == [0] * (count - 1) + [3]
    with pytest.raises(RuntimeError, match=r"leading minor of order 3 is not positive-definite"):
        torch.linalg.cholesky(x, upper=upper)


def test_a_cholesky_decomposition_that_stopped_before_a_nan_says_where(torch: Any) -> None:
    assert torch.linalg.cholesky_ex(torch.tensor([1.0, -1.0, float("nan")]).diag()).info.item() == 2


@pytest.mark.parametrize("count", [1, COUNT])
def test_a_triangle_with_a_zero_on_its_diagonal_is_named(count: int) -> None:
    x = glasstorch.eye(3).repeat(count, 1, 1)
    x[count - 1, 1, 1] = 0
    message = rf"\(Batch element {count - 1}\): The diagonal element 2 is zero"
    with pytest.raises(linalg.LinAlgError, match=message):
        glasstorch.cholesky_inverse(x)


@pytest.mark.parametrize("count", [1, COUNT])
def test_triangles_without_elements_have_inverses_without_any(torch: Any, count: int) -> None:
    assert torch.cholesky_inverse(torch.zeros(count, 0, 0)).shape == (count, 0, 0)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64", "complex128"])
def test_eigenvalues_grow_with_the_matrix(dtype: str) -> None:
    x = batch(3, 3, dtype=dtype)[0]
    values = linalg.eigvals(x).abs().sort().values
    for scale in (1e-30, 1e30) if dtype in ("float32", "complex64") else (1e-200, 1e200):
        scaled = linalg.eigvals(x * scale).abs().sort().values
        np.testing.assert_allclose(scaled.numpy() / scale, values.numpy(), rtol=1e-4)


def test_a_matrix_whose_eigenvalues_are_not_found_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def eig(array: Any) -> Any:
        if (array == 7).any():
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return found(array)

    found, x = np.linalg.eig, glasstorch.eye(2).repeat(2, 2, 1, 1)
    monkeypatch.setattr(np.linalg, "eig", eig)
    assert linalg.eigvals(x).shape == (2, 2, 2)
    x[1, 0, 0, 0] = 7
    with pytest.raises(linalg.LinAlgError, match=r"linalg\.eig: \(Batch element 2\): The algorithm failed to converge"):
        linalg.eigvals(x)
    with pytest.raises(linalg.LinAlgError, match=r"linalg\.eig: The algorithm failed to converge"):
        linalg.eigvals(x[1, 0])


@pytest.mark.parametrize("count", [1, COUNT])
@pytest.mark.parametrize("function", [linalg.svd, linalg.svdvals, linalg.pinv, linalg.matrix_rank])
def test_a_nan_has_no_singular_values(function: Callable[..., Any], count: int) -> None:
    x = glasstorch.ones(count, 2, 2)
    x[count - 1, 0, 0] = float("nan")
    message = rf"linalg.svd: \(Batch element {count - 1}\): .* because the input matrix contained non-finite values"
    with pytest.raises(linalg.LinAlgError, match=message):
        function(x)


@pytest.mark.parametrize("count", [1, COUNT])
@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (4, 2), (2, 4), (20, 20)])
def test_an_infinity_makes_the_singular_values_of_its_matrix_nan(torch: Any, shape: Any, count: int) -> None:
    x = torch.ones(count, *shape)
    x[count - 1, 0, 0] = float("-inf")
    left, values, right = torch.linalg.svd(x)
    assert values[-1].isnan().all()
    assert torch.linalg.svdvals(x)[-1].isnan().all()
    assert values[: count - 1].isfinite().all()
    for vectors in (left[-1], right[-1]):  # as good as any
        assert torch.equal(vectors @ vectors.mT, torch.eye(len(vectors)))
    assert torch.linalg.matrix_rank(x)[-1] == 0
    assert torch.equal(torch.linalg.pinv(x)[-1], torch.zeros(shape[::-1]))


def test_what_is_not_finite_has_no_eigenvalues() -> None:
    with pytest.raises(RuntimeError, match=r"torch\.linalg\.eig: input tensor should not contain infs or NaNs"):
        linalg.eig(glasstorch.full((2, 2), float("inf")))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_larger_matrices_are_what_their_parts_make(dtype: str) -> None:
    x = batch(20, 20, dtype=dtype)[:2]
    close = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    values, vectors = linalg.eig(x)
    np.testing.assert_allclose(
        (x.to(vectors.dtype) @ vectors).numpy(), (vectors * values.unsqueeze(-2)).numpy(), atol=close
    )
    values, vectors = linalg.eigh(x + x.mH)
    np.testing.assert_allclose(((x + x.mH) @ vectors).numpy(), (vectors * values.unsqueeze(-2)).numpy(), atol=close)
    u, s, vh = linalg.svd(x)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ vh).numpy(), x.numpy(), atol=close)
    for mode, wide in (("reduced", x[..., :9]), ("complete", x[..., :9]), ("reduced", x[:, :9])):
        q, r = linalg.qr(wide, mode)
        np.testing.assert_allclose((q @ r).numpy(), wide.numpy(), atol=close)
        np.testing.assert_allclose((q.mH @ q).numpy(), [np.eye(q.shape[-1])] * 2, atol=close)
