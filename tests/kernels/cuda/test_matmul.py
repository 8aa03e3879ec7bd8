"""Are matrices of every dtype and layout multiplied on a CUDA device as on the CPU?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch.core.errors import DeviceError
from glasstorch.devices import blas, modules
from glasstorch.kernels.cuda import matmul
from tests.devices.devices import Devices
from tests.kernels.cuda.matrices import LAYOUTS, assert_equal, given


@pytest.fixture(autouse=True)
def ours_is_preferred() -> Iterator[None]:
    blas.preferred_blas_library("glasstorch")
    yield
    blas.preferred_blas_library("default")


def by_each_library(cuda: Devices, compute: Callable[[], torch.Tensor]) -> Iterator[torch.Tensor]:
    """What our kernels compute, and on a card what cuBLAS does."""
    yield compute()
    if cuda.driver.has_blas():
        blas.preferred_blas_library("cublas")
        yield compute()
        blas.preferred_blas_library("glasstorch")


def agree(cuda: Devices, compute: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> None:
    """The device's result is the CPU's, whichever library is preferred."""
    on_device, expected = [x.to(cuda.device) for x in tensors], compute(*tensors)
    for actual in by_each_library(cuda, lambda: compute(*on_device)):
        assert_equal(actual, expected)


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
    assert min(n, m) > matmul.SIDE * matmul.LARGE_TILE // 2, "not the large tile"
    agree(cuda, torch.mm, given(dtype, n, k), given(dtype, k, m))


@pytest.mark.parametrize(("left", "right"), [*itertools.product(LAYOUTS, LAYOUTS)])
def test_any_layout_is_multiplied(cuda: Devices, left: str, right: str) -> None:
    a, b = given(torch.float32, 3, 5, 21), given(torch.float32, 3, 21, 18)
    a, b = a.to(cuda.device), b.to(cuda.device)
    x, y = LAYOUTS[left](a), LAYOUTS[right](b)
    for compute in (torch.matmul, lambda x, y: torch.mm(x[1], y[1]), lambda x, y: torch.mv(x[2], y[2, :, 3])):
        for actual in by_each_library(cuda, lambda compute=compute: compute(x, y)):
            assert_equal(actual, compute(x.cpu(), y.cpu()))


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
    ones = torch.ones(1, 2100, dtype=torch.float16, device=cuda.device)
    assert torch.mm(ones, ones.t()).item() == 2100  # 2048 + 1 is 2048 in float16
    assert torch.dot(ones[0], ones[0]).item() == torch.mv(ones, ones[0]).item() == 2100


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
