"""Which kernels are registered, for an operator or for a key?

Mirrors: hasKernelForDispatchKey and its kin in aten/src/ATen/core/dispatch/OperatorEntry.cpp,
    Dispatcher::getRegistrationsForDispatchKey and getAllOpNames in Dispatcher.cpp
"""

from __future__ import annotations

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import ALIASES, RUNTIME_KEYS, DispatchKey, DispatchKeySet, key_set_of, parse_key
from glasstorch.dispatch import undeclared
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry
from glasstorch.dispatch.resolve import INCLUDED_IN, choose

ALL_RUNTIME_KEYS = frozenset(RUNTIME_KEYS)
DISPATCHED_TO = frozenset(DispatchKey)  # and the aliases


def operator_of(name: str) -> Operator:
    """The operator of that full name, which may be undeclared, with the error that PyTorch raises if there is none."""
    operator = undeclared.find(name)
    if operator is None:
        raise RegistrationError(
            f"operator {name} does not exist; expected namespace::name or namespace::name.overload, such as "
            f"'aten::add.Tensor'"
        )
    return operator


def key_of(key: DispatchKey | str) -> DispatchKey:
    """A key that a program gave by itself or by its name."""
    return parse_key(key) if isinstance(key, str) else DispatchKey(key)


def active_kernel(operator: Operator, key: DispatchKey) -> Kernel | None:
    """The kernel that was registered last for this very key or alias."""
    kernels = operator.kernels.get(key)
    return kernels[-1] if kernels else None


def has_kernel_for(name: str, key: DispatchKey | str) -> bool:
    """Whether something is registered for this very key or alias."""
    return active_kernel(operator_of(name), key_of(key)) is not None


def has_kernel_for_any(name: str, keys: DispatchKeySet) -> bool:
    """Whether something is registered for a runtime key of the set; aliases do not count."""
    operator = operator_of(name)
    return any(kernels and key.name not in ALIASES and keys.has(key) for key, kernels in operator.kernels.items())


def has_computed_kernel_for(name: str, key: DispatchKey | str) -> bool:
    """Whether a call that reaches a runtime key finds something there, by whatever rule."""
    operator, key = operator_of(name), key_of(key)
    if key.name in ALIASES:
        raise RegistrationError(f"Alias keys do not have runtime kernel registrations. Asked for: {key.name}")
    return choose(operator, key).kernel is not None


def is_fallthrough(name: str, key: DispatchKey | str) -> bool:
    """Whether what is registered for this very key says that it is to be passed by."""
    key = key_of(key)
    kernel = active_kernel(operator_of(name), key)
    if kernel is None:
        raise RegistrationError(f"no kernel for {key.name} on {name}")
    return kernel.function is fallthrough_kernel


def registered_for(key: str = "") -> list[str]:
    """The operators that have something registered for a key or alias; with no key, all operators."""
    if not key:
        return all_names()
    wanted = parse_key(key)
    operators = {**registry.operators, **undeclared.everything()}
    return [name for name, operator in operators.items() if operator.kernels.get(wanted)]


def all_names() -> list[str]:
    """The full names of all operators, the undeclared ones too."""
    return [*registry.operators, *undeclared.everything()]


def is_included_in(key: DispatchKey | str, alias: DispatchKey | str) -> bool:
    """Whether a kernel that is registered for an alias may serve a runtime key.

    Of what is no runtime key PyTorch compares the bits: a functionality is included with any of its backends, and
    another alias, which has none, always.
    """
    key, alias = key_of(key), key_of(alias)
    if alias not in INCLUDED_IN:
        return key is alias
    if key in ALL_RUNTIME_KEYS:
        return key in INCLUDED_IN[alias]
    return DispatchKeySet(key_set_of(*INCLUDED_IN[alias])).has(key)


def check_invariants(operator: Operator) -> None:
    """Assert what must always hold of an operator: its name, its keys, and that the table keeps what is resolved."""
    assert operator.text.partition("(")[0] == operator.name, f"{operator.name} has the schema {operator.text}"
    for key, kernels in operator.kernels.items():
        for kernel in kernels:
            assert kernel.key is key, f"{operator.name} has a kernel of {kernel.key} under {key}"
        assert key in DISPATCHED_TO, f"{operator.name} has a kernel under {key}, which nothing dispatches to"
