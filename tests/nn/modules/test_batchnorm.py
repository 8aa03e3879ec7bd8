"""Are layers of normalization made, printed, trained, saved and refused as PyTorch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def batches(torch: Any) -> list[Any]:
    return [(torch.arange(30, dtype=torch.float32) * (k + 1)).sin().view(5, 3, 2) for k in range(3)]


def state(layer: Any) -> list[Any]:
    return [(name, str(t.dtype)[-7:], (t.double() * 1e4).round().tolist()) for name, t in layer.state_dict().items()]


def trained(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A program: the state after some batches, and what the layer then gives in evaluation."""

    def program(torch: Any) -> Any:
        layer = make(torch.nn)
        for batch in batches(torch):
            layer(batch)
        kept = state(layer)
        return kept, (layer.eval()(batches(torch)[0]) * 1e4).round().tolist(), state(layer) == kept

    return program


def loaded_from_before_counts(torch: Any) -> Any:
    layer = torch.nn.BatchNorm1d(2)
    layer.num_batches_tracked.fill_(7)
    old = {name: t.clone() for name, t in layer.state_dict().items() if name != "num_batches_tracked"}
    result = layer.load_state_dict(old)
    return str(result), layer.num_batches_tracked.item(), sorted(old)


def loaded_without_a_count(torch: Any) -> Any:
    layer = torch.nn.BatchNorm1d(2)
    states = layer.state_dict()
    del states["num_batches_tracked"]
    return layer.load_state_dict(states, strict=False).missing_keys


def statistics_that_are_not_tracked(torch: Any) -> Any:
    statistics = {"running_mean": torch.zeros(2), "running_var": torch.ones(2)}
    return str(torch.nn.InstanceNorm1d(2).load_state_dict(statistics))


def reset(torch: Any) -> Any:
    layer = torch.nn.BatchNorm1d(3)
    layer(batches(torch)[0])
    layer.weight.data.fill_(5)
    layer.reset_parameters()
    return state(layer)


def without_statistics_at_some_time(torch: Any) -> Any:
    """Buffers that are taken away from a layer that tracks: the batch decides."""
    layer = torch.nn.BatchNorm1d(3).eval()
    layer.running_mean = layer.running_var = None
    return (layer(batches(torch)[0]) * 1e4).round().tolist()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "printed": lambda t: [
        repr(layer)
        for layer in (
            t.nn.BatchNorm2d(3, momentum=None, bias=False),
            t.nn.BatchNorm1d(3, affine=False, track_running_stats=False),
            t.nn.InstanceNorm3d(3),
            t.nn.LayerNorm((2, 3), bias=False),
            t.nn.GroupNorm(2, 4, affine=False),
            t.nn.RMSNorm(3),
            t.nn.LocalResponseNorm(3),
            t.nn.CrossMapLRN2d(3),
        )
    ],
    "a share of each batch": trained(lambda nn: nn.BatchNorm1d(3, momentum=0.3)),
    "all batches alike": trained(lambda nn: nn.BatchNorm1d(3, momentum=None)),
    "nothing tracked": trained(lambda nn: nn.BatchNorm1d(3, track_running_stats=False)),
    "each sample": trained(lambda nn: nn.InstanceNorm1d(3, affine=True, track_running_stats=True)),
    "one process": trained(lambda nn: nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(3)))),
    "without statistics": without_statistics_at_some_time,
    "reset": reset,
    "loaded from before counts": loaded_from_before_counts,
    "loaded without a count": loaded_without_a_count,
    "statistics that are not tracked": statistics_that_are_not_tracked,
    "one sample": lambda t: list(t.nn.InstanceNorm1d(3)(t.ones(3, 2)).shape),
    "one number": lambda t: t.nn.BatchNorm1d(3)(t.ones(1, 3)),
    "too many dimensions": lambda t: t.nn.BatchNorm1d(3)(t.ones(1, 3, 2, 2)),
    "too few dimensions": lambda t: t.nn.BatchNorm2d(3)(t.ones(2, 3)),
    "too few for a volume": lambda t: t.nn.InstanceNorm3d(3)(t.ones(2, 3)),
    "other channels": lambda t: t.nn.InstanceNorm1d(2, affine=True)(t.ones(1, 3, 2)),
    "other channels without parameters": lambda t: list(t.nn.InstanceNorm1d(2)(t.ones(1, 3, 2)).shape),
    "groups that do not divide": lambda t: t.nn.GroupNorm(2, 3),
    "across maps": lambda t: [
        (t.nn.CrossMapLRN2d(size)(t.arange(48.0).view(1, 6, 2, 4).cos()) * 1e4).round().tolist() for size in (3, 4)
    ],
    "maps of three dimensions": lambda t: t.nn.CrossMapLRN2d(3)(t.ones(1, 2, 3)),
    "tables printed": lambda t: [
        repr(t.nn.EmbeddingBag(4, 2, mode="sum", padding_idx=-1)), repr(t.nn.Embedding(4, 2, 1, 2.0, sparse=True)),
    ],
    "a table from elsewhere": lambda t: [
        (layer.weight.tolist(), layer.weight.requires_grad, layer.padding_idx)
        for layer in (
            t.nn.Embedding.from_pretrained(t.eye(2), padding_idx=-1),
            t.nn.EmbeddingBag.from_pretrained(t.eye(2), False),
        )
    ],
    "a table of three dimensions": lambda t: t.nn.Embedding.from_pretrained(t.ones(1, 2, 3)),
    "a padding outside": lambda t: t.nn.Embedding(3, 2, padding_idx=3),
    "a vector as a table": lambda t: t.nn.functional.embedding(t.tensor([0]), t.ones(())),
    "rows shortened": lambda t: (
        t.embedding_renorm_(t.arange(6.0).view(3, 2), t.tensor([2, 1]), 1.0, 2.0) * 1e4
    ).round().tolist(),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_torch(name: str, require: Require) -> None:
    assert_same(PROGRAMS[name], require("torch"))
