"""Are the fast products exact for integers, the same as the plain ones for floats, and in memory of the pool?"""

from __future__ import annotations

import numpy as np

import glasstorch
from glasstorch.kernels.cpu import matmul as plain
from glasstorch.kernels.cpu.fast import matmul

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
