"""Are tensors made on a CUDA device as they are made on the CPU?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import AcceleratorError, DeviceError
from glasstorch.devices.modules import source
from glasstorch.kernels.cuda import creation
from tests.devices.devices import Devices


@pytest.mark.parametrize(
    "make",
    [
        lambda t, d: t.zeros(2, 3, device=d),
        lambda t, d: t.ones(2, 3, dtype=t.int32, device=d),
        lambda t, d: t.full((2,), 2.5, device=d),
        lambda t, d: t.tensor([[1, 2], [3, 4]], device=d),
        lambda t, d: t.as_tensor([1.5, 2], device=d),
        lambda t, d: t.scalar_tensor(3, device=d),
        lambda t, d: t.zeros_like(t.zeros(2, 3, device=d).t()),
        lambda t, d: t.ones_like(t.zeros(2, dtype=t.int64), device=d),
        lambda t, d: t.zeros(2, device=d).new_full((3,), 7),
        lambda t, d: t.arange(0, device=d),
        lambda t, d: t.arange(7, device=d),
        lambda t, d: t.arange(-3, 4, 2, device=d),
        lambda t, d: t.arange(2.5, -1, -0.5, device=d),
        lambda t, d: t.arange(0, 1, 0.25, dtype=t.float64, device=d),
        lambda t, d: t.arange(5, dtype=t.float16, device=d),
        lambda t, d: t.arange(300, dtype=t.uint8, device=d),
        lambda t, d: t.arange(-3, 300, 7, dtype=t.int8, device=d),
        lambda t, d: t.arange(5, out=t.zeros(5, 2, dtype=t.int16, device=d)[:, 1]),
        lambda t, d: t.linspace(-1, 1, 5, device=d),
        lambda t, d: t.linspace(0, 3, 4, out=t.zeros(2, 2, device=d).t()),
        lambda t, d: t.linspace(t.tensor(0.5, device=d), 3, 4, device=d),
        lambda t, d: t.logspace(0, 1, 3, dtype=t.complex64, device=d),
        lambda t, d: t.eye(3, 2, dtype=t.complex64, device=d),
        lambda t, d: t.tril_indices(3, 3, device=d),
        lambda t, d: t.empty_permuted((2, 3), (1, 0), device=d).fill_(2),
        lambda t, d: t.zeros(1, dtype=t.int8, device=d).new_tensor([3]),
        lambda t, d: t.arange(1, 4, out=t.zeros(3, 2, device=d)[:, 0]),
        lambda t, d: t.empty(0, device=d).resize_(2, 2).fill_(4),
        lambda t, d: t.arange(2, device=d).resize_(5)[:2],
    ],
)
def test_a_factory_gives_what_it_gives_on_the_cpu(cuda: Devices, make: Any) -> None:
    ours, theirs = make(glasstorch, cuda.device), make(glasstorch, "cpu")
    assert ours.device is cuda.device
    assert (ours.dtype, ours.shape, ours.stride()) == (theirs.dtype, theirs.shape, theirs.stride())
    assert ours.tolist() == theirs.tolist()


def test_cuda_without_an_index_is_the_current_device(cuda: Devices) -> None:
    x = glasstorch.empty(2, device="cuda")
    assert str(x.device) == "cuda:0"
    assert x.to("cuda") is x.cuda() is x.cuda(0) is x.to("cuda:0") is x
    assert x.data_ptr() % 256 == 0


def test_a_device_that_is_not_there_is_refused(cuda: Devices) -> None:
    for make in (
        lambda: glasstorch.empty(2, device="cuda:99"),
        lambda: glasstorch.ones(2).cuda(99),
        lambda: glasstorch.zeros_like(glasstorch.ones(2), device="cuda:99"),
    ):
        with pytest.raises(AcceleratorError, match="invalid device ordinal"):
            make()


def test_memory_on_a_device_cannot_be_pinned(cuda: Devices) -> None:
    for make in (glasstorch.empty, glasstorch.zeros, glasstorch.arange, glasstorch.randperm):
        with pytest.raises(DeviceError, match="Only dense CPU tensors can be pinned"):
            make(3, device=cuda.device, pin_memory=True)
    with pytest.raises(DeviceError, match="only dense CPU tensors can be pinned"):
        glasstorch.zeros(2, device=cuda.device).pin_memory()


def test_every_kernel_of_the_file_is_named() -> None:
    for file, name, _ in creation.instantiations():
        assert f"__global__ void {name}(" in source(file)
