"""Are matrices of every dtype and layout multiplied on a CUDA device as on the CPU, by our kernels and by cuBLAS?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch.core.errors import DeviceError
from glasstorch.kernels.cuda import blas, matmul, modules, runtime
from glasstorch.kernels.cuda.driver import Copy
from tests.kernels.cuda.devices import Devices

random = np.random.default_rng(0)
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.mT.contiguous().mT,
    "apart": lambda x: torch.stack((x, x + 1), -1)[..., 0],
    "one row": lambda x: x[..., :1, :].expand(x.shape),
}
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}


def given(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Numbers that half precision holds; integers large enough to wrap around."""
    if dtype.is_floating_point:
        return torch.tensor(random.integers(-16, 17, shape) / 8.0).to(dtype)
    return torch.tensor(random.integers(0, 2**62, shape)).to(dtype)


def assert_equal(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """The same sizes, strides, dtype and, within what the dtype can tell apart, values."""
    assert (actual.shape, actual.stride(), actual.dtype) == (expected.shape, expected.stride(), expected.dtype)
    tolerance = TOLERANCE.get(expected.dtype, 0)
    here, there = (x.cpu().to(torch.float64 if tolerance else x.dtype).numpy() for x in (actual, expected))
    np.testing.assert_allclose(here, there, rtol=tolerance, atol=tolerance * 10)


def agree(cuda: Devices, compute: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> None:
    """The device's result is the CPU's."""
    assert_equal(compute(*(x.to(cuda.device) for x in tensors)), compute(*tensors))


@pytest.mark.parametrize("dtype", matmul.SUM, ids=str)
def test_every_dtype_is_multiplied(cuda: Devices, dtype: torch.dtype) -> None:
    a, b = given(dtype, 5, 37), given(dtype, 37, 19)
    agree(cuda, torch.mm, a, b)
    agree(cuda, lambda a, b, bias: torch.addmm(bias, a, b, beta=2, alpha=3), a, b, given(dtype, 19))
    agree(cuda, torch.mv, a, b[:, 0])
    agree(cuda, torch.dot, a[0], b[:, 1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
@pytest.mark.parametrize("shape", [(65, 33, 40), (33, 17, 129)])
def test_more_than_one_tile(cuda: Devices, dtype: torch.dtype, shape: tuple[int, int, int]) -> None:
    n, k, m = shape
    assert min(n, m) > matmul.SIDE * matmul.LARGE // 2, "not the large tile"
    agree(cuda, torch.mm, given(dtype, n, k), given(dtype, k, m))


@pytest.mark.parametrize(("left", "right"), [*itertools.product(LAYOUTS, LAYOUTS)])
def test_any_layout_is_multiplied(cuda: Devices, left: str, right: str) -> None:
    a, b = given(torch.float32, 3, 5, 21), given(torch.float32, 3, 21, 18)
    a, b = a.to(cuda.device), b.to(cuda.device)
    x, y = LAYOUTS[left](a), LAYOUTS[right](b)
    assert_equal(x @ y, x.cpu() @ y.cpu())
    assert_equal(torch.mm(x[1], y[1]), torch.mm(x[1].cpu(), y[1].cpu()))
    assert_equal(torch.mv(x[2], y[2, :, 3]), torch.mv(x[2].cpu(), y[2, :, 3].cpu()))


def test_a_transposed_matrix_is_not_copied(cuda: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[str] = []
    asked = modules.kernel

    def noted(file: str, expression: str, defines: tuple[str, ...] = ()) -> Any:
        launched.append(file)
        return asked(file, expression, defines)

    monkeypatch.setattr(matmul, "kernel", noted)
    monkeypatch.setattr(matmul, "contiguous", None)
    a, b = given(torch.float32, 6, 4).to(cuda.device), given(torch.float32, 5, 6).to(cuda.device)
    assert_equal(a.t() @ b.t(), a.cpu().t() @ b.cpu().t())
    assert launched == ["matmul.cu"]


def test_batches_have_strides_of_their_own(cuda: Devices) -> None:
    a, b = given(torch.float64, 4, 3, 5), given(torch.float64, 5, 2)
    agree(cuda, lambda a, b: torch.bmm(a, b.expand(4, 5, 2)), a, b)
    agree(cuda, lambda a, b: torch.bmm(a.flip(0)[::2], b.expand(2, 5, 2)), a, b)
    agree(cuda, lambda a: torch.bmm(a.transpose(0, 1), a.permute(1, 2, 0)), a)


def test_more_batches_than_a_grid_is_deep(cuda: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "MOST_BATCHES", 2)
    agree(cuda, torch.bmm, given(torch.float32, 5, 3, 4), given(torch.float32, 5, 4, 2))


@pytest.mark.parametrize("size", [0, 1, 31, 257, 70_000])
def test_vectors_longer_than_a_block(cuda: Devices, size: int) -> None:
    a, b = given(torch.float32, size), given(torch.float32, 2 * size)
    agree(cuda, lambda a, b: torch.dot(a, b[::2]), a, b)
    agree(cuda, lambda a, b: torch.mv(b.reshape(2, size), a), a, b)


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_empty_matrices(cuda: Devices, shape: tuple[int, int, int]) -> None:
    n, k, m = shape
    a, b, bias = (torch.ones(*s, device=cuda.device) for s in ((n, k), (k, m), (m,)))
    assert torch.addmm(bias, a, b, beta=2).tolist() == [[2.0 + k] * m] * n
    assert torch.mm(a, b).tolist() == [[float(k)] * m] * n
    assert torch.mv(a, b[:, 0] if m else torch.ones(k, device=cuda.device)).tolist() == [float(k)] * n


def test_what_beta_or_alpha_0_leaves_out_is_not_read(cuda: Devices) -> None:
    nan, one = (torch.full((2, 2), value, device=cuda.device) for value in (math.nan, 1.0))
    assert torch.addmm(nan, one, one, beta=0).tolist() == [[2, 2], [2, 2]]
    assert torch.addmm(one, nan, one, alpha=0).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("bias", [(), (3,), (2, 1), (1, 3), (2, 3)])
def test_a_bias_is_broadcast(cuda: Devices, bias: tuple[int, ...]) -> None:
    a, b = given(torch.float32, 2, 4), given(torch.float32, 4, 3)
    agree(cuda, lambda x, a, b: torch.addmm(x, a, b, beta=0.5, alpha=-2), given(torch.float32, *bias), a, b)


def test_out_may_have_any_layout_and_be_an_input(cuda: Devices) -> None:
    a, b = given(torch.float32, 3, 3).to(cuda.device), given(torch.float32, 3, 3).to(cuda.device)
    expected = a.cpu() @ b.cpu()
    out = torch.empty(3, 3, device=cuda.device).t()
    assert torch.mm(a, b, out=out) is out
    assert_equal(out, torch.empty(3, 3).t().copy_(expected))
    summed = a.clone().addmm_(a, b)
    assert_equal(summed, a.cpu() + expected)
    assert torch.mm(a, b, out=a) is a
    assert_equal(a, expected)
    row = torch.empty(6, device=cuda.device)[::2]
    torch.mv(a, b[0], out=row)
    np.testing.assert_allclose(row.tolist(), torch.mv(a.cpu(), b[0].cpu()).tolist(), rtol=1e-5)
    torch.mv(a, b[0], out=b[0])
    np.testing.assert_allclose(b[0].tolist(), row.tolist(), rtol=1e-6)


def test_halves_are_added_up_in_float32(cuda: Devices) -> None:
    ones = torch.ones(1, 4096, dtype=torch.float16, device=cuda.device)
    assert torch.mm(ones, ones.t()).item() == 4096  # 2048 + 1 is 2048 in float16
    assert torch.dot(ones[0], ones[0]).item() == torch.mv(ones, ones[0]).item() == 4096


def test_matrices_on_two_devices_are_refused(cuda: Devices) -> None:
    x = torch.ones(2, 2)
    for compute in (torch.mm, lambda a, b: torch.addmm(a, a, b), lambda a, b: torch.mv(a, b[0])):
        with pytest.raises(DeviceError, match="two devices, cuda:0 and cpu"):
            compute(x.to(cuda.device), x)


def test_on_a_device_that_is_not_the_current_one(cuda: Devices) -> None:
    last = cuda.driver.device_count() - 1
    a = given(torch.float32, 2, 3, 3)
    x = a.to(f"cuda:{last}")
    for compute in (
        torch.bmm,
        lambda a, b: a[0] @ b[1],
        lambda a, b: torch.mv(a[0], b[0, 1]),
        lambda a, b: a[0, 0] @ b[1, 0],
    ):
        assert_equal(compute(x, x), compute(a, a))
        assert compute(x, x).device.index == last


def test_gradients_are_the_cpus(cuda: Devices) -> None:
    a, b, bias = given(torch.float64, 3, 4), given(torch.float64, 4, 2), given(torch.float64, 2)
    gradients = []
    for device in ("cpu", cuda.device):
        leaves = [x.clone().to(device).requires_grad_() for x in (a, b, bias)]
        torch.addmm(leaves[2], leaves[0], leaves[1]).sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    for here, there in zip(*gradients, strict=True):
        assert_equal(there, here)


# cuBLAS, without a card ------------------------------------------------------------------------------------------


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
    from glasstorch.kernels.cuda.driver_sim import SimDriver

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
    for name in ("glasstorch", "cublas", "default"):
        assert preferred_blas_library(name).name.lower() == name
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
