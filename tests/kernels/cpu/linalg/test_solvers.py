"""Are systems solved as in PyTorch whose matrix is a triangle, is factored, or is not square?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import linalg
from glasstorch.autograd import gradcheck, gradgradcheck
from tests.refusals import same_refusal

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(13)
INT = glasstorch.int32


def matrix(*shape: int, dtype: str = "float64") -> Any:
    values = RANDOM.normal(size=shape) + (1j * RANDOM.normal(size=shape) if dtype.startswith("complex") else 0)
    return glasstorch.from_numpy(np.asarray(values, dtype))


# As PyTorch ---------------------------------------------------------------------------------------------------------

CALLS = [
    *(
        lambda t, x, s, b, u=upper, n=unitriangular: t.linalg.solve_triangular(s, b, upper=u, unitriangular=n)
        for upper in (False, True)
        for unitriangular in (False, True)
    ),
    lambda t, x, s, b: t.linalg.solve_triangular(s, b.mT, upper=True, left=False),
    lambda t, x, s, b: t.linalg.solve_triangular(s.mT, b[0], upper=False),
    lambda t, x, s, b: t.linalg.solve_triangular(s[0], b.mT.contiguous().mT, upper=False),
    lambda t, x, s, b: t.triangular_solve(b, s), lambda t, x, s, b: t.triangular_solve(b[0], s, False, True),
    lambda t, x, s, b: b.triangular_solve(s.mT, True, True, True),
    lambda t, x, s, b: t.linalg.lu_solve(*t.linalg.lu_factor(s), b),
    lambda t, x, s, b: t.linalg.lu_solve(*t.linalg.lu_factor(s[0]), b, adjoint=True),
    lambda t, x, s, b: t.linalg.lu_solve(*t.linalg.lu_factor(s), b[0].mT, left=False),
    lambda t, x, s, b: t.linalg.lu_solve(*t.linalg.lu_factor(s), b.mT, left=False, adjoint=True),
    lambda t, x, s, b: t.linalg.ldl_solve(*t.linalg.ldl_factor(s), b),
    lambda t, x, s, b: t.linalg.ldl_solve(*t.linalg.ldl_factor(s), b[0]),
    lambda t, x, s, b: t.ormqr(*t.geqrf(s), b), lambda t, x, s, b: t.ormqr(*t.geqrf(s), b, transpose=True),
    lambda t, x, s, b: t.ormqr(*t.geqrf(x), x.mT, False), lambda t, x, s, b: t.ormqr(*t.geqrf(x), x.mT, False, True),
    *(
        lambda t, x, s, b, d=driver, f=flip: t.linalg.lstsq(x.mT if f else x, b if f else x[..., :2], driver=d)
        for driver in (None, "gels", "gelsy", "gelsd", "gelss")
        for flip in (False, True)
    ),
    lambda t, x, s, b: t.linalg.lstsq(x, x[..., 0]), lambda t, x, s, b: t.linalg.lstsq(x[0], x[1]),
    *(lambda t, x, s, b, d=driver: t.linalg.lstsq(x, 2 + x[..., :2] ** 2, driver=d)
      for driver in ("gels", "gelsy", "gelsd", "gelss")),
    lambda t, x, s, b: t.linalg.lstsq(s * 0, b, driver="gelsd"),
    lambda t, x, s, b: t.linalg.lstsq(s, b, rcond=0.5, driver="gelsd"),
    lambda t, x, s, b: t.linalg.lstsq(x[:, :0], b[:, :0]), lambda t, x, s, b: t.linalg.lstsq(x[:0], x[:0]),
    lambda t, x, s, b: t.linalg.lstsq(x[..., :0], x), lambda t, x, s, b: t.linalg.lstsq(x * 0, x, driver="gelss"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("call", CALLS)
def test_values_sizes_strides_and_dtypes_are_pytorchs(require: Require, call: Callable[..., Any], dtype: str) -> None:
    torch = require("torch")
    x, b = (matrix(2, *shape, dtype=dtype).numpy() for shape in ((4, 3), (3, 2)))
    s = x.mT @ x + 2 * np.eye(3, dtype=dtype)
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
        np.testing.assert_allclose(one.resolve_conj().numpy(), other.resolve_conj().numpy(), rtol=2e-3, atol=2e-4)


REFUSED = [
    *(
        lambda t, a=a, b=b: t.linalg.solve_triangular(t.ones(*a), t.ones(*b), upper=True)
        for a, b in (((3,), (3, 2)), ((3, 3), (3,)), ((2, 3), (3, 2)), ((3, 3), (2, 2)), ((3, 3, 3), (2, 3, 2)))
    ),
    lambda t: t.linalg.solve_triangular(t.ones(3, 3), t.ones(3, 2), upper=True, left=False),
    lambda t: t.linalg.solve_triangular(t.ones(3, 3).half(), t.ones(3, 2).half(), upper=True),
    *(
        lambda t, f=f, a=a, b=b: getattr(t, f)(t.ones(*b), t.ones(*a))
        for f in ("triangular_solve", "cholesky_solve")
        for a, b in (((3, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((2, 2), (3, 2)), ((3, 3, 3), (2, 3, 2)))
    ),
    *(lambda t, f=f: getattr(t, f)(t.ones(3, 2), t.eye(3).double()) for f in ("triangular_solve", "cholesky_solve")),
    *(lambda t, f=f: getattr(t, f)(t.eye(3).half(), t.eye(3).half()) for f in ("triangular_solve", "cholesky_solve")),
    *(
        lambda t, a=a, p=p, b=b: t.linalg.lu_solve(t.ones(*a), t.ones(*p, dtype=t.int32), t.ones(*b))
        for a, p, b in (
            ((3, 3), (3,), (3,)), ((3,), (3,), (3, 2)), ((3, 3), (2,), (3, 2)), ((3, 2), (2,), (3, 2)),
            ((2, 2), (2,), (3, 2)), ((3, 3, 3), (3, 3), (2, 3, 2)), ((2, 3, 3), (3, 3), (2, 3, 2)),
        )
    ),
    lambda t: t.linalg.lu_solve(t.ones(3, 3), t.ones(3), t.ones(3, 2)),
    lambda t: t.linalg.lu_solve(t.ones(3, 3).double(), t.ones(3, dtype=t.int32), t.ones(3, 2)),
    lambda t: t.linalg.lu_solve(t.ones(2, 2, dtype=t.int64), t.ones(2, dtype=t.int32), t.ones(2, 2, dtype=t.int64)),
    lambda t: t.linalg.lu_solve(t.ones(3, 3), t.ones(3, dtype=t.int32), t.ones(3, 2), left=False),
    *(
        lambda t, a=a, p=p, b=b: t.linalg.ldl_solve(t.ones(*a), t.ones(*p, dtype=t.int32), t.ones(*b))
        for a, p, b in (
            ((3,), (3,), (3, 2)), ((3, 3), (2,), (3, 2)), ((3, 3), (2, 3), (3, 2)), ((3, 3), (3,), (2, 2)),
            ((2, 3), (2,), (2, 2)), ((2, 3, 3), (3, 3), (2, 3, 2)), ((2, 3, 3), (2, 3), (3, 3, 2)),
        )
    ),
    lambda t: t.linalg.ldl_solve(t.ones(3, 3), t.ones(3), t.ones(3, 2)),
    lambda t: t.linalg.ldl_solve(t.ones(3, 3), t.ones(3, dtype=t.int32), t.ones(3, 2).double()),
    *(
        lambda t, a=a, p=p, b=b: t.ormqr(t.ones(*a), t.ones(*p), t.ones(*b))
        for a, p, b in (
            ((3,), (3,), (3, 3)), ((3, 3), (3,), (3,)), ((3, 3), (4,), (3, 3)), ((3, 2), (2,), (2, 2)),
            ((2, 3, 3), (3, 3), (2, 3, 3)), ((2, 3, 3), (2, 3), (3, 3, 3)), ((3, 3), (3,), (3, 3, 3)),
            ((3, 3), (2, 3), (3, 3)),
        )
    ),
    lambda t: t.ormqr(t.ones(3, 3), t.ones(3).double(), t.ones(3, 3)),
    lambda t: t.ormqr(t.ones(3, 3), t.ones(3), t.ones(3, 3).double()),
    lambda t: t.ormqr(t.ones(3, 3), t.ones(3), t.ones(2, 2), False),
    *(
        lambda t, a=a, b=b: t.linalg.lstsq(t.ones(a), t.ones(b))
        for a, b in (
            ((3,), (3,)), ((3, 2), ()), ((3, 2), (2,)), ((3, 2), (2, 2)), ((2, 3, 2), (3, 3, 2)), ((3, 2), (3, 3, 2)),
            ((2, 3, 2), (3,)),
        )
    ),
    lambda t: t.linalg.lstsq(t.ones(3, 2), t.ones(3, 2).double()),
    lambda t: t.linalg.lstsq(t.ones(2, 2, dtype=t.int64), t.ones(2, 2, dtype=t.int64)),
    lambda t: t.linalg.lstsq(t.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), t.ones(3, 2), driver="gels"),
    lambda t: t.linalg.lstsq(t.ones(3, 2), t.ones(3, 2), driver="gelsx"),
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_refusal(require("torch"), call)


def test_a_triangle_and_a_right_hand_side_have_one_dtype() -> None:
    with pytest.raises(RuntimeError, match="found A of type Float and B of type Double"):
        linalg.solve_triangular(glasstorch.eye(2), glasstorch.ones(2, 1).double(), upper=True)


@pytest.mark.parametrize("function", [linalg.lu_solve, linalg.ldl_solve])
@pytest.mark.parametrize("pivots", [[0, 1], [1, 3]])
def test_pivots_outside_the_matrix_are_refused(function: Callable[..., Any], pivots: list[int]) -> None:
    with pytest.raises(RuntimeError, match="must be between 1 and"):
        function(glasstorch.eye(2), glasstorch.tensor(pivots, dtype=INT), glasstorch.ones(2, 1))


@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_least_squares_by_singular_values_need_finite_matrices(driver: str, number: float) -> None:
    x = glasstorch.ones(2, 3, 2)
    x[1, 0, 0] = number
    with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\): .* matrix contained non-finite values\."):
        linalg.lstsq(x, glasstorch.ones(2, 3, 1), driver=driver)


def test_a_zero_on_the_diagonal_gives_infinities() -> None:
    found = linalg.solve_triangular(glasstorch.zeros(2, 2), glasstorch.ones(2, 1), upper=True)
    assert not found.isfinite().any()


def test_the_solution_may_be_written_over_the_right_hand_side() -> None:
    a, b = matrix(3, 3), matrix(3, 2)
    wanted = linalg.solve_triangular(a, b, upper=True)
    assert linalg.solve_triangular(a, b, upper=True, out=b) is b
    np.testing.assert_array_equal(b.numpy(), wanted.numpy())


# Gradients ------------------------------------------------------------------------------------------------------------

PIVOTS = glasstorch.tensor([2, 3, 3], dtype=INT)


def lu_solve(left: bool, adjoint: bool) -> Callable[..., Any]:
    return lambda a, b: linalg.lu_solve(a + 2 * glasstorch.eye(3), PIVOTS, b, left=left, adjoint=adjoint)


def triangular(**options: bool) -> Callable[..., Any]:
    return lambda a, b: linalg.solve_triangular(a + 3 * glasstorch.eye(3), b, **options)


def old_triangular(upper: bool, transpose: bool, unitriangular: bool) -> Callable[..., Any]:
    def both(a: Any, b: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tuple(glasstorch.triangular_solve(b, a + 3 * glasstorch.eye(3), upper, transpose, unitriangular))

    return both


GRADIENTS: list[tuple[Callable[..., Any], list[Any]]] = [
    *((lu_solve(True, adjoint), [(3, 3), (2, 3, 1)]) for adjoint in (False, True)),
    *((lu_solve(False, adjoint), [(3, 3), (2, 3)]) for adjoint in (False, True)),
    (triangular(upper=True), [(2, 3, 3), (3, 1)]), (triangular(upper=False, unitriangular=True), [(3, 3), (2, 3, 1)]),
    (triangular(upper=False, left=False), [(3, 3), (2, 3)]),
    *((old_triangular(upper, transpose, unit), [(3, 3), (3, 2)]) for upper, transpose, unit in (
        (True, False, False), (False, True, False), (True, True, True),
    )),
    *((lambda a, t, c, left=left, turn=turn: glasstorch.ormqr(a, t, c, left, turn), [(3, 2), (2,), (3, 3)])
      for left in (False, True) for turn in (False, True)),
    (lambda a, b: linalg.lstsq(a, b).solution, [(4, 2), (4, 2)]),
    (lambda a, b: linalg.lstsq(a, b).solution, [(2, 2, 4), (2, 2, 1)]),
    (lambda a, b: linalg.lstsq(a, b).solution, [(2, 3, 2), (2, 3)]),
    (lambda a, b: linalg.lstsq(a, b, driver="gelsd")[:2], [(4, 2), (4, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("function", "shapes"), GRADIENTS)
def test_gradients_are_those_of_finite_differences(function: Callable[..., Any], shapes: Any, dtype: str) -> None:
    inputs = [matrix(*shape, dtype=dtype).requires_grad_() for shape in shapes]
    assert gradcheck(function, inputs)
    if dtype == "float64":
        assert gradgradcheck(function, inputs)


def test_reflections_that_are_none_have_no_gradient() -> None:
    a, tau, c = (matrix(*shape).requires_grad_() for shape in ((2, 0), (0,), (2, 3)))
    glasstorch.ormqr(a, tau, c).sum().backward()
    assert a.grad is None
    assert tau.grad is None
    assert bool((c.grad == 1).all())


@pytest.mark.parametrize(("b", "factor"), [((2, 1), (2, 3)), ((3, 1), (2, 2)), ((2, 2, 1), (3, 2, 2))])
def test_factors_that_do_not_fit_are_refused_below_cholesky_solve_too(b: Any, factor: Any) -> None:
    helper = glasstorch.ops.aten._cholesky_solve_helper
    with pytest.raises(RuntimeError, match="_cholesky_solve_helper: "):
        helper(glasstorch.ones(b), glasstorch.ones(factor), False)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize(
    ("matrices", "right"),
    [((3, 1, 4, 2), (1, 3, 4, 2)), ((1, 4, 2), (3, 4, 2)), ((3, 4, 2), (1, 4, 1)), ((2, 1, 2, 4), (1, 3, 2, 2))],
)
def test_ranks_and_singular_values_are_of_the_matrices_alone(
    require: Any, matrices: Any, right: Any, driver: str
) -> None:
    torch = require("torch")
    given = [torch.arange(float(np.prod(shape))).reshape(shape).cos() for shape in (matrices, right)]
    theirs = torch.linalg.lstsq(*given, driver=driver)
    ours = glasstorch.linalg.lstsq(*(glasstorch.tensor(one.tolist()) for one in given), driver=driver)
    for mine, expected in zip(ours, theirs, strict=True):
        assert mine.shape == expected.shape
        assert np.allclose(mine.numpy(), expected.numpy(), atol=1e-4)
