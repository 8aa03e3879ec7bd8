"""Pairs each step with the last call that began with the node's number, which is the call that created the node."""

from collections.abc import Sequence

from glasstorch.dispatch.record import BACKWARD_FUNCTION, Record


def arrows(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of a forward call and the step it led to, in the steps' order."""
    made: dict[tuple[int, int], Record] = {}
    for record in records:
        if record.sequence >= 0 and not record.forward_thread:
            made[record.thread, record.sequence] = record
    pairs = []
    for record in records:
        if record.scope == BACKWARD_FUNCTION:
            forward = made.pop((record.forward_thread, record.sequence), None)
            if forward is not None:
                pairs.append((forward, record))
    return pairs
