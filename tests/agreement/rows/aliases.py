"""What do operators compute that are others under another name? What their originals do, on two of their calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from glasstorch.operators.gen.model import load_functions
from tests.agreement.samples import Row

CALLS = 2  # of the original's, which is itself held to all of them


def rows_of_aliases(rows: Iterable[Row]) -> tuple[Row, ...]:
    """A row for each alias that is declared, made from its original's."""
    originals = {row.op: row for row in rows}
    return tuple(
        replace(
            originals[f.alias_of],
            op=f.name,
            calls=originals[f.alias_of].calls[:CALLS],
            cuda=originals[f.alias_of].on_cuda,
        )
        for f in load_functions()
        if f.alias_of is not None and f.functional is None
    )
