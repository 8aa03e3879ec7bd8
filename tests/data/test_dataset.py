"""Do datasets hold, join and split samples as PyTorch's do?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.data.loaders import data_of, numbered, plain, stream


def test_a_tensor_dataset_gives_views_of_one_index(torch: Any) -> None:
    dataset = numbered(torch, 4)
    x, y = dataset[2]
    assert (x.tolist(), y.item(), len(dataset), len(dataset.tensors)) == ([4.0, 5.0], 2, 4, 2)
    x += 1
    assert dataset[2][0].tolist() == [5.0, 6.0]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data_of(torch).TensorDataset(torch.ones(2), torch.ones(3))


def test_datasets_side_by_side_give_tuples_or_dicts(torch: Any) -> None:
    data = data_of(torch)

    class AtOnce(data.Dataset):  # type: ignore[misc]
        def __init__(self, lost: int) -> None:
            self.lost = lost

        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> int:
            return 10 * index

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * index for index in indices][self.lost :]

    assert data.StackDataset("abc", AtOnce(0))[1] == ("b", 10)
    assert data.StackDataset("abc", AtOnce(0)).__getitems__([2, 0]) == [("c", 20), ("a", 0)]
    named = data.StackDataset(letter="abc", number=AtOnce(0))
    assert (len(named), named[1]) == (3, {"letter": "b", "number": 10})
    assert named.__getitems__([2, 0]) == [{"letter": "c", "number": 20}, {"letter": "a", "number": 0}]
    with pytest.raises(ValueError, match=r"output size mismatch. Expected 2, got 1"):
        data.StackDataset(AtOnce(1)).__getitems__([1, 2])
    with pytest.raises(ValueError, match="Size mismatch between datasets"):
        data.StackDataset("ab", "abc")
    with pytest.raises(ValueError, match="At least one dataset should be passed"):
        data.StackDataset()
    with pytest.raises(ValueError, match="but both types are given"):
        data.StackDataset("ab", b="ab")


def test_datasets_one_after_the_other_are_one(torch: Any) -> None:
    joined = numbered(torch, 2) + numbered(torch, 3)
    assert type(joined) is data_of(torch).ConcatDataset
    assert (len(joined), joined.cumulative_sizes) == (5, [2, 5])
    assert [int(joined[i][1]) for i in (0, 1, 2, 4, -1, -5)] == [0, 1, 0, 2, 2, 0]
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        joined[-6]
    with pytest.raises(IndexError):
        joined[5]
    with pytest.raises(AssertionError, match="datasets should not be an empty iterable"):
        data_of(torch).ConcatDataset([])
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        data_of(torch).ConcatDataset([stream(torch)])
    with pytest.warns(FutureWarning, match="renamed to `cumulative_sizes`"):
        assert joined.cummulative_sizes == [2, 5]


def test_streams_one_after_the_other_are_one(torch: Any) -> None:
    joined = stream(torch, 2, length=2) + stream(torch, 3, length=3)
    assert type(joined) is data_of(torch).ChainDataset
    assert (list(joined), len(joined)) == ([0, 1, 0, 1, 2], 5)
    mixed = data_of(torch).ChainDataset([stream(torch, 1, length=1), numbered(torch, 1)])
    for use in (list, len):
        with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
            use(mixed)


def test_a_subset_is_a_dataset_at_some_indices(torch: Any) -> None:
    data = data_of(torch)
    subset = data.Subset(list("abcdef"), [5, 0, 3])
    assert (len(subset), subset[1], subset.__getitems__([2, 0])) == (3, "a", ["d", "f"])
    assert plain(data.Subset(numbered(torch, 9).tensors[1], [5, 0, 3])[[0, 2]])[2] == [5, 3]
    assert data.Subset(data.Subset("abcdef", [4, 2]), [1])[0] == "c"
    kind = type("OnlyOne", (data.Subset,), {"__getitem__": lambda self, index: 0})
    with pytest.raises(NotImplementedError, match="OnlyOne overrides __getitem__ but not __getitems__"):
        kind("abc", [1])


SPLITS = {
    "lengths": [3, 0, 7],
    "fractions": [0.3, 0.3, 0.4],
    "fractions that leave some": [0.33, 0.33, 0.34],
    "thirds": [1 / 3, 1 / 3, 1 / 3],
    "quarters, which leave two": [0.25, 0.25, 0.25, 0.25],
}


@pytest.mark.parametrize("name", SPLITS)
def test_splits_are_those_of_torch(name: str, require: Callable[[str], ModuleType]) -> None:
    found = []
    for library in (require("torch"), require("glasstorch")):
        generator: Any = library.Generator().manual_seed(42)
        drawn = data_of(library).random_split(range(10), SPLITS[name], generator)
        library.manual_seed(1)
        found.append([list(part.indices) for part in (*drawn, *data_of(library).random_split(range(10), SPLITS[name]))])
    assert found[0] == found[1]
    assert sorted(itertools.chain(*found[0]))[::2] == list(range(10))


def test_lengths_that_do_not_add_up_are_refused(torch: Any) -> None:
    split = data_of(torch).random_split
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset"):
        split(range(10), [3, 6])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        split(range(10), [1.5, -0.5])
    with pytest.warns(UserWarning, match=r"Length of split at index 1 is 0. This might result in an empty dataset"):
        assert [len(part) for part in split(range(1), [0.9, 0.1])] == [1, 0]


def test_a_stream_without_an_iterator_is_no_stream(torch: Any) -> None:
    with pytest.raises(TypeError, match="abstract"):
        data_of(torch).IterableDataset()

    class Made(data_of(torch).IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            return iter([1])

    assert list(Made()) == [1]
