"""Do the older ways to make a tensor read their arguments as PyTorch does?"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def seen(tensor: Any) -> tuple[str, tuple[int, ...]]:
    return repr(tensor.dtype), tuple(tensor.shape)


def test_the_constructor_takes_sizes_or_values(torch: Any) -> None:
    assert seen(torch.Tensor(2, 3)) == ("torch.float32", (2, 3))
    assert seen(torch.Tensor(torch.Size([2]))) == ("torch.float32", (2,))
    assert seen(torch.Tensor()) == ("torch.float32", (0,))
    assert torch.Tensor([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.Tensor(range(3)).tolist() == [0.0, 1.0, 2.0]
    assert torch.Tensor(np.array([1, 2])).tolist() == [1.0, 2.0]
    assert torch.Tensor([1], device="cpu").tolist() == [1.0]


Call = Callable[[Any], Any]
BACKWARDS, SWAPPED = np.arange(6)[::-1], np.arange(6).astype(">i4")

ARRAYS: dict[str, tuple[Call, str, tuple[int, ...], tuple[int, ...] | None]] = {
    # made -> dtype, sizes, strides
    "no rows": (lambda t: t.ones(2).new_tensor(np.zeros((0, 3))), "float32", (0, 3), None),
    "one number": (lambda t: t.ones(2).new_tensor(np.array(3)), "float32", (), ()),
    "a size": (lambda t: t.Tensor(np.array(3)), "float32", (3,), (1,)),
    "halves as ints": (lambda t: t.LongTensor(np.array([1, 2.0], np.float16)), "int64", (2,), (1,)),
    "columns": (lambda t: t.Tensor(np.arange(6).reshape(2, 3).T), "float32", (3, 2), (1, 3)),
    "columns, copied": (lambda t: t.ones(1).new_tensor(np.arange(6).reshape(2, 3).T), "float32", (3, 2), (1, 3)),
    "columns, by new": (lambda t: t.ones(1).new(np.arange(6).reshape(2, 3).T), "float32", (3, 2), (1, 3)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_read_as_an_array(torch: Any, name: str) -> None:
    make, dtype, sizes, strides = ARRAYS[name]
    made = make(torch)
    assert seen(made) == (f"torch.{dtype}", sizes)
    assert strides in (None, tuple(made.stride()))


ARRAYS_REFUSED: dict[str, tuple[Call, type[Exception], str]] = {
    "backwards": (lambda t: t.Tensor(BACKWARDS), ValueError, "At least one stride in the given numpy array is neg"),
    "backwards, copied": (lambda t: t.ones(1).new_tensor(BACKWARDS), ValueError, "At least one stride"),
    "of another byte order": (lambda t: t.Tensor(SWAPPED), ValueError, "byte order different from the native"),
    "of strings": (lambda t: t.Tensor(np.array(["a"])), TypeError, "can't convert np.ndarray of type numpy.str_"),
    "of long doubles": (lambda t: t.ones(1).new_tensor(np.ones(2, np.longdouble)), TypeError, "numpy.longdouble"),
}


@pytest.mark.parametrize("name", ARRAYS_REFUSED)
def test_which_arrays_are_refused(torch: Any, name: str) -> None:
    make, error, message = ARRAYS_REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


def test_the_constructor_shares_an_array_s_memory(torch: Any) -> None:
    array = np.ones(2, np.float32)
    torch.Tensor(array)[0] = 5
    torch.ones(1).new(array)[1] = 6
    assert array.tolist() == [5.0, 6.0]


def test_an_array_that_may_not_be_written_to_is_warned_of() -> None:
    import glasstorch  # PyTorch warns once in a process

    array = np.ones(2, np.float32)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        glasstorch.Tensor(array)


class Level(enum.IntEnum):
    THREE = 3


SIZES: dict[str, tuple[Call, tuple[int, ...]]] = {
    "an int of NumPy's": (lambda t: t.Tensor(np.int8(3)), (3,)),
    "ints of both": (lambda t: t.Tensor(np.int8(3), 2), (3, 2)),
    "a member of an IntEnum": (lambda t: t.Tensor(Level.THREE), (3,)),
    "a bool after an int": (lambda t: t.Tensor(2, True), (2, 1)),
    "a tensor before an int": (lambda t: t.Tensor(t.tensor(3), 2), (3, 2)),
    "by new": (lambda t: t.ones(1).new(2, np.int64(2)), (2, 2)),
}


@pytest.mark.parametrize("name", SIZES)
def test_what_the_constructor_takes_for_sizes(torch: Any, name: str) -> None:
    make, sizes = SIZES[name]
    assert tuple(make(torch).shape) == sizes


@pytest.mark.parametrize("value", [np.float32(1.5), np.bool_(True), True, {1: 2}, None], ids=repr)
def test_what_the_constructor_takes_for_neither(torch: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got "):
        torch.Tensor(value)


def test_gradients_flow_through_the_constructor_and_new(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (torch.Tensor(x) * 2 + x.new(x)).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_new_takes_a_tensor_of_the_same_dtype_only(torch: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^expected TensorOptions\(dtype=float, .*\(got TensorOptions\(dtype=long int, "
    ):
        torch.ones(2).new(torch.tensor(3))


def test_the_constructor_shares_a_tensor_s_storage(torch: Any) -> None:
    x = torch.tensor([1, 2])
    y = torch.Tensor(x)
    y[0] = 5
    assert (repr(y.dtype), x.tolist(), y.is_leaf) == ("torch.int64", [5, 2], True)


def test_new_is_of_the_tensor_s_dtype(torch: Any) -> None:
    x = torch.zeros(2, dtype=torch.int16)
    assert seen(x.new(2, 3)) == ("torch.int16", (2, 3))
    assert seen(x.new()) == ("torch.int16", (0,))
    assert seen(x.new([1, 2])) == ("torch.int16", (2,))
    assert x.new([1, 2]).tolist() == [1, 2]


def test_new_tensor_copies_data_to_the_tensor_s_dtype_and_device(torch: Any) -> None:
    x = torch.zeros(2, dtype=torch.float64)
    assert (seen(x.new_tensor([[1]])), x.new_tensor([[1]]).tolist()) == (("torch.float64", (1, 1)), [[1.0]])
    assert torch.zeros(1, dtype=torch.int64).new_tensor([1.5]).tolist() == [1]
    assert repr(x.new_tensor([1], dtype=torch.int8).dtype) == "torch.int8"
    assert repr(x.new_tensor([1], dtype=int).dtype) == "torch.int64"
    assert x.new_tensor([1.0], requires_grad=True).requires_grad
    assert torch.zeros(1, device="meta").new_tensor([1, 2]).is_meta
    source = np.ones(2)
    made = x.new_tensor(source)
    made[0] = 3
    assert source.tolist() == [1, 1]
    with pytest.warns(UserWarning, match=r"rather than tensor.new_tensor\(sourceTensor\)"):
        copied = x.new_tensor(torch.ones(2, requires_grad=True))
    assert (copied.requires_grad, seen(copied)) == (False, ("torch.float64", (2,)))


def test_what_is_neither_sizes_nor_values_is_refused(torch: Any) -> None:
    with pytest.raises(TypeError, match=r"data must be a sequence \(got float\)"):
        torch.Tensor(1.5)
    with pytest.raises(TypeError, match="invalid data type 'str'"):
        torch.Tensor("a")
    with pytest.raises(TypeError, match="argument 'dtype'"):
        torch.ones(1).new_tensor([1], dtype="float32")


def test_new_tensor_pins_its_memory_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    import glasstorch  # PyTorch needs a card for it

    asked = []
    monkeypatch.setattr(glasstorch.Tensor, "pin_memory", lambda self: asked.append(self.tolist()) or self)
    x = glasstorch.ones(1)
    x.new_tensor([1])
    assert asked == []
    x.new_tensor([1, 2], pin_memory=True)
    assert asked == [[1.0, 2.0]]
