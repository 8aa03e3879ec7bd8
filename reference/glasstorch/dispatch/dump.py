"""What is registered for an operator, and what does every key lead to, as text?

Mirrors: OperatorEntry::dumpState and dumpComputedTable in aten/src/ATen/core/dispatch/OperatorEntry.cpp
Differs: the place of a kernel is followed by how it is called; there is no C++ signature to show.
"""

from __future__ import annotations

import re

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import ALIASES, RUNTIME_KEYS, DispatchKey
from glasstorch.dispatch.operator import Operator, fallthrough_kernel
from glasstorch.dispatch.resolve import AMBIGUOUS, MISSING, RULES, choose

ROW = re.compile(r"(\w+): .*\[([a-z ]+)\]")


def dump_table(operator: Operator) -> str:
    """One row for each runtime key that has a kernel: its name, where the kernel was registered, and the rule.

    >>> from glasstorch.dispatch.operator import registry
    >>> text = dump_table(registry.find("aten::matmul"))
    >>> read_table(text)[DispatchKey.CPU], read_table(text)[DispatchKey.Python]
    ('math kernel', 'backend fallback')
    """
    rows = []
    for key in RUNTIME_KEYS:
        choice = choose(operator, key)
        if choice.kernel is not None:
            passes_by = "fallthrough " if choice.kernel.function is fallthrough_kernel else ""
            rows.append(f"{key.name}: {passes_by}registered at {choice.kernel.where} [{choice.rule}]\n")
        elif choice.rule == AMBIGUOUS:
            rows.append(f"{key.name}: ambiguous_autogradother [{AMBIGUOUS}]\n")
    return "".join(rows)


def dump_registrations(operator: Operator) -> str:
    """The operator's schema, if it has one, and a row for each kernel, also of those that another one has replaced.

    >>> from glasstorch.dispatch.operator import registry
    >>> print(dump_registrations(registry.find("aten::matmul")))  # doctest: +ELLIPSIS
    name: aten::matmul
    schema: aten::matmul(Tensor self, Tensor other) -> Tensor
    debug: registered at native_functions.yaml:...
    alias analysis kind: FROM_SCHEMA
    ...CompositeImplicitAutograd[alias]: registered at operators/composite/matmul.py:... :: (none) [ boxed ]
    <BLANKLINE>
    """
    lines = [f"name: {operator.name}"]
    if operator.text:
        lines += [f"schema: {operator.schema}", f"debug: registered at {operator.defined_at}"]
        lines.append("alias analysis kind: FROM_SCHEMA")
    else:
        lines.append("schema: (none)")
    for key in sorted(operator.kernels):  # by number
        alias = "[alias]" if key.name in ALIASES else ""
        for at, kernel in enumerate(reversed(operator.kernels[key])):
            inactive = " (inactive)" if at else ""
            called = "fallthrough boxed" if kernel.function is fallthrough_kernel else "boxed"
            lines.append(f"{key.name}{alias}{inactive}: registered at {kernel.where} :: (none) [ {called} ]")
    return "\n".join(lines) + "\n"


def read_table(text: str) -> dict[DispatchKey, str]:
    """The rule at each runtime key, from a dump of this library or of PyTorch; a key without a row is missing."""
    rules = dict.fromkeys(RUNTIME_KEYS, MISSING)
    for row in text.splitlines():
        found = ROW.fullmatch(row)
        key = DispatchKey.__members__.get(found[1]) if found else None
        if found is None or key not in rules or found[2] not in RULES:
            raise RegistrationError(
                f"cannot read {row!r} in the table of an operator; expected rows such as "
                f"'CPU: registered at file:line [kernel]', with a runtime key and one of the rules {', '.join(RULES)}"
            )
        rules[key] = found[2]
    return rules
