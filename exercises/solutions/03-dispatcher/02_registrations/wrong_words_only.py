"""Reads one alias off each rule, and does not look whether the table follows.

Refused by: check
"""

from collections.abc import Mapping

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator
from glasstorch.dispatch.resolve import choose

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
    aliases = {
        "default backend kernel": "CompositeExplicitAutograd",
        "nested kernel": "CompositeImplicitAutogradNestedTensor",
        "math kernel": "CompositeImplicitAutograd",
        "ambiguous autogradother": "CompositeImplicitAutograd",
        "autograd kernel": "Autograd",
        "batched kernel": "FuncTorchBatchedDecomposition",
    }
    return own | {DispatchKey[aliases[rule]] for rule in rules.values() if rule in aliases}
