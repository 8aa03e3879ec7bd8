"""Does a TorchDispatchMode see the operators that it sees in PyTorch?

It stands below autograd: of an operator that is made of others it sees those, and of one with a kernel that one alone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from tests.agreement.oracles import arrays, in_library
from tests.agreement.samples import Call, Row
from tests.agreement.table import ROWS

Require = Callable[[str], Any]

CALLS = 3  # of each row
NUMBERS = "a number is a tensor of no dimensions here, an overload of its own there"
CHECKED = "what LAPACK says is looked at by operators here, by _linalg_check_errors there"
OTHERS = "made of other operators here, most often of fewer"
OTHERWISE = {
    **dict.fromkeys(
        [
            *("cross_entropy_loss", "cumulative_trapezoid.dx", "cumulative_trapezoid.x", "special_ndtr"),
            *("pairwise_distance", "triplet_margin_loss", "affine_grid_generator_backward"),
            *("scaled_dot_product_attention", "_scaled_dot_product_attention_math"),
            *("trapezoid.dx", "trapezoid.x", "trapz.dx", "trapz.x", "gradient.array", "gradient.scalararray"),
            *("gradient.scalarint", "gradient.scalarrayarray", "gradient.scalarrayint"),
        ],
        NUMBERS,
    ),
    **dict.fromkeys(
        [
            *("inverse", "linalg_inv", "linalg_ldl_factor", "linalg_lu_factor", "linalg_solve", "linalg_tensorinv"),
            "linalg_tensorsolve",
        ],
        CHECKED,
    ),
    **dict.fromkeys(
        [
            *("combinations", "einsum", "inner", "isclose", "linalg_matrix_rank", "linalg_matrix_rank.atol_rtol_float"),
            "cosine_similarity",
            *("linalg_pinv.atol_rtol_float", "stft.center", "vander", "view.dtype"),
            *("instance_norm", "rms_norm", "_fused_rms_norm"),
        ],
        OTHERS,
    ),
    **dict.fromkeys(
        ["nanquantile", "nanquantile.scalar", "quantile", "quantile.scalar"],
        "the shares are looked at by operators here, and in memory there",
    ),
    **dict.fromkeys(["corrcoef", "cov"], "the divisor is a number here, a tensor there"),
    **dict.fromkeys(["gradient.tensorarray", "gradient.tensorarrayint"], "the sums are made in another order"),
    **dict.fromkeys(["kl_div", "poisson_nll_loss"], "the terms are made in another order"),
    **dict.fromkeys(
        ["cosine_embedding_loss", "hinge_embedding_loss", "linalg_cond", "linalg_cond.p_str", "margin_ranking_loss"],
        "writes to what it has made itself there",
    ),
    "kron": "sees the operands by view here, by _unsafe_view there",
}


def seen(library: Any, row: Row, call: Call) -> list[str]:
    """The operators that a mode sees of one call, by name."""
    names: list[str] = []

    class Listing(import_module(f"{library.__name__}.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            names.append(str(function))
            return function(*args, **(kwargs or {}))

    name, _, overload = row.op.partition(".")
    function = getattr(getattr(library.ops.aten, name), overload or "default")
    dtype = next(name for name in ("float64", *(call.dtypes or row.dtypes)) if name in (call.dtypes or row.dtypes))
    args, kwargs = in_library(library, call, arrays(row, call, dtype))
    with Listing():
        function(*args, **kwargs)
    return names


@pytest.mark.parametrize("row", [row for row in ROWS if row.in_torch], ids=lambda row: row.op)
def test_a_mode_sees_the_operators_that_it_sees_in_pytorch(row: Row, require: Require) -> None:
    torch = require("torch")
    pairs = [(seen(glasstorch, row, call), seen(torch, row, call)) for call in row.calls[:CALLS]]
    assert all(ours == theirs for ours, theirs in pairs) != (row.op in OTHERWISE), pairs
