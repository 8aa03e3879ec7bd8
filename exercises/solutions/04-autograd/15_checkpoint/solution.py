"""The node holds the place, the place holds the key, and the tensor lives as long as its key."""

import weakref
from typing import Any

import glasstorch as torch
from glasstorch.utils.checkpoint.frame import (
    Frame,
    Key,
    Place,
    StopRecomputation,
    given_already,
    too_many,
)


def keep(frame: Frame, tensor: torch.Tensor) -> Place:
    """In the first run: the place that a node keeps instead of a tensor."""
    place = Place()
    frame.places.append(weakref.ref(place))
    frame.expected.append(frame.facts(tensor))
    return place


def fill(frame: Frame, tensor: torch.Tensor, number: Any) -> torch.Tensor:
    """In the second run: put a tensor into its place, and return it."""
    tensor = tensor.detach()
    run = frame.runs[number]
    index = run.saved
    run.saved += 1
    if index >= len(frame.places):
        if frame.is_forward_done:
            raise too_many()
        frame.may_differ = True
        return tensor
    place = frame.places[index]()
    if place is not None:
        key = Key()
        place.keys[number] = key
        run.tensors[key] = tensor
    if frame.early_stop and run.saved == len(frame.places):
        raise StopRecomputation
    return tensor


def give_out(frame: Frame, place: Place, number: Any) -> torch.Tensor:
    """In a backward pass: the tensor of a place, once only."""
    frame.recompute(number)
    key = place.keys[number]
    if key is None:
        raise given_already()
    place.keys[number] = None
    return frame.runs[number].tensors[key]
