"""Are devices read, compared and refused as PyTorch's?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

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


def test_the_refusal_says_what_would_be_accepted() -> None:
    with pytest.raises(DeviceError, match="Expected one of cpu, cuda, meta device type at start of device string: gpu"):
        device("gpu")
    with pytest.raises(DeviceError, match="Invalid device string: 'cuda:x'; expected a type with an optional index"):
        device("cuda:x")
    with pytest.raises(DeviceError, match="the index is given twice, in 'cuda:1' and as 0"):
        device("cuda:1", 0)
