"""Moves the arguments, runs the kernel, writes back, and returns for each result what its mark says."""

from collections.abc import Sequence
from typing import Any

from glasstorch.core.device import CPU
from glasstorch.dispatch.operator import Operator
from glasstorch.kernels.cpu_fallback import CPU_KEYS, announce_view, device_of, moved, write_back


def computed_on_cpu(operator: Operator, arguments: Sequence[Any], error_on_views: bool) -> Any:
    """The results of an operator, computed by the CPU."""
    device = device_of(arguments)
    copies = [moved(CPU, given) for given in arguments]
    computed = operator.redispatch(CPU_KEYS, *copies)
    marks = {}
    for declared, given, copy in zip(operator.schema.arguments, arguments, copies, strict=True):
        if declared.type.is_write:
            write_back(copy, given)
            marks[declared.type.alias] = given
    returns = operator.schema.returns
    results = []
    for promised, value in zip(returns, computed if len(returns) > 1 else [computed] * len(returns), strict=True):
        if promised.type.is_write:
            results.append(marks[promised.type.alias])
        elif device is None:
            results.append(value)
        else:
            if promised.type.alias is not None:
                announce_view(operator, device, error_on_views)
            results.append(moved(device, value))
    if len(returns) > 1:
        return type(computed)(results)
    return results[0] if results else None
