"""Are the products of SciPy's loops, called by their own names, those of its matrices?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glasstorch.kernels.sparse.times_dense import compressed_times_dense, coo_times_dense

DTYPES = [np.float32, np.float64, np.complex64, np.int8, np.int64, np.bool_]
SHAPES = [((4, 3), 2), ((3, 4), 1), ((2, 0), 3), ((0, 2), 2), ((5, 5), 0)]


def factors(shape: tuple[int, int], columns: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(sum(shape) + columns)
    left = random.integers(-2, 3, shape) * (random.random(shape) < 0.5)
    return left.astype(dtype), random.integers(-2, 3, (shape[1], columns)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "columns"), SHAPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_each_layout_gives_scipys_product(shape: tuple[int, int], columns: int, dtype: type, index: type) -> None:
    left, right = factors(shape, columns, dtype)
    for form in (sparse.csr_array, sparse.csc_array):
        matrix = form(left)
        starts, places = matrix.indptr.astype(index), matrix.indices.astype(index)
        product = compressed_times_dense(form is sparse.csr_array, shape, starts, places, matrix.data, right)
        assert product.dtype == dtype
        np.testing.assert_array_equal(product, matrix @ right)
    coo = sparse.coo_array(left)
    product = coo_times_dense(np.stack(coo.coords).astype(index), coo.data, shape[0], right)
    assert product.dtype == dtype
    np.testing.assert_array_equal(product, coo @ right)


def test_an_element_that_is_specified_twice_counts_twice_and_any_strides_do() -> None:
    indices = np.array([[1, 0, 1], [0, 1, 0]]).T.copy().T  # not row-major
    right = np.arange(6.0).reshape(3, 2).T  # not row-major either
    product = coo_times_dense(indices, np.array([1.0, 2.0, 3.0]), 2, right)
    np.testing.assert_array_equal(product, np.array([[0.0, 2.0], [4.0, 0.0]]) @ right)
