"""Is the unit that a kernel moves the widest that fits, and do its bits stay?"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from glasstorch.kernels.cuda.units import NUMBER, UNIT, bits, widest


@pytest.mark.parametrize(
    ("nbytes", "unit"), [((256, 48), 16), ((256, 40), 8), ((260, 48), 4), ((256, 6), 2), ((257, 16), 1), ((0, 0), 16)]
)
def test_the_widest_unit_divides_every_count(nbytes: tuple[int, ...], unit: int) -> None:
    assert widest(*nbytes) == unit
    assert unit in UNIT


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int32, np.int64, np.float16, ml_dtypes.bfloat16, np.float64])
def test_a_number_keeps_its_bits(kind: type[np.generic]) -> None:
    value = np.array(1, kind)
    assert type(bits(value)) is NUMBER[value.itemsize]
    assert bits(value).tobytes() == value.tobytes()
