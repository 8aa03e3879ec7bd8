"""Is every operator PyTorch's: values, dtype, sizes, strides, sharing of storage, names of nodes?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.agreement.oracles import check_node_names, check_torch
from tests.agreement.samples import Row
from tests.agreement.table import ROWS

Require = Callable[[str], Any]
SHARED = [row for row in ROWS if row.in_torch]


@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.op)
def test_results(row: Row, require: Require) -> None:
    check_torch(row, require("torch"))


OTHER_NODES = {
    **dict.fromkeys(
        ["quantile", "quantile.scalar", "nanquantile", "nanquantile.scalar", "stft.center"],
        "ends with a view here, with a view in place there",
    ),
    "einsum": "what lies in another order of names ends with permute here, with a view there",
    "special_ndtr": "multiplies by a number, which is an overload of its own there",
    "cross_entropy_loss": "divides by a number, which is an overload of its own there",
    **dict.fromkeys(
        ["cross_entropy_loss", "cumulative_trapezoid.x", "trapezoid.dx", "trapezoid.x", "trapz.dx", "trapz.x"],
        "multiplies with a number or divides by one, which is an overload of its own there",
    ),
}


@pytest.mark.parametrize("row", [row for row in SHARED if row.differentiable], ids=lambda row: row.op)
def test_names_of_nodes(row: Row, require: Require) -> None:
    torch = require("torch")
    if row.op not in OTHER_NODES:
        check_node_names(row, torch)
    else:
        with pytest.raises(AssertionError, match="expected"):
            check_node_names(row, torch)
