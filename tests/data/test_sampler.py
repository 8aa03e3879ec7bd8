"""Do samplers draw the indices that PyTorch's draw for the same seed?"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.data.loaders import data_of

Made = Callable[[Any, Any], Any]  # of torch.utils.data and a generator: a sampler
SAMPLERS: dict[str, Made] = {
    "in order": lambda data, g: data.SequentialSampler(range(7)),
    "shuffled": lambda data, g: data.RandomSampler(range(7), generator=g),
    "fewer": lambda data, g: data.RandomSampler(range(7), num_samples=3, generator=g),
    "more than there are": lambda data, g: data.RandomSampler(range(7), num_samples=17, generator=g),
    "with replacement": lambda data, g: data.RandomSampler(range(7), True, 70, g),
    "just as many as are drawn at once": lambda data, g: data.RandomSampler(range(7), True, 64, g),
    "of some": lambda data, g: data.SubsetRandomSampler([3, 1, 8, 9], g),
    "by weight": lambda data, g: data.WeightedRandomSampler([0.1, 0.9, 0.4, 3.0], 9, generator=g),
    "by weight, each once": lambda data, g: data.WeightedRandomSampler([0.1, 0.9, 0.4, 3.0], 3, False, g),
    "in batches": lambda data, g: data.BatchSampler(data.RandomSampler(range(7), generator=g), 3, False),
    "in whole batches": lambda data, g: data.BatchSampler(data.RandomSampler(range(7), generator=g), 3, True),
    "in batches that fit": lambda data, g: data.BatchSampler(range(6), 3, True),
}


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("name", SAMPLERS)
def test_indices_are_those_of_torch(name: str, seeded: bool, require: Callable[[str], ModuleType]) -> None:
    found = []
    for library in (require("torch"), require("glasstorch")):
        library.manual_seed(5)
        generator = library.Generator().manual_seed(9) if seeded else None
        sampler = SAMPLERS[name](data_of(library), generator)
        found.append([list(sampler), list(sampler), len(sampler), library.rand(1).item()])
    assert found[0] == found[1]
    assert len(found[0][0]) == found[0][2]


REFUSED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda data: data.RandomSampler([]), ValueError, "num_samples should be a positive integer value, but got .*=0"),
    (lambda data: data.RandomSampler([1], num_samples=-1), ValueError, "but got num_samples=-1"),
    (lambda data: data.RandomSampler([1], "yes"), TypeError, "replacement should be a boolean value, but got .*=yes"),
    (lambda data: data.WeightedRandomSampler([1.0], 0), ValueError, "but got num_samples=0"),
    (lambda data: data.WeightedRandomSampler([1.0], True), ValueError, "but got num_samples=True"),
    (lambda data: data.WeightedRandomSampler([1.0], 1, 2), ValueError, "but got replacement=2"),
    (lambda data: data.WeightedRandomSampler([[1.0]], 1), ValueError, r"1d sequence but given .* have shape \(1, 1\)"),
    (lambda data: data.BatchSampler([1], 0, False), ValueError, "but got batch_size=0"),
    (lambda data: data.BatchSampler([1], 1, None), ValueError, "but got drop_last=None"),
    (lambda data: iter(data.Sampler()), NotImplementedError, "^$"),
    (lambda data: len(data.Sampler()), TypeError, "has no len"),
]


@pytest.mark.parametrize(("make", "kind", "message"), REFUSED)
def test_bad_options_are_refused(torch: Any, make: Callable[[Any], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make(data_of(torch))


def test_a_sampler_may_be_made_of_any_iterable(torch: Any) -> None:
    assert list(data_of(torch).BatchSampler("abcde", 2, False)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(data_of(torch).SubsetRandomSampler("aaa")) == ["a", "a", "a"]
