"""Are chains of products taken in the cheapest order, and tensors seen as matrices inverted and solved?"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import linalg
from glasstorch.core.errors import ArgumentError, DtypeError, LinAlgError, ShapeError
from glasstorch.operators.composite.linalg.products import cheapest_split


def ones(*shape: int, **options: Any) -> Any:
    return glasstorch.ones(*shape, **options)


def cost(sizes: list[int], split: dict[tuple[int, int], int], i: int, j: int) -> int:
    """How many multiplications the order of `split` takes."""
    if i == j:
        return 0
    k = split[i, j]
    return cost(sizes, split, i, k) + cost(sizes, split, k + 1, j) + sizes[i] * sizes[k + 1] * sizes[j + 1]


def least(sizes: list[int]) -> int:
    """The fewest multiplications of any order, by trying all."""
    if len(sizes) == 2:
        return 0
    return min(
        least([*sizes[:k], *sizes[k + 1 :]]) + sizes[k - 1] * sizes[k] * sizes[k + 1] for k in range(1, len(sizes) - 1)
    )


def test_no_order_multiplies_less() -> None:
    for sizes in product((1, 3, 7), repeat=5):
        assert cost(list(sizes), cheapest_split(sizes), 0, 3) == least(list(sizes))


def test_of_two_orders_that_cost_the_same_pytorchs_is_taken(torch: Any) -> None:
    signs, large, two = torch.tensor([[1.0, -1.0], [1.0, -1.0]]), torch.full((2, 2), 3e38), torch.full((2, 2), 2.0)
    assert torch.linalg.multi_dot([signs, large, two]).tolist() == [[0, 0], [0, 0]]  # not inf - inf


def test_vectors_at_the_ends_lose_their_dimension() -> None:
    assert linalg.multi_dot([ones(3), ones(3, 2), ones(2)]).tolist() == 6
    assert linalg.multi_dot([ones(3), ones(3, 2)]).tolist() == [3, 3]
    assert linalg.multi_dot([ones(2, 3), ones(3)]).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("tensors", "error", "message"),
    [
        ([(3,)], ArgumentError, "expected at least 2 tensors but got 1"),
        ([(3, 3), (4, 3)], ShapeError, "tensors 0 and 1 with shapes [3, 3] and [4, 3] cannot be multiplied"),
        ([(3, 3), (3, 3, 3), (3,)], ShapeError, "tensor 1 must be 2D but got 3D"),
        ([(3,), (3, 3), (2, 2, 2)], ShapeError, "the last tensor must be 1D or 2D but got 3D"),
        ([(), (3, 3)], ShapeError, "the first tensor must be 1D or 2D but got 0D"),
    ],
)
def test_a_chain_that_does_not_fit_is_refused(tensors: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as refused:
        linalg.multi_dot([ones(shape) for shape in tensors])
    assert f"multi_dot(): {message}" in str(refused.value)


def test_factors_of_different_dtypes_are_refused() -> None:
    with pytest.raises(DtypeError, match="tensor 0 is double and tensor 1 float"):
        linalg.multi_dot([ones(3, 3, dtype=glasstorch.float64), ones(3, 3)])


def test_chain_matmul_takes_matrices_only_and_copies_one_alone() -> None:
    x = ones(2, 2)
    alone = glasstorch.chain_matmul(x)
    assert alone is not x
    assert alone.tolist() == x.tolist()
    with pytest.raises(ShapeError, match="Tensor dimension is 1, expected 2 instead"):
        glasstorch.chain_matmul(ones(3))


def test_kron_takes_operands_that_lie_in_any_order() -> None:
    x = glasstorch.arange(6.0).reshape(2, 3).t()
    y = glasstorch.arange(4.0).reshape(2, 2).t()
    assert glasstorch.kron(x, y).tolist() == np.kron(x.numpy(), y.numpy()).tolist()


def test_tensorinv_undoes_and_refuses() -> None:
    x = glasstorch.from_numpy(np.random.default_rng(0).normal(size=(4, 6, 8, 3)))
    inverse = linalg.tensorinv(x)
    identity = glasstorch.tensordot(inverse, x, 2)
    np.testing.assert_allclose(identity.reshape(24, 24).numpy(), np.eye(24), atol=1e-10)
    with pytest.raises(ArgumentError, match="strictly positive integer for 'ind', but got 0"):
        linalg.tensorinv(x, 0)
    with pytest.raises(ArgumentError, match="expected 'ind' from 1 to 4"):
        linalg.tensorinv(x, 5)
    with pytest.raises(ShapeError, match=r"prod\(self.shape\[:ind\]\), but got 144 != 4"):
        linalg.tensorinv(x, 1)
    with pytest.raises(LinAlgError, match="inv: The diagonal element 1 is zero"):
        linalg.tensorinv(glasstorch.zeros(2, 2), 1)


def test_tensorsolve_moves_the_given_dimensions_to_the_end() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 6, 3)), random.normal(size=(2, 3))
    solved = linalg.tensorsolve(glasstorch.from_numpy(x), glasstorch.from_numpy(y), dims=(1,))
    np.testing.assert_allclose(solved.numpy(), np.linalg.tensorsolve(x, y, (1,)), rtol=1e-8)
    with pytest.raises(ShapeError, match="but got 3 != 2"):
        linalg.tensorsolve(ones(2, 3), ones(2))


def test_powers_are_refused_where_there_are_none() -> None:
    for count in (0, 1, -1):
        with pytest.raises(ArgumentError, match="N must be greater than 1"):
            linalg.vander(ones(3), N=count)
    with pytest.raises(DtypeError, match="but got Bool"):
        linalg.vander(ones(3, dtype=glasstorch.bool))
    with pytest.raises(ArgumentError, match="N must be non-negative"):
        glasstorch.vander(ones(3), N=-1)
    with pytest.raises(ShapeError, match="x must be a one-dimensional tensor"):
        glasstorch.vander(ones(3, 3))
