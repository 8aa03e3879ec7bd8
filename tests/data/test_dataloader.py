"""Are the batches of a loader those of PyTorch, for the same seed and options?"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.data.loaders import QUIET, data_of, drawing, numbered, plain, stream

pytestmark = QUIET

Made = Callable[[Any, Any, int], Any]  # of torch, torch.utils.data and a number of workers: a loader
LOADERS: dict[str, Made] = {
    "in order": lambda torch, data, n: data.DataLoader(numbered(torch), 3, num_workers=n),
    "one by one": lambda torch, data, n: data.DataLoader(numbered(torch, 5), num_workers=n),
    "shuffled": lambda torch, data, n: data.DataLoader(numbered(torch), 3, shuffle=True, num_workers=n),
    "last dropped": lambda torch, data, n: data.DataLoader(
        numbered(torch), 3, shuffle=True, drop_last=True, num_workers=n
    ),
    "by a generator": lambda torch, data, n: data.DataLoader(
        drawing(torch), 5, shuffle=True, num_workers=n, generator=torch.Generator().manual_seed(7)
    ),
    "weighted": lambda torch, data, n: data.DataLoader(
        numbered(torch), 4, sampler=data.WeightedRandomSampler([1.0, 5.0] * 10, 30), num_workers=n
    ),
    "batches of a sampler": lambda torch, data, n: data.DataLoader(
        numbered(torch), batch_sampler=[[3, 1], [4], [1, 5, 9]], num_workers=n
    ),
    "with replacement": lambda torch, data, n: data.DataLoader(
        numbered(torch), 4, sampler=data.RandomSampler(range(20), True, 40), num_workers=n
    ),
    "a part of a split": lambda torch, data, n: data.DataLoader(
        data.random_split(numbered(torch), [0.7, 0.3])[1], 2, shuffle=True, num_workers=n
    ),
    "samples, not batches": lambda torch, data, n: data.DataLoader(numbered(torch, 5), batch_size=None, num_workers=n),
    "samples that draw": lambda torch, data, n: data.DataLoader(drawing(torch), 2, shuffle=True, num_workers=n),
    "a stream in shares": lambda torch, data, n: data.DataLoader(stream(torch), 3, num_workers=n),
    "a stream, last dropped": lambda torch, data, n: data.DataLoader(stream(torch), 3, drop_last=True, num_workers=n),
    "a stream of samples": lambda torch, data, n: data.DataLoader(stream(torch, 5), batch_size=None, num_workers=n),
    "a whole stream from each": lambda torch, data, n: data.DataLoader(stream(torch, 7, False), 2, num_workers=n),
    "collated by a function": lambda torch, data, n: data.DataLoader(
        numbered(torch), 6, collate_fn=lambda samples: [int(y) for _, y in samples], num_workers=n
    ),
    "lists and texts": lambda torch, data, n: data.DataLoader(
        [{"x": [i, float(i)], "name": str(i)} for i in range(7)], 2, num_workers=n
    ),
}


def yielded(torch: Any, made: Made, workers: int) -> list[Any]:
    """What two passes of a loader yield, and the number that the default generator draws after them."""
    torch.manual_seed(11)
    loader = made(torch, data_of(torch), workers)
    passes = [[plain(batch) for batch in loader] for _ in range(2)]
    return [*passes, torch.rand(1).item()]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", LOADERS)
def test_batches_are_those_of_torch(name: str, workers: int, require: Callable[[str], ModuleType]) -> None:
    torch, glasstorch = require("torch"), require("glasstorch")
    found = []
    for library in (glasstorch, torch):
        random.seed(5)
        np.random.seed(5)  # noqa: NPY002  # without workers, the dataset draws from this one
        found.append(yielded(library, LOADERS[name], workers))
    assert found[0] == found[1]
    assert found[0][0]


def test_workers_change_no_batch(torch: Any) -> None:
    made = LOADERS["shuffled"]
    assert yielded(torch, made, 0) == yielded(torch, made, 1) == yielded(torch, made, 2)


def test_passes_with_the_same_workers_are_those_of_new_ones(torch: Any) -> None:
    def batches(**options: Any) -> list[Any]:
        torch.manual_seed(1)
        loader = data_of(torch).DataLoader(numbered(torch), 3, shuffle=True, num_workers=2, **options)
        first = [plain(batch) for batch in loader]
        left = iter(loader)
        plain(next(left))
        return [first, [plain(batch) for batch in loader]]

    assert batches(persistent_workers=True)[0] == batches()[0]
    assert len(batches(persistent_workers=True)[1]) == 7


def test_random_numbers_of_workers_that_are_kept_go_on(require: Callable[[str], ModuleType]) -> None:
    found = []
    for library in (require("torch"), require("glasstorch")):
        library.manual_seed(4)
        loader = data_of(library).DataLoader(drawing(library), 2, num_workers=2, persistent_workers=True)
        found.append([[plain(batch) for batch in loader] for _ in range(3)])
    assert found[0] == found[1]
    assert found[1][0] != found[1][1]


def test_the_length_is_that_of_the_sampler_or_what_the_stream_promises(torch: Any) -> None:
    data = data_of(torch)
    assert len(data.DataLoader(numbered(torch), 3)) == 7
    assert len(data.DataLoader(numbered(torch), 3, drop_last=True)) == 6
    assert len(data.DataLoader(numbered(torch), batch_size=None)) == 20
    assert len(data.DataLoader(stream(torch, length=10), 4)) == 3
    assert len(data.DataLoader(stream(torch, length=10), 4, drop_last=True)) == 2
    assert len(data.DataLoader(stream(torch, length=10), None)) == 10
    with pytest.raises(TypeError, match="has no len"):
        len(data.DataLoader(stream(torch), 4))
    assert len(iter(data.DataLoader(numbered(torch), 3))) == 7


@pytest.mark.parametrize("workers", [0, 2])
def test_more_samples_than_promised_are_warned_of(torch: Any, workers: int) -> None:
    count = 3 * max(workers, 1)
    dataset = stream(torch, 3, sharded=False, length=count - 1)
    loader = data_of(torch).DataLoader(dataset, None, num_workers=workers)
    assert len(list(loader)) == count  # nothing was promised yet
    assert len(loader) == count - 1
    promise = (
        rf"Length of IterableDataset Sized\(\) was reported to be {count - 1} ?\(when accessing len\(dataloader\)\)"
    )
    hint = "" if workers == 0 else r".*not properly configuring the IterableDataset replica at each worker"
    with pytest.warns(UserWarning, match=f"{promise}, but {count} samples have been fetched. {hint}"):
        list(loader)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
    ({"prefetch_factor": -1, "num_workers": 1}, "prefetch_factor option should be non-negative"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"sampler": [1], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
    ({"batch_sampler": [[1]], "batch_size": 3}, "batch_sampler option is mutually exclusive with batch_size, shuffle,"),
    ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
    ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
    ({"batch_size": 2.5}, "batch_size should be a positive integer value, but got batch_size=2.5"),
    ({"batch_size": True}, "batch_size should be a positive integer value, but got batch_size=True"),
    ({"multiprocessing_context": "spawn"}, r"multiprocessing_context can only be used with .* num_workers=0"),
    (
        {"multiprocessing_context": "teleport", "num_workers": 1},
        r"should specify a valid start method in \[.*\], but got multiprocessing_context='teleport'",
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_options_that_clash_are_refused(torch: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        data_of(torch).DataLoader(numbered(torch), **options)


def test_a_context_of_another_type_is_refused(torch: Any) -> None:
    with pytest.raises(TypeError, match="should be a valid context object or a string specifying the start method"):
        data_of(torch).DataLoader(numbered(torch), num_workers=1, multiprocessing_context=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shuffle": True}, "expected unspecified shuffle option, but got shuffle=True"),
        ({"sampler": [1]}, r"expected unspecified sampler option, but got sampler=\[1\]"),
        ({"batch_sampler": [[1]]}, r"expected unspecified batch_sampler option, but got batch_sampler=\[\[1\]\]"),
    ],
)
def test_a_stream_has_no_other_order(torch: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="DataLoader with IterableDataset: " + message):
        data_of(torch).DataLoader(stream(torch), **options)


def test_what_a_loader_was_made_with_stays(torch: Any) -> None:
    loader = data_of(torch).DataLoader(numbered(torch), 3)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is initialized"):
            setattr(loader, name, None)
    loader.collate_fn = len
    loader.num_workers = 0
    assert next(iter(loader)) == 3
    assert (loader.batch_size, loader.drop_last, loader.prefetch_factor, loader.timeout) == (3, False, None, 0)


def test_more_workers_than_processors_are_warned_of(torch: Any) -> None:
    with pytest.warns(UserWarning, match=r"This DataLoader will create 9999 worker processes in total. Our suggested"):
        data_of(torch).DataLoader(numbered(torch), num_workers=9999)


def test_an_iterator_cannot_be_pickled(torch: Any) -> None:
    with pytest.raises(NotImplementedError):
        copy.copy(iter(data_of(torch).DataLoader(numbered(torch))))


def test_a_loader_may_be_named_with_its_type(torch: Any) -> None:
    data = data_of(torch)

    class Texts(data.Dataset[str]):  # type: ignore[misc]
        def __getitem__(self, index: int) -> str:
            return str(index)

        def __len__(self) -> int:
            return 2

    loader: Any = data.DataLoader[str](Texts(), 2)
    assert list(loader) == [["0", "1"]]


def test_a_dataset_without_samples_says_so(torch: Any) -> None:
    with pytest.raises(NotImplementedError, match="Subclasses of Dataset should implement __getitem__"):
        data_of(torch).Dataset()[0]
