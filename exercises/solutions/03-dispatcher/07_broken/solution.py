"""Checks the arguments, the pairs of an argument and a result, and the pairs of results."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from glasstorch import Tensor
from glasstorch._library.schema_check import RESULTS_SHARE, RETURNED, SHARES, WRITES, Broken, overlap
from glasstorch.dispatch.schema import FunctionSchema, Type


def broken_promises(
    schema: FunctionSchema,
    given: Sequence[Any],
    changed: Sequence[bool],
    returned: Sequence[Any],
) -> set[Broken]:
    """The promises of its schema that a call has broken."""
    found = set()
    results = list(zip(schema.returns, returned, strict=False))
    for i, (argument, value) in enumerate(zip(schema.arguments, given, strict=True)):
        writes = argument.type.is_write
        if changed[i] and not writes:
            found.add(Broken(WRITES, i))
        for j, (promised, result) in enumerate(results):
            if overlap(value, result) and not allowed(argument.type, promised.type):
                found.add(Broken(SHARES, i, j))
            if isinstance(value, Tensor) and value is result and not writes:
                found.add(Broken(RETURNED, i, j))
    for (i, (one, value)), (j, (other, result)) in combinations(enumerate(results), 2):
        if overlap(value, result) and not allowed(one.type, other.type):
            found.add(Broken(RESULTS_SHARE, i, j))
    return found


def allowed(one: Type, other: Type) -> bool:
    """Whether the marks have a letter in common."""
    if one.alias_info is None or other.alias_info is None:
        return False
    letters = [info.before_set | info.after_set for info in (one.alias_info, other.alias_info)]
    return "*" in letters[0] | letters[1] or not letters[0].isdisjoint(letters[1])
