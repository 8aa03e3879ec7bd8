"""Is cuBLAS asked for the right products, and is the library asked that is preferred?

No cuBLAS is needed: a driver of these tests has a `gemm` of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch.devices import blas, runtime
from glasstorch.devices.driver import Copy
from glasstorch.devices.driver_sim import SimDriver
from tests.kernels.cuda.matrices import LAYOUTS, assert_equal, given


class WithBlas:
    """A simulated driver that has a `gemm`, written down from what cuBLAS's manual says of its arguments."""

    def __init__(self, simulated: Any) -> None:
        self.simulated = simulated
        self.calls: list[tuple[Any, ...]] = []
        self.devices: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.simulated, name)

    def has_blas(self) -> bool:
        return True

    def gemm(self, *arguments: Any, stream: int) -> None:
        self.calls.append(arguments)
        self.devices.append(self.current_device())
        transa, transb, m, n, k, alpha, a, atype, lda, stridea, b, btype, ldb, strideb, beta, *rest = arguments
        c, ctype, ldc, stridec, batches, compute, algorithm = rest
        assert atype == btype == ctype
        assert (compute, algorithm) == (70 if atype == 1 else 68, -1)
        assert lda >= max(1, k if transa else m)
        assert ldb >= max(1, n if transb else k)
        assert ldc >= max(1, m)
        element = {0: torch.float32, 1: torch.float64, 2: torch.float16, 14: torch.bfloat16}[atype].numpy
        wide = np.float64 if atype == 1 else np.float32

        def columns(address: int, rows: int, columns: int, leading: int) -> tuple[Any, Any]:
            """The bytes of a column-major matrix, copied to the host, and the matrix that they are."""
            flat = np.zeros(leading * (columns - 1) + rows, element)
            self.simulated.memcpy_async(flat.ctypes.data, address, flat.nbytes, Copy.DEVICE_TO_HOST, stream)
            self.simulated.stream_synchronize(stream)
            steps = (flat.itemsize, leading * flat.itemsize)
            return flat, np.lib.stride_tricks.as_strided(flat, (rows, columns), steps)

        for batch in range(batches):
            place = [at + batch * step * element.itemsize for at, step in ((a, stridea), (b, strideb), (c, stridec))]
            left = columns(place[0], k, m, lda)[1].T if transa else columns(place[0], m, k, lda)[1]
            right = columns(place[1], n, k, ldb)[1].T if transb else columns(place[1], k, n, ldb)[1]
            flat, out = columns(place[2], m, n, ldc)
            product = wide(alpha) * (left.astype(wide) @ right.astype(wide))
            out[...] = (product + wide(beta) * out.astype(wide) if beta else product).astype(element)
            self.simulated.memcpy_async(place[2], flat.ctypes.data, flat.nbytes, Copy.HOST_TO_DEVICE, stream)


@pytest.fixture
def with_blas() -> Iterator[WithBlas]:
    driver = WithBlas(SimDriver(devices=2, memory=1 << 26))
    runtime.use_driver(driver)
    yield driver
    runtime.use_driver(None)


@pytest.fixture(autouse=True)
def nothing_is_preferred() -> Iterator[None]:
    blas.preferred_blas_library("default")
    yield
    blas.preferred_blas_library("default")


@pytest.mark.parametrize("out", ["fresh", "row-major", "transposed", "apart"])
@pytest.mark.parametrize(("left", "right"), [*itertools.product(LAYOUTS, LAYOUTS)])
def test_cublas_is_asked_for_the_same_product(with_blas: WithBlas, left: str, right: str, out: str) -> None:
    a, b = LAYOUTS[left](given(torch.float32, 3, 4, 5)), LAYOUTS[right](given(torch.float32, 3, 5, 2))
    x, y = LAYOUTS[left](a.cuda()), LAYOUTS[right](b.cuda())
    expected = a @ b
    if out == "fresh":
        actual = torch.bmm(x, y)
    else:
        actual = LAYOUTS[out](torch.zeros(3, 4, 2, device="cuda"))
        torch.bmm(x, y, out=actual)
    np.testing.assert_allclose(actual.tolist(), expected.tolist(), rtol=1e-5)
    assert len(with_blas.calls) == 1


@pytest.mark.parametrize("dtype", [*blas.TYPES], ids=str)
def test_cublas_takes_the_bias_from_where_it_writes(with_blas: WithBlas, dtype: torch.dtype) -> None:
    bias, a, b = given(dtype, 4), given(dtype, 3, 5), given(dtype, 5, 4)
    expected = torch.addmm(bias, a, b, beta=0.5, alpha=2)
    assert_equal(torch.addmm(bias.cuda(), a.cuda(), b.cuda(), beta=0.5, alpha=2), expected)
    x = torch.zeros(3, 4, dtype=dtype).add(bias).cuda()
    assert_equal(x.addmm_(a.cuda(), b.cuda(), beta=0.5, alpha=2), expected)
    assert_equal(torch.mv(a.cuda(), b.cuda()[:, 1]), torch.mv(a, b[:, 1]))
    assert [call[14] for call in with_blas.calls] == [0.5, 0.5, 0]  # beta


def test_cublas_reads_a_transposed_matrix_where_it_is(with_blas: WithBlas) -> None:
    a, b = given(torch.float32, 3, 4).cuda(), given(torch.float32, 5, 4).cuda()
    a @ b.t()
    ((first, second, m, n, k, _, right, _, ld_right, _, left, _, ld_left, *_),) = with_blas.calls
    assert (first, second, m, n, k) == (blas.TRANSPOSE, blas.KEEP, 5, 3, 4)
    assert (right, ld_right, left, ld_left) == (b.data_ptr(), 4, a.data_ptr(), 4)


def test_each_library_can_be_preferred(with_blas: WithBlas) -> None:
    from glasstorch.backends.cuda import preferred_blas_library

    a = given(torch.float32, 3, 3).cuda()
    expected = (a.cpu() @ a.cpu()).tolist()
    counts = {}
    for name, answer in (("glasstorch", "Glasstorch"), ("cublas", "Cublas"), ("default", "Cublas")):
        assert preferred_blas_library(name).name == answer
        assert preferred_blas_library() is preferred_blas_library(preferred_blas_library())
        with_blas.calls.clear()
        np.testing.assert_allclose((a @ a).tolist(), expected, rtol=1e-5)
        counts[name] = len(with_blas.calls)
    assert counts == {"glasstorch": 0, "cublas": 1, "default": 1}


def test_cublas_computes_where_the_matrices_are(with_blas: WithBlas) -> None:
    a = given(torch.float32, 3, 3)
    assert_equal(a.to("cuda:1") @ a.to("cuda:1"), a @ a)
    assert with_blas.devices == [1]
    assert with_blas.current_device() == 0


def test_what_cublas_cannot_do_is_ours(with_blas: WithBlas, monkeypatch: pytest.MonkeyPatch) -> None:
    a = given(torch.int64, 3, 3)
    assert_equal(a.cuda() @ a.cuda(), a @ a)
    monkeypatch.setattr(blas, "LARGEST", 2)
    b = given(torch.float32, 3, 3)
    assert_equal(b.cuda() @ b.cuda(), b @ b)
    assert with_blas.calls == []


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"Unknown input value\. Choose from: default, cublas, glasstorch\."):
        blas.preferred_blas_library("mkl")
    with pytest.raises(RuntimeError, match="Unknown input value type"):
        blas.preferred_blas_library(3)  # type: ignore[arg-type]


def test_a_vector_is_a_matrix_with_any_stride_along_its_size_of_1() -> None:
    column, row = blas.Matrices(0, (1, 5, 1), (0, 3, 7)), blas.Matrices(0, (1, 1, 5), (0, 7, 3))
    assert blas.layout(column) == blas.Layout(blas.KEEP, 3)
    assert blas.layout(row) == blas.Layout(blas.TRANSPOSE, 3)
    assert blas.layout(blas.Matrices(0, (1, 2, 3), (0, 7, 2))) is None
