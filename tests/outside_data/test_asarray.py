"""Does asarray share, copy and refuse as PyTorch's does?"""

from __future__ import annotations

import array
import re
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core import warn_once


def given_array() -> Any:
    return np.arange(3.0)


def test_an_array_shares_its_memory_unless_something_must_change(torch: Any) -> None:
    a = given_array()
    assert torch.asarray(a).data_ptr() == a.ctypes.data
    assert torch.asarray(a, dtype=torch.float64, copy=False, device="cpu").data_ptr() == a.ctypes.data
    for kwargs in ({"copy": True}, {"dtype": torch.float32}, {"dtype": torch.float64, "copy": True}):
        x = torch.asarray(a, **kwargs)
        assert x.data_ptr() != a.ctypes.data
        assert x.tolist() == [0, 1, 2]
    assert torch.asarray(a, device="meta").device.type == "meta"


def test_a_tensor_is_returned_itself(torch: Any) -> None:
    x = torch.arange(3.0)
    assert torch.asarray(x) is x
    assert torch.asarray(x, copy=True).data_ptr() != x.data_ptr()
    assert torch.asarray(x, dtype=torch.int64).dtype is torch.int64


@pytest.mark.parametrize(
    ("obj", "dtype", "elements"),
    [
        (bytearray(b"\0\0\x80\x3f"), None, [1.0]),
        (bytearray(b"\1\2"), "uint8", [1, 2]),
        (memoryview(bytearray(b"\1\0\2\0")), "int16", [1, 2]),
        (array.array("i", [1, 2]), "int32", [1, 2]),
        (np.float32(3), None, 3.0),
        (np.bool_(True), None, True),
        ([1, 2.5], None, [1.0, 2.5]),
        ((1, 2), "float64", [1.0, 2.0]),
        (range(3), None, [0, 1, 2]),
        (3, None, 3),
        (1j, None, 1j),
        ([], None, []),
    ],
)
def test_anything_becomes_a_tensor(torch: Any, obj: Any, dtype: str | None, elements: Any) -> None:
    x = torch.asarray(obj, dtype=None if dtype is None else getattr(torch, dtype))
    assert x.tolist() == elements
    assert dtype is None or x.dtype is getattr(torch, dtype)


def test_buffers_and_capsules_are_shared(torch: Any) -> None:
    buffer = bytearray(4)
    x = torch.asarray(buffer, dtype=torch.uint8)
    buffer[1] = 5
    assert x.tolist() == [0, 5, 0, 0]
    y = torch.ones(2)
    assert torch.asarray(torch.utils.dlpack.to_dlpack(y)).data_ptr() == y.data_ptr()


@pytest.mark.parametrize(
    ("make", "kwargs", "error", "words"),
    [
        (lambda t: given_array(), {"dtype": "float32"}, ValueError, "with dtype 'Double' into dtype 'Float'."),
        (lambda t: given_array(), {"device": "meta"}, ValueError, "can't alias tensor from device 'cpu' to 'meta'."),
        (lambda t: t.ones(1), {"dtype": "int64"}, ValueError, "with dtype 'Float' into dtype 'Long'."),
        (lambda t: np.float32(1), {}, RuntimeError, "can't alias NumPy scalars. Either remove copy=False or"),
        (lambda t: [1, 2], {}, ValueError, "can't alias arbitrary sequence into a tensor."),
        (lambda t: 3, {}, ValueError, "can't alias arbitrary sequence into a tensor."),
    ],
)
def test_what_cannot_be_shared_is_refused_where_it_must_be(
    torch: Any, make: Any, kwargs: dict[str, str], error: Any, words: str
) -> None:
    known = {key: getattr(torch, value) if key == "dtype" else value for key, value in kwargs.items()}
    with pytest.raises(error, match=re.escape(words)):
        torch.asarray(make(torch), copy=False, **known)


def test_a_dtype_is_a_dtype(torch: Any) -> None:
    assert torch.asarray(1, dtype=float).dtype is torch.float64
    with pytest.raises(TypeError, match=r"asarray\(\): argument 'dtype' must be torch.dtype, not str"):
        torch.asarray(1, dtype="float32")


def test_a_gradient_can_be_asked_for_and_refused(torch: Any) -> None:
    x = torch.ones(2)
    assert torch.asarray(x, requires_grad=True) is x
    assert x.requires_grad
    y = x * 2
    assert torch.asarray(y, requires_grad=True) is y
    detached = torch.asarray(y, requires_grad=False)
    assert not detached.requires_grad
    assert detached.data_ptr() == y.data_ptr()
    copied = torch.asarray(x, copy=True, requires_grad=False)
    assert not copied.requires_grad
    assert torch.asarray(x, requires_grad=False) is x
    assert not x.requires_grad
    assert torch.asarray([1.0], requires_grad=True).is_leaf
    with pytest.raises(RuntimeError, match="floating point and complex dtype"):
        torch.asarray([1], requires_grad=True)


def test_a_gradient_that_nobody_spoke_of_stays_with_a_word() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    warn_once._given.clear()
    with pytest.warns(UserWarning, match="unspecified requires_grad now defaults to obj.requires_grad"):
        assert glasstorch.asarray(x) is x
    copied = glasstorch.asarray(x, copy=True)
    assert (copied.requires_grad, copied.is_leaf) == (True, False)


def test_a_gradient_that_the_dtype_cannot_have_is_refused() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    warn_once._given.clear()
    with (
        pytest.warns(UserWarning, match="unspecified requires_grad"),
        pytest.raises(RuntimeError, match="floating point and complex dtype"),
    ):
        glasstorch.asarray(x, dtype=glasstorch.int8)
    assert not glasstorch.asarray(x, dtype=glasstorch.float64).is_leaf
    assert not glasstorch.asarray(x, dtype=glasstorch.int8, requires_grad=False).requires_grad


def test_a_read_only_array_is_told_of_only_where_it_is_shared() -> None:
    a = given_array()
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        glasstorch.asarray(a)
    glasstorch.asarray(a, copy=True)
    glasstorch.asarray(a, dtype=glasstorch.float32)
