"""What does each of the programs here give?

A program is a function of one library, `torch` or `glasstorch`, which draws everything from the library's own stream of
random numbers. What it returns has not taken a step yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Training(NamedTuple):
    """A model, what trains it by one step and gives the loss as a tensor, and what it answers when it is evaluated."""

    model: Any
    step: Callable[[], Any]
    answer: Callable[[], Any]


def digits(torch: Any) -> tuple[Any, Any]:
    """The images of handwritten digits, of size (1797, 1, 8, 8) and from 0 to 1, and which digits they show."""
    from sklearn.datasets import load_digits

    raw = load_digits()
    images = torch.from_numpy(raw.images).to(torch.get_default_dtype()).div_(16).unsqueeze(1)
    return images, torch.from_numpy(raw.target)


def in_batches(torch: Any, data: tuple[Any, ...], size: int) -> Any:
    """Batches without end; each pass over the data has an order of its own."""
    while True:
        for chosen in torch.randperm(len(data[0])).split(size):
            yield tuple(part[chosen] for part in data)
