"""How does one find PyTorch's numbers of reductions at PyTorch's path?

Mirrors: torch/nn/_reduction.py
Differs: `nn/functions/reduction.py` decides.
"""

from __future__ import annotations

from glasstorch.nn.functions.reduction import reduction_name, reduction_number


def get_enum(reduction: str) -> int:
    """The number of a reduction: none is 0, mean is 1, sum is 2."""
    return reduction_number(reduction)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that two flags of PyTorch before 0.4.1 mean."""
    average, reduced = (True if flag is None else flag for flag in (size_average, reduce))
    return reduction_name(average, reduced, "mean", emit_warning)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that the two flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
