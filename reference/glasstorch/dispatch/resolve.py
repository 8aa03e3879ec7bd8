"""Given an operator and a key set, which of the registered kernels runs, and why?

Mirrors: OperatorEntry::computeDispatchTableEntryWithDebug in aten/src/ATen/core/dispatch/OperatorEntry.cpp
Differs: the same order of rules. PyTorch guards kernels below autograd in each autograd kernel
    (AutoDispatchBelowADInplaceOrView); here the guard is put around those kernels that call operators themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from glasstorch.core.errors import MissingKernelError
from glasstorch.core.keys import (
    ALL_BACKENDS,
    AUTOGRAD_AND_NESTED,
    BACKENDS,
    FUNCTIONALITY_BIT,
    PER_BACKEND,
    DispatchKey,
    highest_key,
    runtime_keys,
)
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Boxed, Kernel, Operator, fallthrough_kernel, registry

# The words of PyTorch's own table dump (torch._C._dispatch_dump_table).
KERNEL = "kernel"
DEFAULT_BACKEND_KERNEL = "default backend kernel"
MATH_KERNEL = "math kernel"
AUTOGRAD_KERNEL = "autograd kernel"
BACKEND_FALLBACK = "backend fallback"
MISSING = "missing"

_DENSE_LIKE = [f for f in PER_BACKEND if f != "AutogradFunctionality"]
BACKEND_KEYS = frozenset(DispatchKey[PER_BACKEND[f] + b] for f in _DENSE_LIKE for b in BACKENDS) | {
    DispatchKey[n] for n in ("FPGA", "Vulkan", "Metal", "MkldnnCPU", "CustomRNGKeyId")
}
AUTOGRAD_KEYS = frozenset(DispatchKey["Autograd" + b] for b in BACKENDS) | {
    DispatchKey.AutogradOther,
    DispatchKey.AutogradNestedTensor,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The kernel for one runtime key and the rule that chose it."""

    key: DispatchKey
    kernel: Kernel | None
    rule: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a key set resolves to: the choice, the fallthrough keys passed on the way, and the table's entry."""

    choice: Choice
    skipped: tuple[DispatchKey, ...]
    entry: Boxed


def resolve(operator: Operator, keys: int) -> Resolution:
    """The kernel for a masked key set: that of its highest key which is not a fallthrough."""
    skipped: list[DispatchKey] = []
    remaining = keys
    while True:
        key = highest_key(remaining)
        choice = choose(operator, key)
        if choice.kernel is None:
            raise MissingKernelError(missing_message(operator, key))
        if choice.kernel.function is not fallthrough_kernel:
            return Resolution(choice, tuple(skipped), entry_for(operator, choice))
        if key is DispatchKey.Undefined:
            raise MissingKernelError(missing_message(operator, key))
        skipped.append(key)
        remaining &= ~(1 << (remaining.bit_length() - 1))  # the highest functionality, on all its backends


def choose(operator: Operator, key: DispatchKey) -> Choice:
    """The rules, in PyTorch's order; the first that applies wins."""

    def registered(name: DispatchKey) -> Kernel | None:
        kernels = operator.kernels.get(name)
        return kernels[-1] if kernels else None

    # 1. A kernel registered for this very key.
    if kernel := registered(key):
        return Choice(key, kernel, KERNEL)
    is_backend = key in BACKEND_KEYS or key is DispatchKey.Undefined
    is_autograd = key in AUTOGRAD_KEYS
    # 2.1, 2.2 A kernel for every backend, below autograd.
    if is_backend:
        for alias in (
            DispatchKey.CompositeExplicitAutogradNonFunctional,
            DispatchKey.CompositeExplicitAutograd,
        ):
            if kernel := registered(alias):
                return Choice(key, kernel, DEFAULT_BACKEND_KERNEL)
    # 2.3 A kernel made of other operators, which differentiate themselves. An autograd key takes it only where its
    #     backend has no kernel of its own: with one, the autograd formula (or fallback) must stand above it.
    if (is_backend or is_autograd) and (kernel := registered(DispatchKey.CompositeImplicitAutograd)):
        has_backend_kernel = registered(DispatchKey.CompositeExplicitAutograd) is not None or any(
            registered(backend) for backend in backends_of(key)
        )
        if not (is_autograd and has_backend_kernel):
            return Choice(key, kernel, MATH_KERNEL)
    # 2.4 The autograd kernel for every backend.
    if is_autograd and (kernel := registered(DispatchKey.Autograd)):
        return Choice(key, kernel, AUTOGRAD_KERNEL)
    # 3. What the key does for operators that say nothing.
    if kernel := registry.fallbacks.get(key):
        return Choice(key, kernel, BACKEND_FALLBACK)
    return Choice(key, None, MISSING)


def backends_of(autograd_key: DispatchKey) -> Iterator[DispatchKey]:
    """The backend keys whose gradients an autograd key records: AutogradCPU -> CPU, SparseCPU ..."""
    if autograd_key is DispatchKey.AutogradOther:
        yield from (DispatchKey[n] for n in ("FPGA", "Vulkan", "Metal", "MkldnnCPU", "CustomRNGKeyId"))
    elif autograd_key in AUTOGRAD_KEYS and autograd_key is not DispatchKey.AutogradNestedTensor:
        backend = autograd_key.name.removeprefix("Autograd")
        yield from (DispatchKey[PER_BACKEND[f] + backend] for f in _DENSE_LIKE if f != "NestedTensor")


def entry_for(operator: Operator, choice: Choice) -> Boxed:
    """The function to put in the table: called as `entry(keys, *arguments)`."""
    kernel = choice.kernel
    assert kernel is not None
    function = kernel.function
    if choice.rule == BACKEND_FALLBACK:
        return partial(function, operator)  # boxed: fallback(operator, keys, *arguments)
    below_autograd = choice.key in BACKEND_KEYS and choice.rule != MATH_KERNEL
    if kernel.calls_operators and below_autograd:
        return _below_autograd(function, kernel.takes_keys)
    return function if kernel.takes_keys else _without_keys(function)


def _without_keys(function: Boxed) -> Boxed:
    def entry(keys: int, *arguments: Any) -> Any:
        return function(*arguments)

    return entry


def _below_autograd(function: Boxed, takes_keys: bool) -> Boxed:
    """Run a backend kernel that calls operators with autograd switched off for those calls.

    The gradient of the whole was recorded above; recording its parts too would count it twice.
    """

    def entry(keys: int, *arguments: Any) -> Any:
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & ~_EXCLUDED_BELOW_AUTOGRAD))
        try:
            return function(keys, *arguments) if takes_keys else function(*arguments)
        finally:
            active_keys.reset(token)

    return entry


_EXCLUDED_BELOW_AUTOGRAD = (AUTOGRAD_AND_NESTED | FUNCTIONALITY_BIT["ADInplaceOrView"]) & ~ALL_BACKENDS


def computed_table(operator: Operator, keys: int) -> list[Choice]:
    """For people: what each runtime key of a set resolves to by itself, highest priority first."""
    return [choose(operator, key) for key in reversed(list(runtime_keys(keys)))]


def missing_message(operator: Operator, key: DispatchKey) -> str:
    """What was asked for, what there is, and what to do."""
    have = sorted(k.name for k, kernels in operator.kernels.items() if kernels)
    if key is DispatchKey.Undefined:
        return (
            f"There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), and no "
            f"kernel of {operator.name} runs without one. It has kernels for: {have}"
        )
    return (
        f"Could not run '{operator.name}' with arguments from the '{key.name}' backend. '{operator.name}' is only "
        f"available for these backends: {have}. Register one with "
        f"Library('{operator.namespace}', 'IMPL').impl('{operator.name.partition('::')[2]}', kernel, '{key.name}')."
    )
