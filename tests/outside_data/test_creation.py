"""Does data become the tensor that PyTorch makes of it?"""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

DATA: dict[str, tuple[Any, str, Any]] = {
    # data -> dtype, elements
    "a float": (1.5, "float32", 1.5),
    "an int": (-3, "int64", -3),
    "a bool": (True, "bool", True),
    "floats": ([1.0, 2.5], "float32", [1.0, 2.5]),
    "ints": ((1, 2), "int64", [1, 2]),
    "ints and floats": ([1, 2.5, True], "float32", [1.0, 2.5, 1.0]),
    "bools and ints": ([True, 2], "int64", [1, 2]),
    "bools": ([[True], [False]], "bool", [[True], [False]]),
    "nested": ([[1, 2], (3, 4)], "int64", [[1, 2], [3, 4]]),
    "a range": (range(3), "int64", [0, 1, 2]),
    "nothing": ([], "float32", []),
    "rows of nothing": ([[], []], "float32", [[], []]),
    "a NumPy number": (np.float64(1.5), "float64", 1.5),
    "NumPy numbers": ([np.float32(1.5), 2], "float32", [1.5, 2.0]),
    "NumPy numbers of two kinds": ([np.int32(1), np.float64(2)], "float64", [1.0, 2.0]),
    "NumPy integers": ([np.int32(3)], "int32", [3]),
    "an array": (np.array([[1, 2]], np.uint8), "uint8", [[1, 2]]),
    "an array of float64": (np.ones(2), "float64", [1.0, 1.0]),
    "arrays in a list": ([np.ones(2, np.float32).tolist(), [1, 2]], "float32", [[1.0, 1.0], [1.0, 2.0]]),
    "the largest int": (2**63 - 1, "int64", 2**63 - 1),
    "a float that becomes infinite": ([1e300], "float32", [float("inf")]),
    "a number that becomes infinite": (-1e300, "float32", -float("inf")),
}


@pytest.mark.parametrize("name", DATA)
def test_what_tensor_makes(torch: Any, name: str) -> None:
    data, dtype, elements = DATA[name]
    for make in (torch.tensor, torch.as_tensor, torch.asarray):
        x = make(data)
        assert x.dtype is getattr(torch, dtype)
        assert x.tolist() == elements
        assert x.is_leaf


@pytest.mark.parametrize(
    ("data", "dtype", "elements"),
    [
        ([1.9, -1.9], "int64", [1, -1]),
        ([255, -1], "uint8", [255, 255]),
        ([2, 0.0], "bool", [True, False]),
        ([1, 2], "float64", [1.0, 2.0]),
        ([65504.0, 1e9], "float16", [65504.0, float("inf")]),
        (2**63, "float64", float(2**63)),
        ([1.00390625], "bfloat16", [1.0]),
    ],
)
def test_a_dtype_that_is_asked_for(torch: Any, data: Any, dtype: str, elements: Any) -> None:
    x = torch.tensor(data, dtype=getattr(torch, dtype))
    assert x.dtype is getattr(torch, dtype)
    assert x.tolist() == elements


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "ragged": (lambda t: t.tensor([[1, 2], [3]]), ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
    "ragged deeper": (lambda t: t.tensor([[[1], [2, 3]]]), ValueError, r"of length 1 at dim 2 \(got 2\)"),
    "a number beside a list": (lambda t: t.tensor([[1, 2], 3]), TypeError, "not a sequence"),
    "a list beside a number": (lambda t: t.tensor([1, [2, 3]]), TypeError, "list"),
    "a string": (lambda t: t.tensor("a"), TypeError, "invalid data type 'str'"),
    "None": (lambda t: t.tensor(None), RuntimeError, "Could not infer dtype of NoneType"),
    "a dict": (lambda t: t.tensor({}), RuntimeError, "Could not infer dtype of dict"),
    "None in a list": (lambda t: t.tensor([1, None]), RuntimeError, "Could not infer dtype of NoneType"),
    "a huge int": (lambda t: t.tensor(2**63), ValueError, "Overflow when unpacking long long"),
    "an int too large": (lambda t: t.tensor([300], dtype=t.uint8), RuntimeError, "to type uint8 without overflow"),
    "an int too small": (lambda t: t.tensor([-(2**31) - 1], dtype=t.int32), RuntimeError, "to type int32 without"),
    "NaN": (lambda t: t.tensor([float("nan")], dtype=t.int64), RuntimeError, "to type int64 without overflow"),
    "gradients of ints": (lambda t: t.tensor([1], requires_grad=True), RuntimeError, "floating point"),
    "two arguments": (lambda t: t.tensor([1], 2), TypeError, "positional argument"),
    "no array": (lambda t: t.from_numpy([1]), TypeError, r"expected np.ndarray \(got list\)"),
    "an array of strings": (lambda t: t.from_numpy(np.array(["a"])), TypeError, "of type numpy.str_"),
    "a reversed array": (lambda t: t.from_numpy(np.ones(2)[::-1]), ValueError, "At least one stride"),
    "swapped bytes": (lambda t: t.from_numpy(np.ones(2, ">f4")), ValueError, "byte order different"),
    "odd strides": (lambda t: t.from_numpy(np.zeros(2, "f4,i1")["f0"]), ValueError, "not a multiple of the element"),
    "no alias": (lambda t: t.asarray([1], copy=False), ValueError, "can't alias arbitrary sequence"),
    "no tensor": (lambda t: t.numel(3), TypeError, r"numel\(\): .* must be Tensor, not int"),
    "no broadcast": (lambda t: t.broadcast_tensors(t.ones(2), t.ones(3)), RuntimeError, "must match the size"),
    "a list to broadcast": (lambda t: t.broadcast_tensors([t.ones(2)]), TypeError, "argument 0, but got list"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_data(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


def test_tensor_always_copies(torch: Any) -> None:
    array_ = np.arange(3)
    for source in (array_, [array_]):
        x = torch.tensor(source) if source is array_ else torch.tensor([s.tolist() for s in source])
        x[..., 0] = 9
        assert array_[0] == 0
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        y = torch.tensor(torch.tensor([1.0], requires_grad=True))
    assert (y.requires_grad, y.tolist()) == (False, [1])
    assert tuple(torch.tensor(np.ones((2, 3)).T).stride()) == (1, 3)


def test_memory_is_shared_where_it_can_be(torch: Any) -> None:
    array_ = np.arange(6).reshape(2, 3)
    for make in (torch.from_numpy, torch.as_tensor, torch.asarray):
        x = make(array_.T[1:])
        assert tuple(x.stride()) == (1, 3)
        x[0, 0] += 10
    assert array_.tolist() == [[0, 31, 2], [3, 4, 5]]
    x = torch.ones(2)
    assert torch.as_tensor(x) is x
    assert torch.asarray(x) is x
    assert torch.as_tensor(x, dtype=torch.int64).tolist() == [1, 1]
    assert torch.asarray(x, copy=True) is not x
    assert torch.asarray(x, copy=False) is x


class Exporter:
    """An array of a library that offers nothing but DLPack."""

    def __init__(self, array_: Any) -> None:
        self.array = array_

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(**asked)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_another_library_s_array_is_shared_or_copied(torch: Any) -> None:
    array_ = np.arange(3)
    copied, shared = torch.tensor(Exporter(array_)), torch.as_tensor(Exporter(array_))
    assert torch.asarray(Exporter(array_)).data_ptr() == shared.data_ptr() == array_.ctypes.data
    array_[0] = 7
    assert (copied.tolist(), shared.tolist()) == ([0, 1, 2], [7, 1, 2])
    assert torch.as_tensor(Exporter(array_), dtype=torch.float32).tolist() == [7.0, 1.0, 2.0]


def test_a_copy_keeps_the_order_in_memory(torch: Any) -> None:
    assert tuple(torch.tensor(np.ones((2, 3)).T, dtype=torch.float32).stride()) == (1, 3)
    assert tuple(torch.tensor(np.ones((4, 3))[::2]).stride()) == (3, 1)
    assert tuple(torch.tensor(np.broadcast_to(np.ones(3), (2, 3))).stride()) == (3, 1)


def test_a_type_of_python_s_stands_for_a_dtype(torch: Any) -> None:
    found = [repr(torch.tensor([1], dtype=kind).dtype) for kind in (float, int, bool, complex)]
    assert found == ["torch.float64", "torch.int64", "torch.bool", "torch.complex128"]
    for wrong in ("float32", np.float32):
        with pytest.raises(TypeError, match=r"tensor\(\): argument 'dtype' must be torch.dtype, not"):
            torch.tensor([1], dtype=wrong)
    with pytest.raises(TypeError, match=r"as_tensor\(\): argument 'dtype' must be torch.dtype, not str"):
        torch.as_tensor([1], dtype="float32")


def test_a_view_of_an_array_holds_no_more_than_it_reads(torch: Any) -> None:
    assert torch.from_numpy(np.ones((2, 3))[:, 1:]).untyped_storage().nbytes() == 40


def test_an_array_that_cannot_be_written_warns(torch: Any) -> None:
    frozen = np.ones(3)
    frozen.flags.writeable = False
    if torch.__name__ == "glasstorch":  # PyTorch warns once in a process
        with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
            torch.from_numpy(frozen)
        with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
            torch.as_tensor(frozen)
        torch.tensor(frozen)  # copies it


def test_a_sequence_that_is_no_list(torch: Any) -> None:
    assert torch.tensor(array.array("d", [1, 2]).tolist()).tolist() == [1, 2]
    scalars = [torch.tensor(1), torch.tensor(2.5, dtype=torch.float64)]
    x = torch.tensor(scalars)
    assert (x.dtype, x.tolist()) == (torch.float64, [1, 2.5])


def test_a_device_and_a_gradient_can_be_asked_for(torch: Any) -> None:
    x = torch.tensor([1.0], device="meta")
    assert (x.device.type, tuple(x.shape)) == ("meta", (1,))
    y = torch.tensor([1.0], requires_grad=True)
    assert y.requires_grad
    assert y.is_leaf
    assert torch.asarray([1.0], requires_grad=True).requires_grad


def test_facts(torch: Any) -> None:
    x = torch.ones(2, 3)
    assert torch.numel(x) == 6
    assert (torch.is_tensor(x), torch.is_tensor(3)) == (True, False)
    assert (torch.is_floating_point(x), torch.is_floating_point(x.long())) == (True, False)
    assert [torch.is_signed(x.to(dtype)) for dtype in (torch.int8, torch.uint8, torch.bool)] == [True, False, False]
    assert (torch.is_same_size(x, x.long()), torch.is_same_size(x, x.t())) == (True, False)
    assert torch.get_device(x) == -1
    assert not torch.is_complex(x)
    assert torch.is_nonzero(x[0, 0])


def test_broadcasting_gives_views(torch: Any) -> None:
    x, y = torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))
    assert (tuple(x.stride()), tuple(y.stride())) == ((1, 0), (0, 1))
    assert tuple(torch.broadcast_shapes((2, 1), (3,), 1)) == (2, 3)
    assert torch.broadcast_tensors() == ()


def test_a_list_that_holds_itself_is_refused() -> None:
    import glasstorch

    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions"):
        glasstorch.tensor(endless)
