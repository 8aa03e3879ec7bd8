"""Does a Python number become the element that PyTorch makes of it, or is it refused where PyTorch refuses it?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.dtype import BY_NAME, bool_, complex64, dtype, float16, float32, int32, int64, uint8
from glasstorch.core.errors import DtypeError
from glasstorch.operators.shapes.scalars import number_as

VALUES = [0, 1, -1, True, 255, 256, -255, -256, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53]
VALUES += [300, -300, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**64), 448.0, 449.0, 57344.0, 57345.0]
VALUES += [1 + 0j, 1 + 1j, 1e300 + 1j, 3j, complex(math.inf, 0), complex(0, math.nan)]
VALUES += [2.7, -2.7, 255.9, -0.5, 65504.0, 65505.0, 1e38, 1e39, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("name", BY_NAME)
def test_numbers_become_what_torch_makes_of_them(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    for value in VALUES:
        zeros = torch.zeros(2, dtype=getattr(torch, name))  # of a single element PyTorch checks less
        wanted = outcome(lambda zeros=zeros, value=value: zeros.fill_(value))
        found = outcome(
            lambda zeros=zeros, value=value: zeros.clone().fill_(
                torch.tensor([number_as(value, BY_NAME[name])], dtype=zeros.dtype)[0]
            )
        )
        assert found == wanted, value


def outcome(compute: Callable[[], Any]) -> str:
    """The values computed, as text (NaN equals NaN there), or the message of the refusal."""
    try:
        return str(compute().tolist())
    except (RuntimeError, OverflowError) as error:
        return str(error)


@pytest.mark.parametrize(
    ("value", "target", "wanted"),
    [
        (2.7, int64, 2),
        (-2.7, int32, -2),
        (-1, uint8, 255),
        (0.5, bool_, True),
        (3, float32, 3.0),
        (2, complex64, 2 + 0j),
        (2 + 0j, int64, 2),
    ],
)
def test_a_fraction_is_lost_and_uint8_wraps_below_zero(value: float, target: dtype, wanted: float) -> None:
    found = number_as(value, target)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("value", "target"),
    [(300, uint8), (-0.5, uint8), (2**31, int32), (1e6, float16), (math.nan, int64), (1j, float32), (1e39j, complex64)],
)
def test_what_does_not_fit_is_refused(value: float, target: dtype) -> None:
    with pytest.raises(DtypeError, match="value cannot be converted to type"):
        number_as(value, target)
