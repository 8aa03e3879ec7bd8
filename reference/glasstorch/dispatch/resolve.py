"""Given an operator and a key set, which of the registered kernels runs, and why?

Mirrors: OperatorEntry::computeDispatchTableEntryWithDebug in aten/src/ATen/core/dispatch/OperatorEntry.cpp
Differs: the same order of rules. PyTorch guards kernels below autograd in each autograd kernel
    (AutoDispatchBelowADInplaceOrView); here the guard is put around those kernels that call operators themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    RUNTIME_KEYS,
    DispatchKey,
    KeysOfCall,
    highest_key,
    key_set_of,
    runtime_keys,
)
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Boxed, Kernel, Operator, fallthrough_kernel, registry

# The words of PyTorch's own table dump (torch._C._dispatch_dump_table).
KERNEL = "kernel"
DEFAULT_BACKEND_KERNEL = "default backend kernel"
NESTED_KERNEL = "nested kernel"
MATH_KERNEL = "math kernel"
AMBIGUOUS = "ambiguous autogradother"
AUTOGRAD_KERNEL = "autograd kernel"
BATCHED_KERNEL = "batched kernel"
BACKEND_FALLBACK = "backend fallback"
MISSING = "missing"
RULES = (
    KERNEL,
    DEFAULT_BACKEND_KERNEL,
    NESTED_KERNEL,
    MATH_KERNEL,
    AMBIGUOUS,
    AUTOGRAD_KERNEL,
    BATCHED_KERNEL,
    BACKEND_FALLBACK,
    MISSING,
)


def _on_each_backend(*functionalities: str, without: tuple[str, ...] = ()) -> frozenset[DispatchKey]:
    return frozenset(DispatchKey[PER_BACKEND[f] + b] for f in functionalities for b in BACKENDS if b not in without)


# Backends that have no autograd key of their own share AutogradOther.
_ALONE = frozenset(DispatchKey[name] for name in ("FPGA", "Vulkan", "Metal", "CustomRNGKeyId", "MkldnnCPU"))
AUTOGRAD_OTHER_BACKENDS = _ALONE | _on_each_backend("Quantized", "Sparse", "SparseCsr")
BACKEND_KEYS = AUTOGRAD_OTHER_BACKENDS | _on_each_backend("Dense")
NESTED_KEYS = _on_each_backend("NestedTensor")
AUTOGRAD_KEYS = _on_each_backend("AutogradFunctionality") | {
    DispatchKey.AutogradOther,
    DispatchKey.AutogradNestedTensor,
}

# Three keys that PyTorch's getBackendKeySetFromAutograd (c10/core/DispatchKeySet.cpp) does not know a backend of.
WITHOUT_BACKEND = ("AutogradHIP", "AutogradVE", "AutogradMTIA")

# Alias -> the runtime keys that a kernel registered for it serves.
INCLUDED_IN: dict[DispatchKey, frozenset[DispatchKey]] = {
    DispatchKey.CompositeExplicitAutogradNonFunctional: _ALONE
    | _on_each_backend("Dense", "Quantized", "SparseCsr", without=("XLA", "Lazy")),
    DispatchKey.CompositeExplicitAutograd: BACKEND_KEYS,
    DispatchKey.CompositeImplicitAutogradNestedTensor: NESTED_KEYS | {DispatchKey.AutogradNestedTensor},
    DispatchKey.CompositeImplicitAutograd: BACKEND_KEYS | NESTED_KEYS | AUTOGRAD_KEYS,
    DispatchKey.Autograd: AUTOGRAD_KEYS,
    DispatchKey.FuncTorchBatchedDecomposition: frozenset((DispatchKey.FuncTorchBatched,)),
}


# By the operator's name, a function that is told the key before the error is raised, and may raise its own.
ASKED_WHEN_MISSING: dict[str, Callable[[str], object]] = {}


@dataclass(frozen=True, slots=True)
class Choice:
    """The kernel for one runtime key and the rule that chose it."""

    key: DispatchKey
    kernel: Kernel | None
    rule: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a key set resolves to: the choice, the fallthrough keys passed on the way, and the table's entry."""

    keys: int
    choice: Choice
    skipped: tuple[DispatchKey, ...]
    entry: Boxed


def resolve(operator: Operator, keys: int) -> Resolution:
    """The kernel for a masked key set: that of its highest key which is not a fallthrough."""
    choices: dict[DispatchKey, Choice] = {}  # each key is resolved once: another thread may register meanwhile

    def chosen(key: DispatchKey) -> Choice:
        if key not in choices:
            choices[key] = choose(operator, key)
        return choices[key]

    key, skipped = next_hop(keys, lambda key: _passes_by(chosen(key)))
    choice = chosen(key)
    if choice.kernel is None or _passes_by(choice):
        if operator.name in ASKED_WHEN_MISSING:
            ASKED_WHEN_MISSING[operator.name](choice.key.name)
        raise MissingKernelError(missing_message(operator, choice))
    return Resolution(keys, choice, skipped, entry_for(operator, choice, keys))


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    """The highest key of a set that does not fall through, and those above it that do, highest first.

    Where all fall through, it is Undefined, which is not tested. A key falls through on all its backends at once.
    """
    skipped = []
    while (key := highest_key(keys)) is not DispatchKey.Undefined and passes_by(key):
        skipped.append(key)
        keys &= ~(1 << (keys.bit_length() - 1))  # the highest functionality; the backends stay
    return key, tuple(skipped)


def has_kernel(operator: Operator, keys: int) -> bool:
    """Whether a call with these keys finds a kernel; where it finds none, nobody is told."""
    key, _ = next_hop(keys, lambda key: _passes_by(choose(operator, key)))
    return choose(operator, key).kernel is not None


def _passes_by(choice: Choice) -> bool:
    return choice.kernel is not None and choice.kernel.function is fallthrough_kernel


def choose(operator: Operator, key: DispatchKey) -> Choice:
    """The rules, in PyTorch's order; the first that applies wins."""

    def registered(name: DispatchKey) -> Kernel | None:
        kernels = operator.kernels.get(name)
        return kernels[-1] if kernels else None

    def by_alias(alias: DispatchKey, undefined_too: bool = False) -> Kernel | None:
        served = key in INCLUDED_IN[alias] or (undefined_too and key is DispatchKey.Undefined)
        return registered(alias) if served else None

    # 1. A kernel registered for this very key.
    if kernel := registered(key):
        return Choice(key, kernel, KERNEL)
    # 2.1, 2.2 A kernel for every backend, below autograd.
    for alias in (DispatchKey.CompositeExplicitAutogradNonFunctional, DispatchKey.CompositeExplicitAutograd):
        if kernel := by_alias(alias, undefined_too=True):
            return Choice(key, kernel, DEFAULT_BACKEND_KERNEL)
    # 2.3 A kernel composed of other operators, which have derivatives of their own. An autograd key takes it only where
    #     its backend has no kernel of its own: otherwise the autograd formula (or fallback) must run above that one.
    if kernel := by_alias(DispatchKey.CompositeImplicitAutogradNestedTensor):
        return Choice(key, kernel, NESTED_KERNEL)
    if kernel := by_alias(DispatchKey.CompositeImplicitAutograd, undefined_too=True):
        of_backend = any(registered(backend) for backend in backends_of(key))
        if key is DispatchKey.AutogradOther and of_backend:
            return Choice(key, None, AMBIGUOUS)
        if not (of_backend or registered(DispatchKey.CompositeExplicitAutograd)):
            return Choice(key, kernel, MATH_KERNEL)
    # 2.4 The autograd kernel for every backend. 2.5 The batching rule composed of other operators.
    if kernel := by_alias(DispatchKey.Autograd):
        return Choice(key, kernel, AUTOGRAD_KERNEL)
    if kernel := by_alias(DispatchKey.FuncTorchBatchedDecomposition):
        return Choice(key, kernel, BATCHED_KERNEL)
    # 3. The fallback of the key, for operators that register nothing.
    if kernel := registry.fallbacks.get(key):
        return Choice(key, kernel, BACKEND_FALLBACK)
    return Choice(key, None, MISSING)


def backends_of(autograd_key: DispatchKey) -> frozenset[DispatchKey]:
    """The backend keys whose gradients an autograd key records: AutogradCPU -> CPU; none for another key."""
    if autograd_key is DispatchKey.AutogradOther:
        return AUTOGRAD_OTHER_BACKENDS
    if autograd_key is DispatchKey.AutogradNestedTensor:
        return NESTED_KEYS
    if autograd_key in AUTOGRAD_KEYS and autograd_key.name not in WITHOUT_BACKEND:
        return frozenset((DispatchKey[autograd_key.name.removeprefix("Autograd")],))
    return frozenset()


def entry_for(operator: Operator, choice: Choice, keys: int) -> Boxed:
    """The function to put in the table for a key set: called as `entry(keys, *arguments)`."""
    kernel = choice.kernel
    assert kernel is not None
    function = kernel.fast or kernel.function
    takes_keys = True
    if kernel.by_user:
        function = _as_users_call(operator, kernel, choice.rule == BACKEND_FALLBACK, keys)
    elif kernel.boxed or choice.rule == BACKEND_FALLBACK:
        function = partial(function, operator)
    else:
        takes_keys = kernel.takes_keys
    stands_below = choice.key in BACKEND_KEYS | NESTED_KEYS and choice.rule not in (MATH_KERNEL, NESTED_KERNEL)
    # An autograd kernel removes its key from the set. Where the key is still there, nothing was recorded above. That of
    # a user's operator switches recording off itself where it wants that; and what stands in the place of one that is
    # missing records nothing (autograd/unregistered.py).
    records_itself = kernel.by_user and (keys & AUTOGRAD_AND_NESTED or not operator.family)
    if kernel.calls_operators and stands_below and not records_itself:
        return _below_autograd(function, _excluded_below(operator), takes_keys)
    return function if takes_keys else _without_keys(function, len(operator.schema.arguments))


def _excluded_below(operator: Operator) -> int:
    """The keys that the operators called by a backend kernel may not reach.

    What an operator without an ADInplaceOrView kernel writes is counted by those that it calls.
    """
    parts_count = not operator.kernels.get(DispatchKey.ADInplaceOrView) and any(
        argument.type.is_write for argument in operator.schema.arguments
    )
    return _AUTOGRAD_AND_NESTED if parts_count else _AUTOGRAD_AND_NESTED | FUNCTIONALITY_BIT["ADInplaceOrView"]


def _falls_through(operator: Operator, keys: int) -> int:
    """The functionalities of a key set that fall through: a user's kernel is not told of them, as in PyTorch."""
    passed = 0
    for key in runtime_keys(keys):
        if _passes_by(choose(operator, key)):
            passed |= key_set_of(key) & ~ALL_BACKENDS
    return passed


def _as_users_call(operator: Operator, kernel: Kernel, is_fallback: bool, keys: int) -> Boxed:
    """See Note [A user's kernel]."""
    function, takes_keys = kernel.function, kernel.takes_keys
    told = ~_falls_through(operator, keys) if takes_keys else -1
    if not is_fallback and not any(a.keyword_only or a.default is not None for a in operator.schema.arguments):
        count = len(operator.schema.arguments)
        if takes_keys:
            return lambda keys, *arguments: function(KeysOfCall(keys, told), *arguments)
        return _without_keys(function, count)  # nothing is left out, and nothing has a name

    def entry(keys: int, *arguments: Any) -> Any:
        args, named = users_arguments(operator, arguments)
        first = (KeysOfCall(keys, told),) if takes_keys else ()
        if is_fallback:
            first = (*first, operator)
        return function(*first, *args, **named)

    return entry


def users_arguments(operator: Operator, arguments: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The complete arguments of a call as a user's function gets them: see Note [A user's kernel]."""
    parameters, positional = operator.parameters
    given, named = positional, {}
    for (name, has_default, default), value in zip(parameters[positional:], arguments[positional:], strict=True):
        if not has_default or not _equals(default, value):
            named[name] = value
    while given and parameters[given - 1][1] and _equals(parameters[given - 1][2], arguments[given - 1]):
        given -= 1
    return arguments[:given], named


def _equals(default: Any, value: Any) -> bool:
    return value is default or (not isinstance(value, TensorImpl) and bool(value == default))


def _without_keys(function: Boxed, count: int) -> Boxed:
    def entry(keys: int, *arguments: Any) -> Any:
        return function(*arguments)

    def entry_of_one(keys: int, a: Any) -> Any:  # hot path: benchmarks/library.py
        return function(a)

    def entry_of_two(keys: int, a: Any, b: Any) -> Any:
        return function(a, b)

    if count == 1:
        return entry_of_one
    return entry_of_two if count == 2 else entry


def _below_autograd(function: Boxed, excluded: int, takes_keys: bool) -> Boxed:
    """Run a backend kernel that calls operators with autograd switched off for those calls.

    The gradient of the whole was recorded above; recording its parts too would count it twice.
    """
    kept = ~excluded

    def entry(keys: int, *arguments: Any) -> Any:
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & kept))
        try:
            return function(keys, *arguments)
        finally:
            active_keys.reset(token)

    def entry_without_keys(keys: int, *arguments: Any) -> Any:  # hot path: benchmarks/eager.py
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & kept))
        try:
            return function(*arguments)
        finally:
            active_keys.reset(token)

    return entry if takes_keys else entry_without_keys


_AUTOGRAD_AND_NESTED = AUTOGRAD_AND_NESTED & ~ALL_BACKENDS


def computed_table(operator: Operator, keys: int) -> list[Choice]:
    """For inspection: what each runtime key of a set resolves to on its own, highest priority first."""
    return [choose(operator, key) for key in reversed(list(runtime_keys(keys)))]


def missing_message(operator: Operator, choice: Choice) -> str:
    """The message of a MissingKernelError: what was asked for, what exists, and what to do."""
    have = sorted(k.name for k, kernels in operator.kernels.items() if kernels)
    key = choice.key
    if choice.rule == AMBIGUOUS:
        return (
            f"'{operator.name}' has a CompositeImplicitAutograd kernel and one for a backend whose gradients "
            f"AutogradOther records, and the two cannot both serve it. It has kernels for: {have}. Register one for "
            f"AutogradOther too, or take one of the two away"
        )
    if key is DispatchKey.Undefined:
        return (
            f"There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), and no "
            f"kernel of {operator.name} runs without one. It has kernels for: {have}"
        )
    served = ", ".join(key.name for key in RUNTIME_KEYS if choose(operator, key).kernel is not None)
    could_not = (
        f"Could not run '{operator.name}' with arguments from the '{key.name}' backend. This could be because the "
        f"operator doesn't exist for this backend, or was omitted during the selective/custom build process (if using "
        f"custom build). If you are a Facebook employee using PyTorch on mobile, please visit "
        f"https://fburl.com/ptmfixes for possible resolutions. '{operator.name}' is only available for these backends: "
        f"[{served}]."
    )
    if not any(other.kernels.get(key) for other in registry.operators.values()):
        return f"{could_not}\n\nNo operator has a kernel there. Make the tensor on 'cpu', or on 'meta' for sizes alone."
    name = operator.name.partition("::")[2]
    return f"{could_not}\n\nLibrary('{operator.namespace}', 'IMPL').impl('{name}', kernel, '{key.name}') adds one."


registry.resolve = resolve
