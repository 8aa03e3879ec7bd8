"""Which out= kernels follow from the operator table?

See Note [The ways to write to out=].

Mirrors: torchgen/native_function_generation.py (gen_composite_out_kernel)
Differs: the rows also describe forms that PyTorch wrote by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from glasstorch.dispatch.library import KernelTable, place
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.out.composed import LEAF, composed_out
from glasstorch.kernels.out.copied import COMPOSED, IMPLICIT, copied_out
from glasstorch.operators.composite.with_number import with_number
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.operator_row import OperatorRow

BY_HAND: Final = "by hand"
PASSED_ON_TO: Final = "passed on to "


def made(row: OperatorRow, how: str, words: list[str]) -> tuple[KernelTable, Callable[..., Any]]:
    """The kernel for a row, and the table with which it is registered."""
    if how == "copied":
        return COMPOSED, copied_out(row)
    if how == "composed":
        return COMPOSED if LEAF in words else IMPLICIT, composed_out(row, words)
    return COMPOSED, with_number(how.removeprefix(PASSED_ON_TO))


def how_written(row: OperatorRow) -> str | None:
    """What the row says; a form that PyTorch's generator added is a copy on backends without a kernel of their own."""
    is_out = row.functional is not None and not row.name.partition(".")[0].endswith("_")
    if row.out is not None or not is_out or Tag.generated.name not in row.tags:
        return row.out
    return None if registry.find(f"aten::{row.name}").has_kernel_for(COMPOSED.key) else "copied"


def register_rows() -> None:
    """Register every out= form that the operator table describes, except those written by hand."""
    for row in OPERATORS:
        written = how_written(row)
        if written is None:
            continue
        how, *words = written.split(", ")
        if BY_HAND not in words:
            table, kernel = made(row, how, words)
            code = kernel.__code__
            table.add(row.name, kernel, place(code.co_filename, code.co_firstlineno))


register_rows()
