"""Do first and second derivatives of every operator agree with finite differences?"""

from __future__ import annotations

import pytest

from tests.agreement.oracles import check_gradients, check_no_gradient
from tests.agreement.samples import Row
from tests.agreement.table import ROWS


@pytest.mark.parametrize("row", [row for row in ROWS if row.differentiable], ids=lambda row: row.op)
def test_derivatives(row: Row) -> None:
    check_gradients(row)


@pytest.mark.parametrize("row", [row for row in ROWS if not row.differentiable], ids=lambda row: row.op)
def test_what_has_no_derivative_records_nothing(row: Row) -> None:
    check_no_gradient(row)
