"""Which operators have kernels, although they are not declared?

Mirrors: Dispatcher::findOrRegisterName_ and findDanglingImpls in aten/src/ATen/core/dispatch/Dispatcher.cpp

Libraries are loaded in any order: a kernel may come before its operator, and stays when the library goes that declared
it. Until then, or from then on, the operator cannot be called.
"""

from __future__ import annotations

from typing import Final

from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.overload import OpOverload

_waiting: Final[dict[str, OpOverload]] = {}  # by full name; their schema has no text. Changed under the registry's lock


def find(name: str) -> Operator | None:
    """The operator of that full name, declared or not; None if it has no kernel either."""
    return registry.operators.get(name) or _waiting.get(name)


def find_or_wait(name: str) -> Operator:
    """The operator of that full name; one that is not declared waits for it from now on."""
    return registry.operators.get(name) or _waiting.setdefault(name, OpOverload(name, "", ""))


def declared(name: str) -> OpOverload | None:
    """The operator of that full name, which waits no longer; None if it did not."""
    return _waiting.pop(name, None)


def left(operator: Operator) -> None:
    """Keep the kernels of other libraries, for an operator whose declaration was taken back."""
    for kernels in operator.kernels.values():
        # A kernel of a table belongs to no library that could take it back.
        kernels[:] = [kernel for kernel in kernels if kernel.table is None]
    if any(operator.kernels.values()):
        _waiting[operator.name] = waiting = OpOverload(operator.name, "", "")
        waiting.kernels = operator.kernels


def forget_empty() -> None:
    """Forget those of which the last kernel was taken back."""
    for name in [name for name, operator in _waiting.items() if not any(operator.kernels.values())]:
        del _waiting[name]


def everything() -> dict[str, OpOverload]:
    """Those that wait, by full name."""
    return dict(_waiting)
