"""Does `x[...]` mean what it means in PyTorch, for reading and for writing?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import steady


def matrix(torch: Any) -> Any:
    """0 to 11 in three rows."""
    return torch.arange(12).view(3, 4)


BASIC: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], int]] = {
    # index -> sizes, strides and offset of the view
    "a number": (1, (4,), (1,), 4),
    "a negative number": (-1, (4,), (1,), 8),
    "two numbers": ((1, -1), (), (), 7),
    "a NumPy number": (np.int64(2), (4,), (1,), 8),
    "a slice": (slice(1, None), (2, 4), (4, 1), 4),
    "a slice with a step": (slice(None, None, 2), (2, 4), (8, 1), 0),
    "everything": (slice(None), (3, 4), (4, 1), 0),
    "an empty slice": (slice(2, 1), (0, 4), (4, 1), 8),
    "a column": ((slice(None), 1), (3,), (4,), 1),
    "dots": (..., (3, 4), (4, 1), 0),
    "dots and a number": ((..., 1), (3,), (4,), 1),
    "a number and dots": ((1, ...), (4,), (1,), 4),
    "None": (None, (1, 3, 4), (12, 4, 1), 0),
    "None on both sides": ((None, ..., None), (1, 3, 4, 1), (12, 4, 1, 1), 0),
    "None between": ((0, None, slice(1, 3)), (1, 2), (4, 1), 1),
    "nothing": ((), (3, 4), (4, 1), 0),
}


@pytest.mark.parametrize("name", BASIC)
def test_numbers_slices_none_and_dots_give_views(torch: Any, name: str) -> None:
    index, shape, strides, offset = BASIC[name]
    x = matrix(torch)
    view = x[index]
    assert (tuple(view.shape), tuple(view.stride()), view.storage_offset()) == (shape, strides, offset)
    assert view is not x
    assert view._base is not None
    assert view.data_ptr() == x.data_ptr() + 8 * offset or 0 in shape


def test_numbers_can_be_arrays(torch: Any) -> None:
    x = matrix(torch)
    assert x[np.array(1)].data_ptr() == x[np.array(1.5)].data_ptr() == x.data_ptr() + 32
    assert x[np.array(True)].tolist() == [x.tolist()]


def test_ends_beyond_int64_are_cut_off(torch: Any) -> None:
    x = matrix(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that it does so
        assert x[: 2**70, -(2**70) :].tolist() == x.tolist()


def test_numbers_can_be_tensors(torch: Any) -> None:
    x = matrix(torch)
    one = torch.tensor(1)
    assert x[one].tolist() == [4, 5, 6, 7]
    assert x[one, one.int()].item() == 5
    assert x[slice(torch.tensor(0), one)].tolist() == [[0, 1, 2, 3]]
    assert x[one].data_ptr() == x.data_ptr() + 32


COPIED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "a list": (lambda t: [2, 0], [[8, 9, 10, 11], [0, 1, 2, 3]]),
    "an empty list": (lambda t: [], []),
    "a range": (lambda t: range(0, 3, 2), [[0, 1, 2, 3], [8, 9, 10, 11]]),
    "an array": (lambda t: np.array([1]), [[4, 5, 6, 7]]),
    "an array of bools": (lambda t: np.array([False, True, False]), [[4, 5, 6, 7]]),
    "a list of bools": (lambda t: [True, False, False], [[0, 1, 2, 3]]),
    "bools and numbers are numbers": (lambda t: [True, 0], [[4, 5, 6, 7], [0, 1, 2, 3]]),
    "floats are truncated": (lambda t: [1.9], [[4, 5, 6, 7]]),
    "lists beside each other": (lambda t: ([0, 2], [1, 3]), [1, 11]),
    "a list and a slice": (lambda t: ([0, 2], slice(1, 3)), [[1, 2], [9, 10]]),
    "a number and a list": (lambda t: (1, [0, 0]), [4, 4]),
    "a mask and a slice": (lambda t: (t.tensor([True, False, True]), slice(0, 1)), [[0], [8]]),
    "True": (lambda t: True, [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]),
    "False": (lambda t: False, []),
    "an array of floats": (lambda t: np.array([1.5]), [[4, 5, 6, 7]]),
    "an array of small integers": (lambda t: np.array([1], np.uint16), [[4, 5, 6, 7]]),
    "a list of tensors in a tuple": (lambda t: ([t.tensor(1), t.tensor([2])],), [[4, 5, 6, 7], [8, 9, 10, 11]]),
    "bytes": (lambda t: bytearray(b"\1"), [[4, 5, 6, 7]]),
    "a 0-dim mask": (lambda t: t.tensor(True), [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]),
    "a number and True": (lambda t: (2, True), [[8, 9, 10, 11]]),
}


@pytest.mark.parametrize("name", COPIED)
def test_lists_masks_and_bools_give_copies(torch: Any, name: str) -> None:
    make, expected = COPIED[name]
    x = matrix(torch)
    result = x[make(torch)]
    assert result.tolist() == expected
    result.fill_(99)
    assert 99 not in x.flatten().tolist()


def test_a_list_of_more_than_numbers_is_still_a_tuple(torch: Any) -> None:
    x = matrix(torch)
    for index, expected in (([[0, 1], [1, 2]], [1, 6]), ([0, slice(0, 2)], [0, 1]), ([None, 0], [[0, 1, 2, 3]])):
        with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
            assert x[index].tolist() == expected


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a number": (lambda t: matrix(t)[3], IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    "a second number": (
        lambda t: matrix(t)[0, -5],
        IndexError,
        "index -5 is out of bounds for dimension 1 with size 4",
    ),
    "too many": (lambda t: matrix(t)[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
    "too many slices": (lambda t: matrix(t)[:, :, :], IndexError, "too many indices for tensor of dimension 2"),
    "a scalar": (lambda t: t.tensor(1)[0], IndexError, "invalid index of a 0-dim tensor. Use `tensor.item"),
    "a float": (lambda t: matrix(t)[1.0], IndexError, r"valid indices \(got float\)"),
    "a dict": (lambda t: matrix(t)[{}], IndexError, r"valid indices \(got dict\)"),
    "a string": (lambda t: matrix(t)["a"], TypeError, "invalid data type 'str'"),
    "strings": (lambda t: matrix(t)[["a"]], TypeError, "invalid data type 'str'"),
    "backwards": (lambda t: matrix(t)[::-1], ValueError, "step must be greater than zero"),
    "no step": (lambda t: matrix(t)[::0], ValueError, "slice step cannot be zero"),
    "half a step": (lambda t: matrix(t)[:0.5], TypeError, "slice indices must be integers|integer"),
    "a float tensor": (lambda t: matrix(t)[t.tensor(1.0)], IndexError, "must be long, int, byte or bool"),
    "a short tensor": (lambda t: matrix(t)[t.tensor([1]).short()], IndexError, "must be long, int, byte or bool"),
    "a float of NumPy": (lambda t: matrix(t)[np.float32(1)], IndexError, r"valid indices \(got numpy.float32\)"),
    "a bool of NumPy": (lambda t: matrix(t)[np.bool_(True)], IndexError, r"valid indices \(got numpy.bool"),
    "complex numbers": (lambda t: matrix(t)[[1j]], TypeError, "'complex' object cannot be interpreted as an integer"),
    "nothing in a list": (lambda t: matrix(t)[([None],)], RuntimeError, "Could not infer dtype of NoneType"),
    "beyond int64": (lambda t: matrix(t)[2**70], ValueError, "Overflow when unpacking long long"),
    "beyond int64 in a list": (lambda t: matrix(t)[[2**70]], ValueError, "Overflow when unpacking long long"),
    "lists of two lengths": (lambda t: matrix(t)[([[1], [2, 0]],)], ValueError, "expected sequence of length 1"),
    "a list beside a number": (lambda t: matrix(t)[([1, [2]],)], TypeError, "'list' object cannot be interpreted as"),
    "two in one end": (lambda t: matrix(t)[t.tensor([0, 1]) :], TypeError, "only integer tensors of a single element"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_index_here(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


WRITTEN: dict[str, tuple[Any, Any, list[list[float]]]] = {
    "a number to a row": (0, 5, [[5, 5, 5], [0, 0, 0]]),
    "a number to an element": ((0, 1), 5, [[0, 5, 0], [0, 0, 0]]),
    "a bool": ((1, 2), True, [[0, 0, 0], [0, 0, 1]]),
    "a NumPy integer": (0, np.uint8(2), [[2, 2, 2], [0, 0, 0]]),
    "a NumPy number": (0, np.float64(2), [[2, 2, 2], [0, 0, 0]]),
    "a row to all": (..., [1.0, 2.0, 3.0], [[1, 2, 3], [1, 2, 3]]),
    "a row with leading ones": (0, [[[1.0, 2.0, 3.0]]], [[1, 2, 3], [0, 0, 0]]),
    "a column": ((slice(None), 1), [1.0, 2.0], [[0, 1, 0], [0, 2, 0]]),
    "one value": (slice(1, None), 7.5, [[0, 0, 0], [7.5, 7.5, 7.5]]),
    "integers are cast": (0, [1, 2, 3], [[1, 2, 3], [0, 0, 0]]),
    "to a list of columns": ((slice(None), [0, 2]), 5, [[5, 0, 5], [5, 0, 5]]),
    "values to a list of rows": ([1], [1.0, 2.0, 3.0], [[0, 0, 0], [1, 2, 3]]),
    "to a mask": ([True, False], 5, [[5, 5, 5], [0, 0, 0]]),
    "to True": (True, 5, [[5, 5, 5], [5, 5, 5]]),
    "to False": (False, 5, [[0, 0, 0], [0, 0, 0]]),
    "to None": (None, 5, [[5, 5, 5], [5, 5, 5]]),
    "to nothing": (slice(5, None), 5, [[0, 0, 0], [0, 0, 0]]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_writing(torch: Any, name: str) -> None:
    index, value, expected = WRITTEN[name]
    x = torch.zeros(2, 3)
    x[index] = torch.tensor(value) if isinstance(value, list) else value
    assert x.tolist() == expected


UNWRITABLE: dict[str, tuple[Callable[[Any, Any], None], type[Exception], str]] = {
    "a list": (lambda t, x: x.__setitem__(0, [1, 2, 3]), TypeError, "can't assign a list to a torch.FloatTensor"),
    "an array": (lambda t, x: x.__setitem__(0, np.ones(3)), TypeError, "can't assign a numpy.ndarray to a torch.Float"),
    "None": (lambda t, x: x.__setitem__(0, None), TypeError, "can't assign a NoneType"),
    "sizes": (lambda t, x: x.__setitem__(0, t.ones(2)), RuntimeError, r"size of the tensor \(3\) must match .* \(2\)"),
    "rows": (lambda t, x: x.__setitem__(0, t.ones(2, 3)), RuntimeError, r"provided \(1\) must be greater or equal"),
    "values": (lambda t, x: x.__setitem__([0, 1], t.ones(2, 2)), RuntimeError, r"tensor of shape \[2, 2\]"),
    "dtypes": (lambda t, x: x.__setitem__([0], t.ones(3, dtype=t.int64)), RuntimeError, "got Float for"),
    "range": (lambda t, x: x.__setitem__(2, 1), IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
    "overflow": (lambda t, x: x.__setitem__(0, 1e39), RuntimeError, "to type float without overflow"),
    "a complex number": (lambda t, x: x.__setitem__(0, 1j), RuntimeError, "to type float without overflow"),
    "a number before the index": (lambda t, x: x.__setitem__(5, 1j), RuntimeError, "to type float without overflow"),
    "a number to False": (lambda t, x: x.__setitem__(False, 1j), RuntimeError, "to type float without overflow"),
    "a float of NumPy": (lambda t, x: x.__setitem__(0, np.float32(1)), TypeError, "can't assign a numpy.float32"),
    "a bool of NumPy": (lambda t, x: x.__setitem__(0, np.bool_(True)), TypeError, "can't assign a numpy.bool"),
    "what is read": (lambda t, x: x.__setitem__([0, 1], x[1:]), RuntimeError, "refer to a single memory location"),
    "a mask of bytes": (lambda t, x: x.__setitem__(t.ones(2).byte(), t.ones(())), RuntimeError, "supports boolean mas"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_cannot_be_written(torch: Any, name: str) -> None:
    write, error, message = UNWRITABLE[name]
    x = torch.zeros(2, 3)
    with pytest.raises(error, match=message):
        write(torch, x)
    assert x.tolist() == [[0] * 3] * 2


def test_writing_counts_as_one_change(torch: Any) -> None:
    x = torch.zeros(2, 3)
    for version, index in enumerate([0, (0, 1), slice(None), [0], ...], start=1):
        x[index] = 1.0
        assert x._version == version


def test_gradients_go_where_an_index_pointed(torch: Any) -> None:
    x = torch.zeros(3, 4, requires_grad=True)
    (x[1] * 2 + x[:, 1:][0, 0] + x[[0, 0], [3, 3]].sum() + x[None, 2:].sum()).sum().backward()
    assert x.grad.tolist() == [[0, 4, 0, 8], [2, 2, 2, 2], [4, 4, 4, 4]]


def test_a_written_value_receives_its_gradient(torch: Any) -> None:
    x, value = torch.zeros(3) * 1, torch.ones(2, requires_grad=True)
    x[[0, 2]] = value * 3
    (x * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert value.grad.tolist() == [3, 12]


@steady
@given(st.data())
def test_views_agree_with_numpy(data: st.DataObject) -> None:
    import glasstorch

    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    ends = st.one_of(st.none(), st.integers(-4, 4))
    entry = st.one_of(
        st.integers(-3, 2),
        st.builds(slice, ends, ends, st.one_of(st.none(), st.integers(1, 3))),
        st.none(),
        st.just(...),
    )
    index = tuple(data.draw(st.lists(entry, max_size=4)))
    x = glasstorch.from_numpy(array.copy())
    try:
        expected = array[index]
    except IndexError:
        if index.count(...) < 2:
            with pytest.raises(IndexError):
                x[index]
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = x[index]
    assert result.tolist() == expected.tolist()
    assert tuple(result.shape) == expected.shape


@steady
@given(st.data())
def test_the_short_way_through_numbers_and_slices_is_the_plain_one(data: st.DataObject) -> None:
    import glasstorch
    from glasstorch.python_forms.indexing import plain_get

    x = glasstorch.arange(24).view(2, 3, 4).permute(data.draw(st.permutations(range(3))))
    ends = st.one_of(st.none(), st.integers(-5, 5))
    entry = st.one_of(st.integers(-4, 3), st.builds(slice, ends, ends, st.one_of(st.none(), st.integers(0, 2))))
    index = tuple(data.draw(st.lists(entry, max_size=3)))
    index = index[0] if len(index) == 1 and data.draw(st.booleans()) else index

    def seen(get: Callable[[Any, Any], Any]) -> Any:
        try:
            result = get(x, index)
        except (IndexError, ValueError) as error:
            return type(error), str(error)
        return result.shape, result.stride(), result.storage_offset(), result._base is x

    assert seen(lambda tensor, entries: tensor[entries]) == seen(plain_get)


# A mask without dimensions ---------------------------------------------------------------------------------------

BESIDE: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda t, x: t.ops.aten.index(x, [t.tensor([0, 1]), t.tensor([0, 1]), t.tensor(False)]),
    "index, the mask first": lambda t, x: t.ops.aten.index(x, [t.tensor(True), t.tensor(1)]),
    "index, two masks": lambda t, x: t.ops.aten.index(x, [t.tensor(True), t.tensor(False), t.tensor(1)]),
    "index beside a whole dimension": lambda t, x: t.ops.aten.index(x, [None, t.tensor(True), t.tensor([0, 2])]),
    "index_put": lambda t, x: x.index_put((t.tensor([0, 1]), t.tensor(False)), t.tensor(9.0)),
    "index_put, adding": lambda t, x: x.index_put((t.tensor(False), t.tensor(0)), t.tensor(9.0), accumulate=True),
    "index_put of one mask": lambda t, x: x.index_put((t.tensor(True),), t.tensor(9.0)),
    "index_put of one mask that is false": lambda t, x: x.index_put((t.tensor(False),), t.tensor(9.0)),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_mask_without_dimensions_beside_indices_is_none(require: Callable[[str], Any], name: str) -> None:
    made = [BESIDE[name](t, t.arange(12.0).reshape(2, 3, 2)) for t in map(require, ("glasstorch", "torch"))]
    assert (made[0].tolist(), made[0].shape) == (made[1].tolist(), made[1].shape)


def test_masks_without_dimensions_alone_pick_nothing(torch: Any) -> None:
    x = torch.arange(4.0).reshape(2, 2)
    for use in (
        lambda: torch.ops.aten.index(x, [torch.tensor(True)]),
        lambda: x.index_put((torch.tensor(True), torch.tensor(True)), torch.tensor(9.0)),
    ):
        with pytest.raises(RuntimeError):
            use()


def test_a_number_has_no_index_and_no_element_can_be_deleted(torch: Any) -> None:
    number = torch.tensor(3)
    for index in (1, -2):
        with pytest.raises(IndexError, match=f"index {index} is out of bounds for dimension 0 with size 0"):
            _ = number[index]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        _ = number[0]
    with pytest.raises(TypeError, match="Tensor does not support deleting items"):
        del torch.ones(3)[0]


def test_what_take_gives_is_no_view(torch: Any) -> None:
    with torch.no_grad():
        taken = torch.take(torch.arange(4.0), torch.tensor([[0], [1]]))
    taken.mul_(torch.ones(1, requires_grad=True))
    assert (taken._is_view(), taken.requires_grad, taken.tolist()) == (False, True, [[0], [1]])
    with pytest.raises(NotImplementedError, match="\"take_cpu\" not implemented for 'UInt16'"):
        torch.take(torch.arange(4).to(torch.uint16), torch.tensor([0]))


def test_a_number_has_no_dimension_to_repeat_or_take_along(torch: Any) -> None:
    number = torch.tensor(3)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-1, 0\], but got 1"):
        torch.repeat_interleave(number, 2, 0)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.take_along_dim(number, torch.tensor(0), -1)
    assert torch.repeat_interleave(number, 2).tolist() == [3, 3]


def test_no_rows_of_indices_lie_as_pytorchs_do(torch: Any) -> None:
    for x in (torch.zeros(1), torch.zeros(2, 2), torch.tensor(0.0)):
        assert (torch.nonzero(x).stride(), torch.argwhere(x).stride()) == ((1, 0), (1, 0))
    assert torch.nonzero(torch.ones(2, 2)).stride() == (1, 4)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_what_strided_indices_pick_lies_as_in_pytorch(require: Callable[[str], Any], dtype: str) -> None:
    found = []
    for t in map(require, ("glasstorch", "torch")):
        x = t.arange(24.0).reshape(4, 6)
        numbers = t.tensor([[0, 9, 1, 9], [2, 9, 3, 9]]).to(getattr(t, dtype))
        places = [numbers[:, ::2], numbers[:, ::2].t(), numbers[:, :1].expand(2, 3), numbers[0, :1].expand(3, 2)]
        places.append(t.zeros(60, dtype=numbers.dtype).as_strided((1, 3, 2), (6, 3, 4)))
        found.append([(tuple(x[i].stride()), tuple(x[:, i].stride()), tuple(x.t()[i].stride())) for i in places])
        found[-1].append(tuple(x[:, 0][places[-1]].stride()))
    assert found[0] == found[1]


@pytest.mark.parametrize("last", ["a", 0.5, object()])
def test_too_many_indices_are_found_before_one_is_read(torch: Any, last: Any) -> None:
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 1"):
        _ = torch.zeros(3)[0, 0, last]


NO_MASKS: dict[str, Callable[[Any, Any], Any]] = {
    "beside an index": lambda t, x: x[t.tensor([1]), t.zeros(0, dtype=t.bool)],
    "before an index": lambda t, x: x[t.zeros(0, dtype=t.bool), t.tensor([1])],
    "beside a number": lambda t, x: x[0, t.zeros(0, dtype=t.bool)],
    "beside a mask that fits": lambda t, x: x[t.zeros(4, dtype=t.bool), t.zeros(0, dtype=t.bool)],
    "of two dimensions": lambda t, x: x[t.zeros(0, 4, dtype=t.bool)],
    "of two dimensions, the second empty": lambda t, x: x[t.zeros(4, 0, dtype=t.bool)],
}


@pytest.mark.parametrize("name", NO_MASKS)
def test_a_mask_of_no_elements_is_refused_where_there_are_some(torch: Any, name: str) -> None:
    with pytest.raises(
        IndexError, match=r"^The shape of the mask \[.*0.*\] at index . does not match the shape of the"
    ):
        NO_MASKS[name](torch, torch.ones(4, 4))
