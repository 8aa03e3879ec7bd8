"""Are the fast products exact for integers, the same as the plain ones for floats, and in memory of the pool?"""

from __future__ import annotations

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu import matmul as plain
from glasstorch.kernels.cpu.fast import matmul, thresholds

random = np.random.default_rng(0)


def test_float64_is_used_only_where_it_is_exact() -> None:
    a = np.array([[2**52, 1]] * 100)
    b = np.array([[1, 1]] * 2)[:, [0] * 100]
    assert matmul.integer_product(a, b)[0, 0] == 2**52 + 1
    assert matmul.integer_product(a * 2, b)[0, 0] == 2**53 + 2
    assert matmul.integer_product(a * 2 + 1, b)[0, 0] == 2**53 + 4
    assert matmul.magnitude(np.array([-(2**63)])) == 2**63


def test_the_quick_ways_agree_with_the_plain_ones() -> None:
    a, b, bias = (glasstorch.from_numpy(random.standard_normal(s)) for s in ((3, 4), (4, 5), (5,)))
    assert matmul.mm(0, a, b).tolist() == plain.mm(0, a, b).tolist()
    assert matmul.addmm(0, bias, a, b, 1, 1).tolist() == plain.addmm(0, bias, a, b, 1, 1).tolist()


def test_large_results_come_from_the_allocator() -> None:
    x = glasstorch.ones(300, 300)
    before = glasstorch.core.allocator.cpu_allocator.bytes_in_use
    y = x @ x
    assert glasstorch.core.allocator.cpu_allocator.bytes_in_use > before
    assert y[0, 0].item() == 300


@pytest.mark.parametrize("number", ["float32", "float64"])
def test_products_of_columns_and_rows_are_those_of_blas_to_the_sign_of_zero(number: str) -> None:
    values = np.array([-1.5, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 3e38, 2.0], number)
    columns, rows = np.stack([values] * 2)[:, :, None], np.stack([np.resize(values, 20)] * 2)[:, None, :]
    assert columns.shape[-1] == 1
    assert rows.shape[-1] >= thresholds.OUTER_COLUMNS_FROM
    with np.errstate(all="ignore"):
        ours = matmul.product(columns, rows, getattr(glasstorch, number))
        plainly = plain.product.plain(columns, rows, getattr(glasstorch, number))
    np.testing.assert_array_equal(ours, plainly)
    np.testing.assert_array_equal(np.signbit(ours)[ours == 0], np.signbit(plainly)[ours == 0])
