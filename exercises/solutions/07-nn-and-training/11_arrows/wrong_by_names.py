"""Goes by the names: an operator and the node that is called like it.

Refused by: check
"""

from collections.abc import Sequence

from glasstorch.dispatch.record import BACKWARD_FUNCTION, Record


def arrows(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of a forward call and the step it led to, in the steps' order."""
    calls = [record for record in records if record.name.startswith("aten::")]
    pairs = []
    for record in records:
        if record.scope == BACKWARD_FUNCTION and record.sequence >= 0:
            wanted = record.name.removesuffix("Backward0").lower()
            for call in reversed(calls):
                if call.name == f"aten::{wanted}" and call.start < record.start:
                    calls.remove(call)
                    pairs.append((call, record))
                    break
    return pairs
