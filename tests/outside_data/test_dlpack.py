"""Does a capsule say what it holds, and is what it holds given back once?"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import DTYPES, bfloat16, complex64, float32, int64
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.outside_data import dlpack

ON_CPU = (1, 0)


@pytest.mark.parametrize("versioned", [False, True], ids=["old", "versioned"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_goes_in_comes_out(dtype: Dtype, versioned: bool) -> None:
    array = np.zeros((2, 3), dtype.numpy).T
    held = dlpack.consume(dlpack.produce(array, dtype, ON_CPU, versioned))
    assert (held.dtype, held.shape, held.strides, held.on) == (dtype, (3, 2), (1, 3), CPU)
    assert (held.memory.address, held.memory.nbytes) == (array.ctypes.data, array.nbytes)
    assert not held.copied


def test_the_memory_lives_until_the_consumer_lets_it_go() -> None:
    array = np.arange(4, dtype=np.float32)
    base = array.base if array.base is not None else array
    alive = weakref.ref(base)
    held = dlpack.consume(dlpack.produce(array, float32, ON_CPU, versioned=True))
    del array, base
    assert alive() is not None
    shown = np.asarray(held.memory)
    del held
    assert shown.view(np.float32).tolist() == [0, 1, 2, 3]
    del shown
    assert alive() is None


def test_a_capsule_that_nobody_takes_gives_its_memory_back() -> None:
    array = np.arange(4, dtype=np.float32)
    alive = weakref.ref(array)
    capsule = dlpack.produce(array, float32, ON_CPU, versioned=False)
    del array
    assert alive() is not None
    del capsule
    assert alive() is None


def test_a_capsule_is_taken_once() -> None:
    capsule = dlpack.produce(np.zeros(1, np.int64), int64, ON_CPU, versioned=True)
    assert dlpack.is_capsule(capsule)
    held = dlpack.consume(capsule)
    assert "used_dltensor_versioned" in repr(capsule)
    assert not dlpack.is_capsule(capsule)
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        dlpack.consume(capsule)
    assert held.shape == (1,)


def test_a_device_and_a_copy_are_said() -> None:
    capsule = dlpack.produce(np.zeros(2, np.uint16), bfloat16, (2, 3), versioned=True, copied=True)
    held = dlpack.consume(capsule)
    assert (held.dtype, held.on, held.copied) == (bfloat16, device("cuda", 3), True)
    assert dlpack.consume(dlpack.produce(np.zeros(2, np.uint8), DTYPES[1], (3, 0), False)).on is CPU


def test_a_read_only_array_stays_read_only() -> None:
    array = np.zeros(2, np.complex64)
    array.flags.writeable = False
    held = dlpack.consume(dlpack.produce(array, complex64, ON_CPU, versioned=True))
    assert not np.asarray(held.memory).flags.writeable


def changed(capsule: object, **fields: int) -> object:
    """The capsule with other numbers in its tensor."""
    managed: Any = dlpack._Managed.from_address(dlpack._pointer(capsule, b"dltensor"))
    for name, value in fields.items():
        setattr(managed.tensor, name, value)
    return capsule


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"code": 9, "bits": 7}, BufferError, "Unsupported DLPack dtype: code 9 with 7 bits and 1 lanes"),
        ({"lanes": 4}, BufferError, "4 lanes"),
        ({"device_type": 7}, TypeError, "Unsupported device_type: 7"),
    ],
)
def test_what_no_tensor_can_be_is_refused_and_given_back(fields: dict[str, int], error: Any, words: str) -> None:
    array = np.zeros(3, np.float32)
    alive = weakref.ref(array)
    capsule = changed(dlpack.produce(array, float32, ON_CPU, versioned=False), **fields)
    del array
    with pytest.raises(error, match=words):
        dlpack.consume(capsule)
    del capsule
    assert alive() is None


def test_negative_strides_are_refused() -> None:
    array = np.arange(3.0)[::-1]
    with pytest.raises(BufferError, match=r"negative strides are not supported, got strides \[-1\]"):
        dlpack.consume(array.__dlpack__())


def test_a_newer_layout_is_refused() -> None:
    capsule = dlpack.produce(np.zeros(1, np.int64), int64, ON_CPU, versioned=True)
    managed: Any = dlpack._ManagedVersioned.from_address(dlpack._pointer(capsule, b"dltensor_versioned"))
    managed.major = 2
    with pytest.raises(BufferError, match="the capsule is of version 2, newer than 1"):
        dlpack.consume(capsule)
    managed.major = 1
