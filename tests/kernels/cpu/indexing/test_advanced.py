"""Do tensors of indices pick and place what PyTorch's do?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import steady


def picked(torch: Any, *indices: Any) -> Any:
    """x of sizes (2, 3, 4), indexed; None keeps a dimension."""
    x = torch.arange(24).view(2, 3, 4)
    dtype = torch.int64
    return x[tuple(slice(None) if i is None else torch.tensor(i, dtype=None if i else dtype) for i in indices)]


PICKED: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "the first dimension": (([1, 0, -1],), (3, 3, 4)),
    "a middle dimension": ((None, [2, 0]), (2, 2, 4)),
    "two that stand together": ((None, [0, 1], [2, 3]), (2, 2)),
    "two that do not": (([0, 1], None, [2, 3]), (2, 3)),
    "broadcast together": (([[0], [1]], [0, 2]), (2, 2, 4)),
    "no element": (([],), (0, 3, 4)),
    "a mask": (([True, False],), (1, 3, 4)),
    "a mask of two dimensions": (([[True, False, True], [False, True, False]],), (3, 4)),
    "a mask and indices": (([True, True], [0, 2]), (2, 4)),
    "a mask with an index in front": ((None, [True, False, True], [1]), (2, 2)),
}


@pytest.mark.parametrize("name", PICKED)
def test_the_shape_and_the_elements_of_what_is_picked(torch: Any, name: str) -> None:
    indices, shape = PICKED[name]
    result = picked(torch, *indices)
    assert tuple(result.shape) == shape
    array = np.arange(24).reshape(2, 3, 4)
    at = tuple(slice(None) if i is None else np.asarray(i, np.int64 if len(i) == 0 else None) for i in indices)
    assert result.tolist() == array[at].tolist()


@steady
@given(st.data())
def test_picking_agrees_with_numpy(data: st.DataObject) -> None:
    import glasstorch

    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    order = data.draw(st.permutations(range(len(shape))))
    array = np.arange(np.prod(shape)).reshape(shape).transpose(order)
    x = glasstorch.arange(array.size).view(shape).permute(order)
    sizes = data.draw(st.sampled_from([(), (2,), (2, 1), (1, 3)]))
    at: list[Any] = []
    for size in array.shape:
        kind = data.draw(st.sampled_from(["all", "indices", "mask"]))
        if kind == "indices":
            values = st.lists(st.integers(-size, size - 1), min_size=int(np.prod(sizes)), max_size=int(np.prod(sizes)))
            at.append(np.array(data.draw(values), np.int64).reshape(sizes))
        elif kind == "mask" and not any(isinstance(a, np.ndarray) for a in at):
            at.append(np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size))))
        else:
            at.append(slice(None))
    index = tuple(glasstorch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in at)
    try:
        expected = array[tuple(at)]
    except IndexError:
        with pytest.raises(IndexError):
            x[index]
        return
    assert x[index].numpy().tolist() == expected.tolist()
    assert x[index].shape == expected.shape
    x, array = x.clone(), array.copy()
    x[index] = -7
    array[tuple(at)] = -7
    assert x.tolist() == array.tolist()


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "an index": (lambda t, x: x[t.tensor([0, 2])], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
    "a negative index": (lambda t, x: x[t.tensor([-3])], IndexError, "index -3 is out of bounds for dimension 0 with"),
    "nothing to pick from": (lambda t, x: x[:0][t.tensor([0])], IndexError, "out of bounds for dimension with size 0"),
    "sizes": (lambda t, x: picked(t, [0, 1], [0, 1, 2]), IndexError, r"broadcast together with shapes \[2\], \[3\]"),
    "a mask": (lambda t, x: x[t.tensor([True] * 3)], IndexError, r"mask \[3\] at index 0 .* \[2, 3\] at index 0"),
    "floats": (lambda t, x: x[t.tensor([0.0])], IndexError, "must be long, int, byte or bool tensors"),
    "too many": (lambda t, x: x[(t.tensor([0]),) * 3], IndexError, "too many indices for tensor of dimension 2"),
    "too many, a mask without dimensions": (
        lambda t, x: t.ops.aten.index.Tensor(x, [t.tensor(False), t.tensor([0]), t.tensor([0])]), IndexError,
        "too many indices for tensor of dimension 2"),
    "dtypes": (lambda t, x: x.index_put((t.tensor([0]),), t.ones(3, dtype=t.int64)), RuntimeError, "and Long for"),
    "values": (lambda t, x: x.index_put((t.tensor([0]),), t.ones(2)), RuntimeError, r"value tensor of shape \[2\]"),
    "gather sizes": (lambda t, x: x.gather(0, t.zeros(1, 4, dtype=t.int64)), RuntimeError, "not match at dimension 1"),
    "gather dims": (lambda t, x: x.gather(0, t.tensor([0])), RuntimeError, "same number of dimensions as input tensor"),
    "gather dtype": (lambda t, x: x.gather(0, t.zeros(1, 1)), RuntimeError, r"gather\(\): Expected dtype int32/int64"),
    "gather index": (lambda t, x: x.gather(0, t.tensor([[-1]])), RuntimeError, "index -1 is out of bounds"),
    "scatter index": (lambda t, x: x.scatter(1, t.tensor([[3]]), 1.0), RuntimeError, "out of bounds for dimension 1"),
    "scatter dtype": (lambda t, x: x.scatter(0, t.tensor([[0]]), t.tensor([[1]])), RuntimeError, "equal to src.dtype"),
    "scatter sizes": (lambda t, x: x.scatter(0, t.zeros(1, 3, dtype=t.int64), t.ones(1, 2)), RuntimeError, "than src"),
    "scatter value": (lambda t, x: x.long().scatter(0, t.tensor([[0]]), 1e30), RuntimeError, "without overflow"),
    "index_select": (lambda t, x: x.index_select(0, t.tensor([-1])), IndexError, "index out of range in self"),
    "index_select matrix": (lambda t, x: x.index_select(0, t.tensor([[0]])), IndexError, "supposed to be a vector"),
    "index_select dtype": (lambda t, x: x.index_select(0, t.tensor([0.0])), RuntimeError, "dtype int32 or int64"),
    "nonzero out": (lambda t, x: t.nonzero(x, out=t.empty(0)), RuntimeError, "scalar type Long"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_out_of_range_or_does_not_fit(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch, torch.zeros(2, 3))


def test_writing_and_adding_at_indices(torch: Any) -> None:
    x, at = torch.zeros(3), torch.tensor([0, 2, 0])
    assert x.index_put((at,), torch.tensor([1.0, 2.0, 3.0])).tolist() == [3, 0, 2]
    assert x.index_put((at,), torch.tensor([1.0, 2.0, 3.0]), accumulate=True).tolist() == [4, 0, 2]
    assert x.tolist() == [0, 0, 0]
    assert x.index_put_((at,), torch.tensor(1.0), accumulate=True) is x
    assert x.tolist() == [2, 0, 1]
    bools = torch.zeros(2, dtype=torch.bool).index_put((torch.tensor([1, 1]),), torch.tensor(True), accumulate=True)
    assert bools.tolist() == [False, True]


def test_one_value_where_a_mask_says_is_cast(torch: Any) -> None:
    x = torch.zeros(3)
    x[torch.tensor([True, False, True])] = torch.tensor(7)
    assert x.tolist() == [7, 0, 7]


def test_picking_along_a_dimension(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    at = torch.tensor([[0, 1], [1, 0]])
    assert x.gather(0, at).tolist() == [[0, 4], [3, 1]]
    assert x.gather(1, at.int()).tolist() == [[0, 1], [4, 3]]
    assert torch.tensor(5).gather(0, torch.tensor([0, 0])).tolist() == [5, 5]
    assert tuple(x.gather(0, torch.empty(0, 9, dtype=torch.int64)).shape) == (0, 9)


def test_placing_along_a_dimension(torch: Any) -> None:
    x, at = torch.zeros(2, 3), torch.tensor([[0, 1, 1]])
    source = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x.scatter(0, at, source).tolist() == [[1, 0, 0], [0, 2, 3]]
    assert x.scatter(1, at, 9).tolist() == [[9, 9, 0], [0, 0, 0]]
    assert x.scatter_add(1, at, source).tolist() == [[1, 5, 0], [0, 0, 0]]
    out = torch.empty(0)
    assert torch.scatter(x, 1, at, source, out=out) is out
    assert x.scatter_(1, at, source) is x
    assert x.tolist() == [[1, 3, 0], [0, 0, 0]]
    assert torch.tensor(1.0).scatter_(0, torch.tensor(0), torch.tensor(2.0)).item() == 2


def test_naming_indices_of_one_dimension(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    assert x.index_select(1, torch.tensor([2, 0, 2])).tolist() == [[2, 0, 2], [5, 3, 5]]
    assert torch.tensor(3).index_select(0, torch.tensor([0])).item() == 3
    out = torch.empty(0, dtype=torch.int64)
    assert torch.index_select(x, 0, torch.tensor([1]), out=out) is out
    assert out.tolist() == [[3, 4, 5]]


def test_where_elements_are_not_zero(torch: Any) -> None:
    x = torch.tensor([[0, 1, 0], [2, 0, 3]])
    assert torch.nonzero(x).tolist() == [[0, 1], [1, 0], [1, 2]]
    assert tuple(x.nonzero().stride()) == (1, 3)
    assert tuple(torch.nonzero(torch.tensor(0)).shape) == (0, 0)
    assert tuple(torch.nonzero(torch.tensor(4)).shape) == (1, 0)
    out = torch.empty(0, dtype=torch.int64)
    assert torch.nonzero(x, out=out) is out
    assert out.tolist() == [[0, 1], [1, 0], [1, 2]]


def test_a_mask_of_bytes_is_deprecated(torch: Any) -> None:
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert torch.arange(3)[torch.tensor([0, 1, 1], dtype=torch.uint8)].tolist() == [1, 2]


def test_values_are_broadcast_to_the_slices_that_they_are_added_to(torch: Any) -> None:
    at, zeros = torch.tensor([1, 3]), torch.zeros(4, 2, 2)
    added = zeros.index_put([at], torch.tensor([5.0, 7.0]), accumulate=True)
    assert added.tolist() == [[[0, 0]] * 2, [[5, 7]] * 2, [[0, 0]] * 2, [[5, 7]] * 2]
    assert zeros.index_put([at[:1]], torch.tensor([5.0]), accumulate=True)[1].tolist() == [[5, 5]] * 2
