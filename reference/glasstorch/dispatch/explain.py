"""From which registrations does an operator's table follow?

The way back from `choose`. It needs no operator, only the text of its table, as this library or PyTorch prints it.

Mirrors: nothing; PyTorch has the way there only, and prints registrations where it has the operator (_dispatch_dump)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.dump import read_table
from glasstorch.dispatch.operator import Kernel, Operator
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, INCLUDED_IN, KERNEL, MISSING, backends_of, choose

UNSERVED = {BACKEND_FALLBACK, MISSING}  # which of the two is not a matter of the operator


def explained(table: str) -> frozenset[DispatchKey] | None:
    """The fewest registrations that make a whole table, given as `torch._C._dispatch_dump_table` prints it.

    >>> from glasstorch.dispatch.dump import dump_table
    >>> from glasstorch.dispatch.operator import registry
    >>> [key.name for key in explained(dump_table(registry.find("aten::kron"))) or ()]
    ['CompositeImplicitAutograd']
    """
    return fewest_registrations(read_table(table))


def fewest_registrations(rules: Mapping[DispatchKey, str]) -> frozenset[DispatchKey] | None:
    """The fewest keys and aliases whose kernels make these rules stand at these runtime keys; None if none do.

    Of a key that is not among them nothing is known, so that a kernel may have been registered there.

    >>> found = fewest_registrations({DispatchKey.CPU: "kernel", DispatchKey.Meta: "math kernel"})
    >>> sorted(key.name for key in found or ())
    ['CPU', 'CompositeImplicitAutograd']
    """
    own = {key for key, rule in rules.items() if rule == KERNEL}
    every = chain.from_iterable(combinations(INCLUDED_IN, count) for count in range(len(INCLUDED_IN) + 1))
    found = [_completed(own.union(aliases), rules) for aliases in every]
    return min((one for one in found if one is not None), key=len, default=None)


def _completed(registered: Iterable[DispatchKey], rules: Mapping[DispatchKey, str]) -> frozenset[DispatchKey] | None:
    """Some registrations and the backends that must be added out of sight, if these rules then follow; otherwise None.

    A composite kernel steps aside at the autograd key of a backend that has a kernel. Nothing else depends on a key
    that is not among those of the rules, and each backend belongs to one autograd key.
    """
    operator = Operator("explain::op", "explain::op() -> ()", "")
    operator.kernels = {key: [Kernel(_nothing, key, "")] for key in registered}
    for key, rule in rules.items():
        if _same(choose(operator, key).rule, rule):
            continue
        hidden = next((backend for backend in sorted(backends_of(key)) if backend not in rules), None)
        if hidden is None:
            return None
        operator.kernels[hidden] = [Kernel(_nothing, hidden, "")]
        if not _same(choose(operator, key).rule, rule):
            return None
    return frozenset(operator.kernels)


def _same(found: str, given: str) -> bool:
    return found == given or {found, given} <= UNSERVED


def _nothing() -> None:
    """The kernel of an operator that nobody calls."""
