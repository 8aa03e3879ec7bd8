"""Does every operator compute what NumPy says?"""

from __future__ import annotations

import pytest

from tests.agreement.oracles import check_numpy
from tests.agreement.samples import Row
from tests.agreement.table import ROWS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_values_sizes_and_dtype(row: Row) -> None:
    check_numpy(row)
