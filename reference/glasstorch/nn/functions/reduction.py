"""How is a loss reduced?

Mirrors: torch/nn/_reduction.py (get_enum, legacy_get_string)
"""

from __future__ import annotations

import warnings

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def reduction_name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction, also from the two flags that expressed it before PyTorch 0.4.1."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        reduction = "none"
    else:
        reduction = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        stacklevel=3,
    )
    return reduction


def reduction_number(reduction: str) -> int:
    """A reduction as the number that operators take."""
    if reduction not in REDUCTIONS:
        if reduction == "elementwise_mean":
            warnings.warn(
                "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3
            )
            return REDUCTIONS["mean"]
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]
