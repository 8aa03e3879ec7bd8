"""Is a Python value read as the number, the size or the option that PyTorch reads?"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.calls.outcomes import Call, same_outcome, x

Require = Callable[[str], Any]


class Level(enum.IntEnum):
    THREE = 3


class OwnInt(int):
    pass


class OwnFloat(float):
    pass


class OwnComplex(complex):
    pass


def quietly(call: Callable[[], Any]) -> Any:
    """What a call gives, without NumPy's word on a dropped imaginary part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


ACCEPTED: dict[str, Call] = {
    # Numbers and tensors
    "add of a number": lambda t: t.add(x(t), 1),
    "add of two numbers": lambda t: t.add(1, 2) if hasattr(t, "add") else None,
    "add with alpha": lambda t: t.add(x(t), x(t), alpha=3),
    "in place with a number": lambda t: x(t).add_(1),
    "a 0-dim tensor for a number": lambda t: t.full((2,), t.tensor(3)),
    "a 0-dim tensor for an int": lambda t: x(t).select(t.tensor(0), t.tensor(1)),
    "a NumPy int for an int": lambda t: x(t).select(np.int64(0), np.int32(1)),
    "0-dim tensors for sizes": lambda t: t.zeros(t.tensor(2), 3),
    "alpha as a tensor": lambda t: t.add(x(t), x(t), alpha=t.tensor(2)),
    "a device by its string": lambda t: x(t).to("cpu"),
    "a dtype": lambda t: x(t).to(t.int64),
    "a dtype and a device": lambda t: x(t).to("cpu", t.float64),
    "like another": lambda t: x(t).to(t.ones(1, dtype=t.int32)),
    "copy by name": lambda t: x(t).to(t.float32, copy=True),
    # Numbers
    "a member of an IntEnum for a number": lambda t: t.full((2,), Level.THREE),
    "an int of one's own class": lambda t: t.full((2,), OwnInt(3)),
    "a float of one's own class": lambda t: t.arange(OwnFloat(2.5)),
    "a complex number of one's own class": lambda t: t.full((2,), OwnComplex(1j)),
    "a member of an IntEnum for an end": lambda t: t.arange(Level.THREE),
    "a member of an IntEnum to fill with": lambda t: t.ones(2).fill_(Level.THREE),
    "a member of an IntEnum by itself": lambda t: t.scalar_tensor(Level.THREE),
    "a member of an IntEnum for alpha": lambda t: t.ones(2).add(1, alpha=Level.THREE),
    "a member of an IntEnum as operand": lambda t: t.tensor([1]) + Level.THREE,
    "a bool of NumPy's to fill with": lambda t: t.full((2,), np.bool_(True)),
    "a bool of NumPy's for an end": lambda t: t.arange(np.bool_(True)),
    "a bool of NumPy's as operand": lambda t: t.tensor([1]) + np.bool_(True),
    "a complex number of NumPy's": lambda t: t.full((2,), np.complex128(1j)),
    "a short complex number of NumPy's": lambda t: quietly(lambda: t.full((2,), np.complex64(2 + 1j))),
    "a short complex operand of NumPy's": lambda t: quietly(lambda: t.tensor([1]) + np.complex64(2 + 1j)),
    # Sizes
    "a bool among loose sizes": lambda t: t.ones(2, True),
    "a bool as a float": lambda t: t.dropout(t.ones(2), False, False),
    "a bool as a tolerance": lambda t: t.isclose(t.ones(1), t.zeros(1), True),
    "a bool as a probability": lambda t: t.bernoulli(t.ones(2), True),
    "a bool among sizes": lambda t: t.zeros([1, True]),
    "a bool among sizes of a view": lambda t: t.ones(2).view(2, True),
    "a bool among dimensions": lambda t: t.sum(x(t), [0, True]),
    "a tensor of one element among sizes": lambda t: t.zeros([t.tensor([1]), t.tensor([[2]]), 1]),
    "a tensor of one element for all sizes": lambda t: t.zeros(t.tensor([2])),
    "a tensor of one element among loose sizes": lambda t: t.zeros(t.tensor([2]), 1),
    "a member of an IntEnum for a size": lambda t: t.zeros(Level.THREE, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_value_is_read_as_pytorch_reads_it(name: str, require: Require) -> None:
    same_outcome(require("torch"), ACCEPTED[name])
