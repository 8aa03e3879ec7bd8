"""Does `x.to(...)` take what PyTorch's takes, and give the tensor itself where nothing changes?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SAME: dict[str, Callable[[Any, Any], Any]] = {
    "its dtype": lambda t, x: x.to(t.float32),
    "its device": lambda t, x: x.to("cpu"),
    "its device as an object": lambda t, x: x.to(t.device("cpu")),
    "both": lambda t, x: x.to("cpu", t.float32),
    "by name": lambda t, x: x.to(device="cpu", dtype=t.float32),
    "nothing": lambda t, x: x.to(None),
    "another tensor": lambda t, x: x.to(t.zeros(3)),
    "type_as": lambda t, x: x.type_as(t.zeros(3)),
    "float": lambda t, x: x.float(),
    "cpu": lambda t, x: x.cpu(),
    "the layout it looks like": lambda t, x: x.to(memory_format=t.contiguous_format),
}


@pytest.mark.parametrize("name", SAME)
def test_the_tensor_itself(torch: Any, name: str) -> None:
    x = torch.ones(2, 3).t()
    assert SAME[name](torch, x) is x


CHANGED: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "a dtype": (lambda t, x: x.to(t.float64), "float64", "cpu"),
    "Python's float": (lambda t, x: x.to(float), "float64", "cpu"),
    "Python's int": (lambda t, x: x.to(int), "int64", "cpu"),
    "a device": (lambda t, x: x.to("meta"), "float32", "meta"),
    "a device and a dtype": (lambda t, x: x.to(t.device("meta"), t.int64), "int64", "meta"),
    "flags by place": (lambda t, x: x.to("cpu", t.int64, True, True), "int64", "cpu"),
    "flags after a dtype": (lambda t, x: x.to(t.int64, False, True), "int64", "cpu"),
    "another tensor": (lambda t, x: x.to(t.zeros(1, dtype=t.bool)), "bool", "cpu"),
    "a copy": (lambda t, x: x.to(t.float32, copy=True), "float32", "cpu"),
    "a copy of a tensor's kind": (lambda t, x: x.to(x, copy=True), "float32", "cpu"),
    "long": (lambda t, x: x.long(), "int64", "cpu"),
    "bool": (lambda t, x: x.bool(), "bool", "cpu"),
    "half": (lambda t, x: x.half(), "float16", "cpu"),
    "bfloat16": (lambda t, x: x.bfloat16(), "bfloat16", "cpu"),
    "double in another layout": (lambda t, x: x.double(memory_format=t.contiguous_format), "float64", "cpu"),
    "type_as": (lambda t, x: x.type_as(t.zeros(1, dtype=t.int32)), "int32", "cpu"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_copy_of_another_kind(torch: Any, name: str) -> None:
    convert, dtype, device = CHANGED[name]
    x = torch.ones(2, 3).t()
    y = convert(torch, x)
    assert y is not x
    assert (y.dtype, y.device.type, tuple(y.shape)) == (getattr(torch, dtype), device, (3, 2))
    if device == "cpu":
        assert y.tolist() == [[1, 1]] * 3


def test_gradients_come_back_in_the_first_dtype(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x.double() * 3).sum().backward()
    assert x.grad.dtype is torch.float32
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t, x: x.to(other=x),
        lambda t, x: x.to(t.float32, dtype=t.float64),
        lambda t, x: x.to("cpu", "float32"),
        lambda t, x: x.to(t.float32, "yes"),
        lambda t, x: x.to(memory_format="channels_last"),
        lambda t, x: x.to(x, dtype=t.float64),
    ],
)
def test_other_arguments_are_refused(torch: Any, wrong: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments - got"):
        wrong(torch, torch.ones(2))


def test_an_unknown_device_is_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="device type at start of device string: nope"):
        torch.ones(2).to("nope")
