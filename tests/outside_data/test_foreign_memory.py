"""Does memory of other libraries become a tensor as it does in PyTorch?"""

from __future__ import annotations

import array
import mmap
import re
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch

BYTES = b"\0\0\x80\x3f\0\0\0\x40"  # 1.0 and 2.0 as float32


def alike(t: Any) -> tuple[Any, ...]:
    return str(t.dtype), tuple(t.shape), t.stride(), t.tolist()


# frombuffer -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kwargs", "elements"),
    [
        ("float32", {}, [1, 2]),
        ("uint8", {"count": 3, "offset": 2}, [128, 63, 0]),
        ("int16", {"offset": 2}, [16256, 0, 16384]),
        ("int16", {"offset": 1, "count": 2}, [-32768, 63]),
        ("bfloat16", {}, [0, 1, 0, 2]),
        ("complex64", {"count": -7}, [1 + 2j]),
        ("bool", {"count": 3}, [False, False, True]),
    ],
)
def test_a_buffer_is_read_as_a_dtype(torch: Any, name: str, kwargs: Any, elements: list[Any]) -> None:
    buffer = bytearray(BYTES)
    x = torch.frombuffer(buffer, dtype=getattr(torch, name), **kwargs)
    assert alike(x) == (f"torch.{name}", (len(elements),), (1,), elements)
    buffer[:] = bytes(8)
    assert not any(x.tolist())
    assert not x.untyped_storage().resizable()


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"offset": 3}, "buffer length (5 bytes) after offset (3 bytes) must be a multiple of element size (2)"),
        ({"offset": 8}, "offset (8 bytes) must be non-negative and no greater than buffer length (8 bytes) minus 1"),
        ({"offset": -1}, "offset (-1 bytes) must be non-negative"),
        ({"count": 0}, "both buffer length (8) and count (0) must not be 0"),
        ({"count": 5}, "requested buffer length (5 * 2 bytes) after offset (0 bytes) must not be greater than actual"),
        ({"count": 4, "offset": 1}, "requested buffer length (4 * 2 bytes) after offset (1 bytes)"),
    ],
)
def test_what_a_buffer_does_not_have_is_refused(torch: Any, kwargs: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        torch.frombuffer(bytearray(BYTES), dtype=torch.int16, **kwargs)


def test_what_is_no_buffer_is_refused(torch: Any) -> None:
    with pytest.raises(ValueError, match="object does not implement Python buffer protocol"):
        torch.frombuffer([1, 2], dtype=torch.int16)
    with pytest.raises(ValueError, match="both buffer length"):
        torch.frombuffer(bytearray(), dtype=torch.int16)
    with pytest.raises(RuntimeError, match="could not retrieve buffer from object"):
        torch.frombuffer(np.zeros((4, 4))[:, ::2], dtype=torch.float64)
    with pytest.raises(TypeError):
        torch.frombuffer(bytearray(4), dtype="float32")
    with pytest.raises(TypeError):
        torch.frombuffer(bytearray(4))


def test_every_kind_of_buffer_is_shared(torch: Any, tmp_path: Path) -> None:
    numbers = array.array("d", [1, 2])
    torch.frombuffer(numbers, dtype=torch.float64)[0] = 9
    assert numbers[0] == 9
    raw = np.arange(3.0)
    assert torch.frombuffer(raw, dtype=torch.float64).data_ptr() == raw.ctypes.data
    assert torch.frombuffer(memoryview(raw).cast("B"), dtype=float).tolist() == [0, 1, 2]
    path = tmp_path / "file"
    path.write_bytes(BYTES)
    with path.open("r+b") as file:
        x = torch.frombuffer(mmap.mmap(file.fileno(), 8), dtype=torch.float32)
    x[1] = 3
    assert path.read_bytes()[4:] == b"\0\0\x40\x40"


def test_a_buffer_may_require_grad(torch: Any) -> None:
    assert torch.frombuffer(bytearray(BYTES), dtype=torch.float32, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match=r"^Only Tensors of floating point and complex dtype"):
        torch.frombuffer(bytearray(BYTES), dtype=torch.int32, requires_grad=True)


def test_a_buffer_that_cannot_be_written_warns() -> None:
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        x = glasstorch.frombuffer(BYTES, dtype=glasstorch.float32)
    with pytest.raises(ValueError, match="read-only"):
        x += 1


def test_the_buffer_lives_as_long_as_the_tensor() -> None:
    numbers = np.arange(3.0)
    alive = weakref.ref(numbers)
    x = glasstorch.frombuffer(numbers, dtype=glasstorch.float64)[1:]
    del numbers
    assert alive() is not None
    assert x.tolist() == [1, 2]
    del x
    assert alive() is None


# from_numpy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(6.0).reshape(2, 3).T,
        lambda: np.arange(12, dtype=np.int16)[2:8:3],
        lambda: np.array(3, np.uint64),
        lambda: np.arange(8, dtype=np.uint8)[1:5].view(np.int32),
        lambda: np.zeros((2, 2), np.complex128)[:, 1],
    ],
)
def test_an_array_is_seen_as_it_lies(require: Any, make: Any) -> None:
    given = make()
    x, y = glasstorch.from_numpy(given), require("torch").from_numpy(given)
    assert alike(x) == alike(y)
    assert x.data_ptr() == y.data_ptr()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: np.arange(3.0)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (lambda: np.arange(3, dtype=">i4"), ValueError, "byte order different from the native byte order"),
        (lambda: np.zeros(3, [("x", "f4"), ("y", "i1")])["x"], ValueError, "strides not a multiple of the element"),
        (
            lambda: np.array("a"),
            TypeError,
            "can't convert np.ndarray of type numpy.str_. The only supported types are:",
        ),
        (lambda: np.zeros(1, np.longdouble), TypeError, "can't convert np.ndarray of type numpy.longdouble"),
        (lambda: np.float64(1), TypeError, "expected np.ndarray (got numpy.float64)"),
        (lambda: [1], TypeError, "expected np.ndarray (got list)"),
    ],
)
def test_an_array_that_no_tensor_can_share_is_refused(torch: Any, make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        torch.from_numpy(make())


EMPTY = {
    "rows without columns": np.zeros((3, 0)),
    "no row": np.zeros((0, 3), np.int32),
    "one dimension": np.zeros(0),
    "a slice": np.zeros((3, 4))[:, :0],
    "a transposed slice": np.zeros((3, 4)).T[:0],
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_array_without_elements_keeps_its_strides(torch: Any, name: str) -> None:
    ndarray = EMPTY[name]
    strides = tuple(step // ndarray.itemsize for step in ndarray.strides)
    # Through DLPack, NumPy 2.2 gives no strides of an array without elements: then they are those of a new tensor.
    given = np.from_dlpack(ndarray).strides == ndarray.strides
    received = strides if given else torch.empty(ndarray.shape).stride()
    makers = (torch.from_numpy, torch.as_tensor, torch.asarray, torch.from_dlpack)
    for made, expected in zip(makers, (strides, strides, strides, received), strict=True):
        x = made(ndarray)
        assert (tuple(x.shape), x.stride()) == (ndarray.shape, expected)
        assert x.numpy().shape == ndarray.shape
    assert torch.from_numpy(ndarray).clone().stride() == strides
    assert tuple((torch.from_numpy(ndarray) + 1).shape) == ndarray.shape


# from_file ------------------------------------------------------------------------------------------------------


def test_a_tensor_over_a_file(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(BYTES)
    private = torch.from_file(str(path), size=2, dtype=torch.float32)
    private += 1
    assert path.read_bytes() == BYTES
    shared = torch.from_file(str(path), shared=True, size=2, dtype=torch.float32)
    shared[0] = 2
    assert torch.from_file(str(path), size=2, dtype=torch.float32).tolist() == [2, 2]


def test_a_file_has_a_default_dtype_and_lies_in_main_memory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(BYTES)
    assert glasstorch.from_file(str(path), size=2).dtype is glasstorch.get_default_dtype()
    with pytest.raises(RuntimeError, match="device must be cpu, got meta"):
        glasstorch.from_file(str(path), size=2, device="meta")


# DLPack ---------------------------------------------------------------------------------------------------------


class Older:
    """An exporter that knows only the first version of the protocol."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.given.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.given.__dlpack_device__()


def test_an_array_is_taken_over(torch: Any) -> None:
    given = np.arange(6.0).reshape(2, 3).T
    x = torch.from_dlpack(given)
    assert (x.data_ptr(), x.stride(), x.dtype) == (given.ctypes.data, (1, 3), torch.float64)
    for y in (
        torch.from_dlpack(given, device="cpu"),
        torch.from_dlpack(given, copy=False),
        torch.from_dlpack(given.__dlpack__()),
    ):
        assert y.data_ptr() == x.data_ptr()
    assert torch.from_dlpack(given, copy=True).data_ptr() != x.data_ptr()
    assert torch.utils.dlpack.from_dlpack(given).tolist() == given.tolist()


def test_an_older_exporter_is_understood(torch: Any) -> None:
    given = np.arange(3.0)
    assert torch.from_dlpack(Older(given)).data_ptr() == given.ctypes.data
    copied = torch.from_dlpack(Older(given), copy=True)
    assert copied.data_ptr() != given.ctypes.data
    assert copied.tolist() == [0, 1, 2]


def test_a_capsule_is_taken_over_once(torch: Any) -> None:
    capsule = torch.utils.dlpack.to_dlpack(torch.ones(2))
    assert torch.from_dlpack(capsule).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        torch.from_dlpack(3)


def test_what_is_on_no_such_device_is_refused(torch: Any) -> None:
    with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
        torch.from_dlpack(np.ones(1), device="meta")
    with pytest.raises(BufferError):
        torch.from_dlpack(np.array(["a"]))


def test_a_tensor_keeps_the_exporters_memory_alive() -> None:
    given = np.arange(3.0)
    alive = weakref.ref(given)
    x = glasstorch.from_dlpack(given)[1:]
    del given
    assert alive() is not None
    assert x.tolist() == [1, 2]
    del x
    assert alive() is None


def test_a_tensor_goes_round_through_both_libraries(require: Any) -> None:
    theirs = require("torch")
    x = glasstorch.arange(4.0)
    place = x.data_ptr()
    y = glasstorch.from_dlpack(theirs.from_dlpack(glasstorch.from_dlpack(theirs.from_dlpack(x))))
    del x
    glasstorch.zeros(4)
    assert (y.data_ptr(), y.tolist()) == (place, [0, 1, 2, 3])


def test_a_read_only_array_is_not_written_to() -> None:
    given = np.arange(3.0)
    given.flags.writeable = False
    x = glasstorch.from_dlpack(given)
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    assert (x + 1).tolist() == [1, 2, 3]


def test_taking_over_is_quiet() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        glasstorch.from_dlpack(glasstorch.ones(2))
        glasstorch.from_numpy(np.ones(2))
