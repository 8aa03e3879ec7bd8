"""Do the in-place and out= forms of every operator agree with the functional one, and count one change?"""

from __future__ import annotations

import pytest

from tests.agreement.oracles import check_forms, forms_of, operator
from tests.agreement.samples import Row
from tests.agreement.table import ROWS

WITH_FORMS = [row for row in ROWS if forms_of(row, True) or forms_of(row, False) or operator(row.op).schema.is_inplace]


@pytest.mark.parametrize("row", WITH_FORMS, ids=lambda row: row.op)
def test_forms(row: Row) -> None:
    check_forms(row)
