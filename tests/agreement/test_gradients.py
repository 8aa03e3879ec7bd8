"""Do first and second derivatives of every operator agree with finite differences?"""

from __future__ import annotations

import pytest

from tests.agreement.oracles import check_gradients, check_no_gradient
from tests.agreement.samples import Row
from tests.agreement.table import ROWS

# A third of the time for eight of nine hundred rows: every fifth call of theirs is checked, and all by `make test-all`.
LONGEST = frozenset([
    "_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention_for_cpu", "grid_sampler_2d",
    "grid_sampler_2d_backward", "grid_sampler_3d", "grid_sampler_3d_backward", "gru.input", "lstm.input",
])  # fmt: skip


@pytest.mark.parametrize("row", [row for row in ROWS if row.differentiable], ids=lambda row: row.op)
def test_derivatives(row: Row) -> None:
    check_gradients(row, every=5 if row.op in LONGEST else 1)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row.op in LONGEST], ids=lambda row: row.op)
def test_derivatives_at_every_call(row: Row) -> None:
    check_gradients(row)


def test_the_longest_are_rows() -> None:
    assert {row.op for row in ROWS} >= LONGEST


@pytest.mark.parametrize("row", [row for row in ROWS if not row.differentiable], ids=lambda row: row.op)
def test_what_has_no_derivative_records_nothing(row: Row) -> None:
    check_no_gradient(row)
