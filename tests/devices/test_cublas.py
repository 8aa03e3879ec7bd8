"""Is cuBLAS asked as it wants to be, and is it missed with a word on what to install?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.devices import cublas
from glasstorch.devices.driver import Copy
from tests.devices.devices import card

TYPES = {np.float32: (0, 68), np.float64: (1, 70), np.float16: (2, 68)}  # cudaDataType, cublasComputeType_t
ROWS, INNER, COLUMNS, BATCHES = 3, 4, 5, 2


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """cuBLAS cannot be found."""
    monkeypatch.setitem(sys.modules, "cuda", None)
    cublas.library.cache_clear()
    yield
    cublas.library.cache_clear()


def ask(compute_type: int) -> None:
    """One product of 1 by 1 matrices that are nowhere."""
    matrix = (0, 0, 1, 1)
    cublas.gemm(0, 0, 0, 0, 1, 1, 1, 1.0, *matrix, *matrix, 0.0, *matrix, 1, compute_type, -1)


def test_where_it_is_missing_there_is_none(missing: None) -> None:
    assert cublas.library() is None
    with pytest.raises(RuntimeError, match=r"cuBLAS was not found; install it with: pip install .*cuda13"):
        ask(68)


def test_a_type_to_compute_in_that_alpha_cannot_have_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="gemm: compute_type 72; accepted are 68 and 70"):
        ask(72)


def test_the_signature_has_a_place_for_every_argument() -> None:
    assert len(cublas.SIGNATURE) == 23  # cublas_api.h


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", list(TYPES))
def test_it_multiplies_a_batch_column_by_column(dtype: Any) -> None:
    driver = card()
    random = np.random.default_rng(0)
    shapes = ((BATCHES, INNER, ROWS), (BATCHES, COLUMNS, INNER), (BATCHES, COLUMNS, ROWS))
    a, b, c = (random.standard_normal(shape).astype(dtype) for shape in shapes)
    addresses = []
    for array in (a, b, c):
        addresses.append(driver.malloc(array.nbytes))
        driver.memcpy_async(addresses[-1], array.ctypes.data, array.nbytes, Copy.HOST_TO_DEVICE, 0)
    kind, compute = TYPES[dtype]
    first, second, third = addresses
    driver.gemm(
        *(0, 0, ROWS, COLUMNS, INNER, 2.0, first, kind, ROWS, ROWS * INNER, second, kind, INNER, INNER * COLUMNS),
        *(0.5, third, kind, ROWS, ROWS * COLUMNS, BATCHES, compute, -1),
        stream=0,
    )
    result = np.empty_like(c)
    driver.memcpy_async(result.ctypes.data, third, result.nbytes, Copy.DEVICE_TO_HOST, 0)
    tolerance = 1e-2 if dtype is np.float16 else 1e-5
    np.testing.assert_allclose(result, 2 * (b @ a) + c / 2, rtol=tolerance, atol=tolerance)
    for address in addresses:
        driver.free(address)
