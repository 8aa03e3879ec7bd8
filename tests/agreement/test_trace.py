"""Does a trace of every operator record its kernels and change nothing?"""

from __future__ import annotations

import pytest

from tests.agreement.oracles import check_trace
from tests.agreement.samples import Row
from tests.agreement.table import ROWS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_trace(row: Row) -> None:
    check_trace(row)
