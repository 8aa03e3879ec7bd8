"""Tries each set of aliases with the keys that have their own kernel, and adds backends that are not shown."""

from collections.abc import Mapping
from itertools import chain, combinations

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator
from glasstorch.dispatch.resolve import INCLUDED_IN, backends_of, choose

Registrations = frozenset[DispatchKey]


def rule_at(registered: Registrations, key: DispatchKey) -> str:
    """The rule at a key of an operator with these registrations."""
    operator = Operator("lab::op", "lab::op(Tensor x) -> Tensor", "here")
    for name in registered:
        operator.kernels[name] = [Kernel(lambda x: x, name, "here")]
    return choose(operator, key).rule


def fewest_registrations(rules: Mapping[DispatchKey, str]) -> Registrations | None:
    """The fewest keys and aliases whose kernels lead to these rules, or None."""
    own = frozenset(key for key, rule in rules.items() if rule == "kernel")
    choices = chain.from_iterable(combinations(INCLUDED_IN, count) for count in range(len(INCLUDED_IN) + 1))
    found = (completed(own.union(aliases), rules) for aliases in choices)
    return min((one for one in found if one is not None), key=len, default=None)


def completed(registered: Registrations, rules: Mapping[DispatchKey, str]) -> Registrations | None:
    """These registrations and the backends that are missing from them, if they then lead to the rules."""
    for key, rule in rules.items():
        if not right(registered, key, rule):
            out_of_sight = [backend for backend in backends_of(key) if backend not in rules]
            if not out_of_sight:
                return None
            registered |= {min(out_of_sight)}
    return registered if all(right(registered, key, rule) for key, rule in rules.items()) else None


def right(registered: Registrations, key: DispatchKey, rule: str) -> bool:
    """Whether these registrations lead to this rule."""
    found = rule_at(registered, key)
    return found == rule or {found, rule} == {"backend fallback", "missing"}
