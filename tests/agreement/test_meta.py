"""Does every operator give the same sizes, strides and dtypes without data?"""

from __future__ import annotations

import pytest

from tests.agreement.oracles import check_meta
from tests.agreement.samples import Row
from tests.agreement.table import ROWS


@pytest.mark.parametrize("row", [row for row in ROWS if row.meta], ids=lambda row: row.op)
def test_sizes_without_data(row: Row) -> None:
    check_meta(row)
