"""Is what is read from a dataset's tensors at once what its samples collate to?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch import Tensor
from glasstorch.data.collate import collate_tensor_fn, default_collate, default_collate_fn_map
from glasstorch.data.fetch import gathered, samples_at
from glasstorch.utils.data import DataLoader, Subset, TensorDataset
from tests.data.loaders import plain

MANY: list[Callable[[], Tensor]] = [
    lambda: glasstorch.rand(30, 8),
    lambda: glasstorch.arange(30),
    lambda: glasstorch.rand(30, 2, 3, 0),
    lambda: glasstorch.rand(8, 30).t(),
    lambda: glasstorch.rand(60, 3)[::2],
    lambda: glasstorch.rand(30) > 0.5,
    lambda: glasstorch.rand(30, 2).bfloat16(),
    lambda: glasstorch.rand(30, 2, dtype=glasstorch.complex64).conj(),
    lambda: glasstorch.rand(1, 4).expand(30, 4),
]


@pytest.mark.parametrize("indices", [[3], [0, 29, 5, 5], [-1, 2], list(range(30))])
def test_what_is_gathered_is_what_is_collated(indices: list[int]) -> None:
    whole = TensorDataset(*(make() for make in MANY))
    for dataset in (whole, Subset(whole, list(range(29, -1, -1))), Subset(Subset(whole, [*range(30)]), [*range(30)])):
        fast, slow = gathered(dataset, indices), default_collate(samples_at(dataset, indices))
        assert fast is not None
        assert plain(fast) == plain(slow)
        assert [x.stride() for x in fast] == [x.stride() for x in slow]
        assert not any(x.untyped_storage() is y.untyped_storage() for x, y in zip(fast, whole.tensors, strict=True))


class Doubled(TensorDataset):
    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(2 * tensor[index] for tensor in self.tensors)


class DoubledPart(Subset[Any]):
    def __getitem__(self, index: Any) -> Any:
        return self.dataset[index][0] * 2

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        return [self[index] for index in indices]


def test_where_samples_may_be_other_ones_they_are_asked_for() -> None:
    x = glasstorch.rand(5, 2)
    whole = TensorDataset(x)
    assert gathered(Doubled(x), [1]) is None
    assert gathered(DoubledPart(whole, [1, 2]), [1]) is None
    assert gathered(TensorDataset(glasstorch.nn.Parameter(x)), [1]) is None
    assert gathered(TensorDataset(x.clone().requires_grad_()), [1]) is None
    assert gathered(TensorDataset(glasstorch.empty(5, device="meta")), [1]) is None
    assert gathered([x, x], [1]) is None
    for indices in ([True], [1.0], [], (1,), [glasstorch.tensor(1)], 1):
        assert gathered(whole, indices) is None
    default_collate_fn_map[Tensor] = lambda batch, collate_fn_map: "mine"
    try:
        assert next(iter(DataLoader(whole, 2))) == ["mine"]
    finally:
        default_collate_fn_map[Tensor] = collate_tensor_fn
    assert plain(next(iter(DataLoader(Doubled(x), 1)))[0])[2] == (2 * x[:1]).tolist()


def test_an_index_out_of_range_is_refused_either_way() -> None:
    whole = TensorDataset(glasstorch.rand(5, 2))
    message = "index 5 is out of bounds for dimension 0 with size 5"
    for read in (gathered, samples_at):
        with pytest.raises(IndexError, match=message):
            read(whole, [1, 5])


def test_samples_of_a_gradient_keep_it(torch: Any) -> None:
    import importlib

    data = importlib.import_module(f"{torch.__name__}.utils.data")
    x = torch.ones(4, 2, requires_grad=True)
    (batch,) = next(iter(data.DataLoader(data.TensorDataset(x), 2)))
    batch.sum().backward()
    assert x.grad.tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]
