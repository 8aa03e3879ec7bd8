"""Looks in the table first, for the type and then for its bases, and collates containers by their parts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from glasstorch.data.collate import default_collate_err_msg_format
from glasstorch.data.containers import is_named_tuple, with_items, with_values

Table = dict[type | tuple[type, ...], Callable[..., Any]]


def collate(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """One batch of a list of samples."""
    table = collate_fn_map or {}
    first = batch[0]
    row = table.get(type(first))
    if row is None:
        row = next((function for kinds, function in table.items() if isinstance(first, kinds)), None)
    if row is not None:
        return row(batch, collate_fn_map=collate_fn_map)

    def part(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return with_values(first, {key: part([sample[key] for sample in batch]) for key in first})
    if not isinstance(first, Sequence):
        raise TypeError(default_collate_err_msg_format.format(type(first)))
    if is_named_tuple(first):
        return type(first)(*map(part, zip(*batch, strict=False)))
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    places = [part(samples) for samples in zip(*batch, strict=True)]
    return places if isinstance(first, tuple) else with_items(first, places)
