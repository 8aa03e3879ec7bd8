"""Do elements arrive on, from and between CUDA devices as they were, in every layout and dtype?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import DeviceError, ShapeError
from glasstorch.devices import stream
from glasstorch.devices.modules import source
from glasstorch.kernels.cuda import copies
from tests.devices.devices import Devices

NAN, INF = float("nan"), float("inf")
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
LAYOUTS = {
    "row-major": lambda t: t,
    "transposed": lambda t: t.t(),
    "stepped": lambda t: t[:, ::2],
    "with an offset": lambda t: t[1:, 1:],
    "broadcast": lambda t: t[:1].expand(4, 6),
    "empty": lambda t: t[:0],
    "one element": lambda t: t[1, 1],
}


def numbers(dtype: str) -> Any:
    """24 small numbers, 4 by 6."""
    return (
        (glasstorch.arange(24) % 5 - (0 if dtype in ("bool", "uint8") else 2)).to(getattr(glasstorch, dtype)).view(4, 6)
    )


def two_devices(cuda: Devices) -> None:
    """Skip a test that needs a second device."""
    if cuda.driver.device_count() < 2:
        pytest.skip("needs two devices")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("to", DTYPES)
def test_a_copy_and_back_gives_the_same(cuda: Devices, layout: Any, to: str) -> None:
    wanted = getattr(glasstorch, to)
    for of in DTYPES:
        there = layout(numbers(of)).to(cuda.device, wanted)
        assert (there.device, there.dtype) == (cuda.device, wanted)
        expected = layout(numbers(of)).to(wanted).tolist()
        assert there.tolist() == there.cpu().tolist() == expected
        assert layout(numbers(of).to(cuda.device)).to(wanted).cpu().tolist() == expected
        assert layout(numbers(of).to(cuda.device)).to("cpu", wanted).tolist() == expected


@pytest.mark.parametrize("non_blocking", [False, True])
@pytest.mark.parametrize("layout", list(LAYOUTS.values())[:4], ids=list(LAYOUTS)[:4])
def test_a_copy_goes_into_a_part_of_a_tensor(cuda: Devices, layout: Any, non_blocking: bool) -> None:
    for of in ("float32", "int64"):
        for places in ((cuda.device, "cpu"), ("cpu", cuda.device), (cuda.device, cuda.device)):
            whole = glasstorch.zeros(4, 6, device=places[0])
            part = layout(whole)
            part.copy_(layout(numbers(of).to(places[1])), non_blocking=non_blocking)
            glasstorch.cuda.synchronize()
            expected = glasstorch.zeros(4, 6)
            layout(expected).copy_(layout(numbers(of)))
            assert whole.tolist() == expected.tolist()


def test_a_copy_is_broadcast_to_what_it_is_written_to(cuda: Devices) -> None:
    target = glasstorch.zeros(2, 3, device=cuda.device)
    for source_device in ("cpu", cuda.device):
        assert target.copy_(glasstorch.tensor([1, 2, 3], device=source_device)).tolist() == [[1, 2, 3]] * 2
    on_cpu = glasstorch.zeros(2, 3).copy_(glasstorch.tensor([[4.0], [5.0]], device=cuda.device))
    assert on_cpu.tolist() == [[4] * 3, [5] * 3]
    with pytest.raises(ShapeError, match="doesn't match the broadcast shape"):
        glasstorch.zeros(3, device=cuda.device).copy_(glasstorch.zeros(2, 3))


@pytest.mark.parametrize(
    ("of", "values", "to"),
    [
        ("float32", [1.7, -1.7, 0.0], "int64"),
        ("float64", [-7.9, 7.9], "int32"),
        ("float32", [-1.0, 300.0], "uint8"),
        ("int64", [2**40 + 5, -1], "int32"),
        ("int64", [-1, 256], "uint8"),
        ("float32", [0.0, -0.0, 0.5, NAN], "bool"),
        ("bool", [False, True], "float16"),
        ("float64", [1e300, -1e300, 1e-300, NAN], "float32"),
        ("float64", [70000.0, 1.0009765625, -INF], "float16"),
        ("int64", [2**24 + 1, -3], "bfloat16"),
        ("float16", [0.5, 65504.0], "bfloat16"),
        ("bfloat16", [2.5, -3.0], "int64"),
    ],
)
def test_a_device_casts_as_the_cpu_does(cuda: Devices, of: str, values: list[Any], to: str) -> None:
    here = glasstorch.tensor(values, dtype=getattr(glasstorch, of))
    wanted = getattr(glasstorch, to)
    np.testing.assert_array_equal(here.to(cuda.device).to(wanted).cpu().array(), here.to(wanted).array())


def test_bits_of_a_number_are_copied_as_they_are(cuda: Devices) -> None:
    nan = np.array([0x7F800123, 0x3F800000] * 3, np.uint32).view(np.float32)
    copy = glasstorch.from_numpy(nan).to(cuda.device).view(2, 3).t().contiguous()
    assert copy.t().contiguous().cpu().numpy().reshape(-1).view(np.uint32).tolist() == nan.view(np.uint32).tolist()


def test_a_copy_between_devices_waits_for_the_work_on_both(cuda: Devices) -> None:
    two_devices(cuda)
    first, second = cuda.device, glasstorch.device("cuda:1")
    for layout in LAYOUTS.values():
        for to in (glasstorch.int32, glasstorch.float64):
            source = layout(numbers("int32").to(first)) * 2
            there = source.to(second, to)
            assert (there.device, there.tolist()) == (second, (layout(numbers("int32")) * 2).to(to).tolist())
            assert there.add(1).to(first).tolist() == (layout(numbers("int32")) * 2 + 1).to(to).tolist()
    assert glasstorch.cuda.current_device() == 0


def test_a_stream_that_does_not_block_copies_later(cuda: Devices) -> None:
    if not cuda.driver.simulated:
        pytest.skip("when a card copies depends on time")
    pinned = glasstorch.zeros(1000).pin_memory()
    side = glasstorch.cuda.Stream(device=cuda.device)
    with glasstorch.cuda.stream(side):
        there = pinned.to(cuda.device, non_blocking=True)
        pinned.fill_(7)  # before the copy has run: the mistake that non_blocking allows
        back = there.to("cpu", non_blocking=True)
    assert back.is_pinned()
    side.synchronize()
    assert there.tolist() == back.tolist() == [7] * 1000


def test_a_copy_from_pinned_memory_that_blocks_has_read_it(cuda: Devices) -> None:
    pinned = glasstorch.ones(1000).pin_memory()
    there = pinned.to(cuda.device)
    pinned.fill_(7)
    assert there.tolist() == [1] * 1000


def test_a_copy_to_pinned_memory_that_blocks_has_written_it(cuda: Devices) -> None:
    pinned = glasstorch.zeros(1000).pin_memory()
    pinned.copy_(glasstorch.ones(1000, device=cuda.device) * 3)
    assert pinned.tolist() == [3] * 1000


@pytest.mark.parametrize("dtype", DTYPES)
def test_fill_reaches_every_element_and_no_other(cuda: Devices, dtype: str) -> None:
    for value in (0, 1, 3):
        for name, layout in LAYOUTS.items():
            if name != "broadcast":  # whose elements are not places of their own
                ours, theirs = numbers(dtype).to(cuda.device), numbers(dtype)
                layout(ours).fill_(value)
                layout(theirs).fill_(value)
                assert ours.tolist() == theirs.tolist()


def test_fill_serves_long_tensors_at_any_offset(cuda: Devices) -> None:
    x = glasstorch.zeros(5001, device=cuda.device)
    x[1:].fill_(1.5)
    x[:1].zero_()
    assert (x.cpu() == glasstorch.tensor([0.0] + [1.5] * 5000)).all()
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        glasstorch.zeros(2, dtype=glasstorch.uint8, device=cuda.device).fill_(300)


def test_clone_keeps_the_order_in_memory(cuda: Devices) -> None:
    x = glasstorch.arange(6, device=cuda.device).view(2, 3).t()
    assert (x.clone().stride(), x.clone().tolist()) == ((1, 3), x.tolist())
    assert x.clone().data_ptr() != x.data_ptr()


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_element_becomes_a_number(cuda: Devices, dtype: str) -> None:
    number = glasstorch.tensor([1], device=cuda.device).to(getattr(glasstorch, dtype)).item()
    assert (number, type(number)) == (1, type(glasstorch.tensor([1]).to(getattr(glasstorch, dtype)).item()))


def test_a_tensor_elsewhere_is_refused_by_kernels(cuda: Devices) -> None:
    with pytest.raises(DeviceError, match=r"Expected all tensors to be on the same device.*cuda:0 and cpu!"):
        glasstorch.ones(2, device=cuda.device) + glasstorch.ones(2)


def test_every_kernel_of_the_file_is_named() -> None:
    text = source("copies.cu") + source("fill.cu")
    for _, name, _ in copies.instantiations():
        assert f"__global__ void {name}(" in text


def test_work_on_a_device_leaves_the_current_one_as_it_is(cuda: Devices) -> None:
    two_devices(cuda)
    with stream.device(1):
        assert glasstorch.zeros(3, device="cuda:0").add(1).t().contiguous().tolist() == [1, 1, 1]
        assert glasstorch.cuda.current_device() == 1
        assert glasstorch.empty(1, device="cuda").device.index == 1
