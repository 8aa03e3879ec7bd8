"""What do the operators of the family complex_numbers compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import ANY, SUMS, same
from tests.agreement.samples import Row, call, row, t

Array = np.ndarray[Any, Any]


ROWS: tuple[Row, ...] = (
    row("_neg_view", np.negative, *(call(x) for x in ANY), dtypes=SUMS),
    row("is_conj", lambda x: False, call(t(2, 3)), differentiable=False, meta=False),
    row("is_neg", lambda x: False, call(t(2, 3)), differentiable=False, meta=False),
    row("resolve_neg", same, *(call(x) for x in ANY)),
    row("resolve_conj", same, *(call(x) for x in ANY)),
    row("conj", same, *(call(x) for x in ANY)),
    row("conj_physical", same, *(call(x) for x in ANY)),
    row("real", same, *(call(x) for x in ANY)),
)  # fmt: skip
