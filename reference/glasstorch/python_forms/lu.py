"""What does `lu` return, with and without error codes?

Mirrors: torch/functional.py (_lu_impl, _lu_with_infos, _lu_no_infos), torch/_tensor.py (Tensor.lu)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Sequence[Tensor] | None = None) -> Sequence[Tensor]:
    """The LU decomposition in one matrix, and its pivots; `linalg.lu_factor` is the newer name.

    With `get_infos`, also the 1-based position of a zero on U's diagonal, or 0. `out` tensors are resized.
    """
    if type(A) not in PLAIN and has_torch_function_unary(A):
        return handle_torch_function(lu, (A,), A, pivot=pivot, get_infos=get_infos, out=out)
    if out is not None and not isinstance(out, tuple | list):
        raise TypeError(f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    wanted = 3 if get_infos else 2
    if out is not None and len(out) != wanted:
        raise TypeError(f"expected tuple of {wanted} elements but got {len(out)}")
    results = functions._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    if out is None:
        return results if get_infos else tuple(results[:2])
    for written, result in zip(out, results, strict=False):
        written.resize_as_(result).copy_(result)
    return out


def lu_method(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Sequence[Tensor]:
    """The LU decomposition in one matrix, and its pivots; with `get_infos`, also the error codes."""
    results = lu(self, pivot, get_infos)
    return tuple(results)
