"""Are devices read, compared and refused as PyTorch's?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.device import CPU, device
from glasstorch.core.errors import DeviceError

Require = Callable[[str], Any]

GOOD: list[tuple[Any, ...]] = [
    ("cpu",), ("cuda",), ("cuda:1",), ("cuda", 2), ("meta",), ("cpu", 0), ("cpu:0",), ("cuda", None), ("meta:0",),
]  # fmt: skip
BAD: list[tuple[Any, ...]] = [
    ("",), ("cuda:",), ("cuda:x",), ("cuda:1:2",), ("gpu",), ("cuda:1", 1), (1.5,), (None,), ("cuda:01",), ("CPU",),
]  # fmt: skip


def test_equal_descriptions_are_one_object() -> None:
    assert device("cuda:1") is device("cuda", 1)
    assert device(device("cpu")) is CPU
    assert device(2) is device("cuda:2")
    assert device("cuda") is not device("cuda:0")


def test_a_device_does_not_change() -> None:
    with pytest.raises(AttributeError, match="device is immutable"):
        CPU.index = 3


def test_a_device_survives_pickling_as_the_same_object() -> None:
    assert pickle.loads(pickle.dumps(device("cuda:3"))) is device("cuda:3")


@pytest.mark.parametrize("arguments", GOOD, ids=str)
def test_a_good_device_reads_as_in_pytorch(arguments: tuple[Any, ...], require: Require) -> None:
    torch = require("torch")
    ours, theirs = device(*arguments), torch.device(*arguments)
    assert (repr(ours), str(ours), ours.type, ours.index) == (repr(theirs), str(theirs), theirs.type, theirs.index)


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_a_bad_device_is_refused_with_the_error_class_of_pytorch(arguments: tuple[Any, ...], require: Require) -> None:
    torch = require("torch")
    with pytest.raises((RuntimeError, TypeError, ValueError)) as theirs:
        torch.device(*arguments)
    with pytest.raises(theirs.type):
        device(*arguments)


NAMED = ["mps", "xpu", "hpu", "xla", "ipu", "vulkan", "lazy", "mtia", "privateuseone", "hip", "opencl", "ve", "fpga"]


@pytest.mark.parametrize("name", NAMED)
def test_devices_that_hold_no_tensors_are_named_compared_and_saved(torch: Any, name: str) -> None:
    one = torch.device(name)
    assert repr(one) == f"device(type='{name}')"
    assert str(torch.device(name, 1)) == str(torch.device(f"{name}:1")) == f"{name}:1"
    assert (one == torch.device(name), one == torch.device(name, 0), one == torch.device("cpu")) == (True, False, False)
    assert pickle.loads(pickle.dumps(one)) == one
    assert len({one, torch.device(name)}) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda torch, on: torch.ones(2, device=on),
        lambda torch, on: torch.tensor([1.0], device=on),
        lambda torch, on: torch.rand(2, device=on),
        lambda torch, on: torch.ones(2).to(on),
        lambda torch, on: torch.zeros_like(torch.ones(2), device=on),
        lambda torch, on: torch.nn.Linear(1, 1).to(on),
        lambda torch, on: torch.UntypedStorage(3, device=on),
    ],
)
def test_a_device_that_holds_no_tensors_is_refused_when_it_is_used(use: Any) -> None:
    for on in (device("mps"), "xpu:1"):
        with pytest.raises(
            DeviceError, match=r"there are no tensors on a device of type '(mps|xpu)'; expected one of c"
        ):
            use(glasstorch, on)


def test_the_refusal_says_what_would_be_accepted() -> None:
    with pytest.raises(DeviceError, match=r"^Expected one of cpu, cuda, .* device type at start of device string: gpu"):
        device("gpu")
    with pytest.raises(DeviceError, match="Invalid device string: 'cuda:x'; expected a type with an optional index"):
        device("cuda:x")
    with pytest.raises(DeviceError, match=r"must not include an index because .*: cuda:1; got 0"):
        device("cuda:1", 0)
