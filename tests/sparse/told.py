"""How is a tensor of any layout told so that two libraries can be compared?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def told(t: Any, value: Any) -> Any:
    """Plain data: of a tensor its facts and the tensors that it consists of; of anything else what it is."""
    if isinstance(value, list | tuple):
        return [told(t, one) for one in value]
    if not isinstance(value, t.Tensor):
        return value if isinstance(value, str | int | float | complex | type(None)) else repr(value)
    x = value.detach()
    facts = [str(x.dtype), str(x.layout), value.requires_grad]
    if x.layout is t.jagged:
        return [*facts, x._ragged_idx, *(told(t, one) for one in (x.values(), x.offsets(), x.lengths()))]
    if x.is_sparse:
        return [*facts, list(x.shape), x.is_coalesced(), told(t, x._indices()), told(t, x._values())]
    if x.layout is not t.strided:
        by_row = x.layout in (t.sparse_csr, t.sparse_bsr)
        indices = (x.crow_indices(), x.col_indices()) if by_row else (x.ccol_indices(), x.row_indices())
        return [*facts, list(x.shape), *(told(t, one) for one in (*indices, x.values()))]
    return [*facts, list(x.shape), "meta" if x.is_meta else (x.float() if x.dtype is t.bfloat16 else x).tolist()]


def outcomes(t: Any, calls: list[Callable[[], Any]]) -> list[Any]:
    """What each call gives, or the class and the first line of its error."""
    found = []
    for call in calls:
        try:
            found.append(told(t, call()))
        except Exception as error:  # noqa: BLE001 (the error is what is compared)
            found.append([type(error).__name__, str(error).partition("\n")[0].replace("glasstorch", "torch")])
    return found
