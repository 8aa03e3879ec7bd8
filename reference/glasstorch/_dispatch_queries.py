"""What can a program ask the dispatcher, by PyTorch's names?

Mirrors: torch/csrc/utils/python_dispatch.cpp (initDispatchBindings), which fills torch._C
Differs: thin forms of dispatch/guards.py, dispatch/registrations.py and dispatch/dump.py; a key is accepted by itself
    or by its name everywhere. An operator is a handle to itself. Every kernel is boxed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device_from
from glasstorch.core.errors import DeviceError, RegistrationError
from glasstorch.core.keys import (
    ALIASES,
    ALL_BACKENDS,
    ALL_KEYS,
    BACKENDS,
    FUNCTIONALITIES,
    FUNCTIONALITY_BIT,
    PER_BACKEND,
    WRAPPED,
    DispatchKey,
    DispatchKeySet,
    below,
    key_set_of,
)
from glasstorch.core.private_use import name as private_use_name
from glasstorch.dispatch import dump, registrations, undeclared
from glasstorch.dispatch.guards import AutoDispatchBelowADInplaceOrView as _AutoDispatchBelowADInplaceOrView
from glasstorch.dispatch.guards import AutoDispatchBelowAutograd as _AutoDispatchBelowAutograd
from glasstorch.dispatch.guards import DisablePythonDispatcher as _DisablePythonDispatcher
from glasstorch.dispatch.guards import EnablePreDispatch as _EnablePreDispatch
from glasstorch.dispatch.guards import EnablePythonDispatcher as _EnablePythonDispatcher
from glasstorch.dispatch.guards import ExcludeDispatchKeyGuard as ExcludeDispatchKeyGuard
from glasstorch.dispatch.guards import ForceDispatchKeyGuard as _ForceDispatchKeyGuard
from glasstorch.dispatch.guards import IncludeDispatchKeyGuard as _IncludeDispatchKeyGuard
from glasstorch.dispatch.guards import PreserveDispatchKeyGuard as _PreserveDispatchKeyGuard
from glasstorch.dispatch.guards import SetExcludeDispatchKeyGuard as _SetExcludeDispatchKeyGuard
from glasstorch.dispatch.guards import excluded_now, included_now, set_excluded, set_included
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.registrations import key_of
from glasstorch.dispatch.resolve import ASKED_WHEN_MISSING, AUTOGRAD_OTHER_BACKENDS, backends_of, choose

__all__ = [
    "ExcludeDispatchKeyGuard",
    "_AutoDispatchBelowADInplaceOrView",
    "_AutoDispatchBelowAutograd",
    "_DisablePythonDispatcher",
    "_EnablePreDispatch",
    "_EnablePythonDispatcher",
    "_ExcludeDispatchKeyGuard",
    "_ForceDispatchKeyGuard",
    "_IncludeDispatchKeyGuard",
    "_PreserveDispatchKeyGuard",
    "_SetExcludeDispatchKeyGuard",
    "_after_ADInplaceOrView_keyset",
    "_after_autograd_keyset",
    "_dispatch_autogradother_backends",
    "_dispatch_call_boxed",
    "_dispatch_check_all_invariants",
    "_dispatch_check_invariants",
    "_dispatch_dump",
    "_dispatch_dump_table",
    "_dispatch_find_dangling_impls",
    "_dispatch_find_schema_or_throw",
    "_dispatch_get_all_op_names",
    "_dispatch_get_backend_keyset_from_autograd",
    "_dispatch_get_computed_kernel_for_dispatch_key",
    "_dispatch_get_registrations_for_dispatch_key",
    "_dispatch_has_backend_fallback",
    "_dispatch_has_computed_kernel_for_dispatch_key",
    "_dispatch_has_kernel",
    "_dispatch_has_kernel_for_any_dispatch_key",
    "_dispatch_has_kernel_for_dispatch_key",
    "_dispatch_isTensorSubclassLike",
    "_dispatch_is_alias_key",
    "_dispatch_is_included_in_alias",
    "_dispatch_kernel_for_dispatch_key_is_fallthrough",
    "_dispatch_key_for_device",
    "_dispatch_key_name",
    "_dispatch_key_parse",
    "_dispatch_key_set",
    "_dispatch_keys",
    "_dispatch_keyset_full",
    "_dispatch_keyset_full_after",
    "_dispatch_keyset_to_string",
    "_dispatch_num_backends",
    "_dispatch_print_registrations_for_dispatch_key",
    "_dispatch_set_report_error_callback",
    "_dispatch_tls_is_dispatch_key_excluded",
    "_dispatch_tls_is_dispatch_key_included",
    "_dispatch_tls_local_exclude_set",
    "_dispatch_tls_local_include_set",
    "_dispatch_tls_set_dispatch_key_excluded",
    "_dispatch_tls_set_dispatch_key_included",
    "_dump_local_tls_set",
    "_meta_in_tls_dispatch_include",
    "_parse_dispatch_key",
    "_set_meta_in_tls_dispatch_include",
]

# Of which a kernel for autograd, or for ADInplaceOrView, lets through what remains of its keys.
_after_autograd_keyset: Final = DispatchKeySet(below("AutogradOther"))
_after_ADInplaceOrView_keyset: Final = DispatchKeySet(below("ADInplaceOrView"))

DENSE: Final = FUNCTIONALITY_BIT["Dense"]
# Device types whose key is not their name in capitals.
KEY_OF_DEVICE: Final = {"privateuseone": "PrivateUse1", "lazy": "Lazy", "meta": "Meta", "vulkan": "Vulkan"}
# A tensor with one of these keys may do anything in an operator, so that nobody may look past its dispatch.
SUBCLASS_LIKE: Final = ("Batched", "Functionalize", "FuncTorchBatched", "FuncTorchGradWrapper", "Python")

_ExcludeDispatchKeyGuard = ExcludeDispatchKeyGuard
_dispatch_autogradother_backends = DispatchKeySet(key_set_of(*AUTOGRAD_OTHER_BACKENDS))

# Keys ---------------------------------------------------------------------------------------------------------------


def _parse_dispatch_key(name: str) -> DispatchKey | None:
    """The key of that name; None where there is none."""
    with suppress(RegistrationError):
        return key_of(name)
    return None


def _dispatch_key_parse(key: DispatchKey | str) -> DispatchKey:
    """The key of that name."""
    return key_of(key)


def _dispatch_key_name(key: DispatchKey | str) -> str:
    """The name of a key; a mark of a start stands for what has no backend."""
    name = key_of(key).name
    functionality = name.removeprefix("StartOf").removesuffix("Backends")
    return name if functionality == name else PER_BACKEND[functionality] + "Undefined"


def _dispatch_key_for_device(type: str) -> str:
    """The key under which a device of this type has its kernels."""
    name = device_from(type).type
    if name == private_use_name():
        return "PrivateUse1"
    key = KEY_OF_DEVICE.get(name, name.upper())
    if key not in DispatchKey.__members__:
        raise DeviceError(f"the device type {name} has no dispatch key; it is one that PyTorch no longer dispatches to")
    return key


def _dispatch_num_backends() -> int:
    """How many bits of a key set are backends."""
    return len(BACKENDS)


def _dispatch_is_alias_key(key: DispatchKey | str) -> bool:
    """Whether a key stands for many runtime keys."""
    return key_of(key).name in ALIASES


def _dispatch_is_included_in_alias(key: DispatchKey | str, alias: DispatchKey | str) -> bool:
    """Whether a kernel registered for the alias may serve the key."""
    return registrations.is_included_in(key, alias)


# Sets ---------------------------------------------------------------------------------------------------------------


def _dispatch_keys(tensor: Tensor) -> DispatchKeySet:
    """The key set that a tensor contributes to a call; of one that a transform has wrapped, also that of its memory."""
    return DispatchKeySet(tensor.key_set & ALL_KEYS | (DENSE if tensor.key_set & WRAPPED else 0))


def _dispatch_key_set(tensor: Tensor) -> str:
    """The key set of a tensor, as text."""
    return str(_dispatch_keys(tensor))


def _dispatch_keyset_to_string(keys: DispatchKeySet) -> str:
    """A key set as text."""
    return str(keys)


def _dispatch_keyset_full() -> DispatchKeySet:
    """The set of all keys."""
    return DispatchKeySet(ALL_KEYS)


def _dispatch_keyset_full_after(key: DispatchKey | str) -> DispatchKeySet:
    """All keys of lower priority than a key, and PythonDispatcher."""
    keys = DispatchKeySet(key_of(key)).raw_repr() >> len(BACKENDS)
    if not keys:  # an alias has no priority; what PyTorch answers of it lacks the last backend
        return DispatchKeySet(ALL_BACKENDS >> 1 | FUNCTIONALITY_BIT["PythonDispatcher"])
    return DispatchKeySet(below(FUNCTIONALITIES[keys.bit_length() - 1]) & ALL_KEYS)


def _dispatch_get_backend_keyset_from_autograd(key: DispatchKey | str) -> DispatchKeySet:
    """The backends whose gradients an autograd key records."""
    return DispatchKeySet(key_set_of(*backends_of(key_of(key))))


def _dispatch_isTensorSubclassLike(tensor: Tensor) -> bool:
    """Whether an operator may do something else with the tensor than compute on memory of the CPU or of CUDA."""
    keys = _dispatch_keys(tensor)
    plain = tensor.layout.name == "strided" and tensor.device.type != "meta"
    return not plain or any(keys.has(key) for key in SUBCLASS_LIKE)


# What is switched on and off ----------------------------------------------------------------------------------------


def _dispatch_tls_local_include_set() -> DispatchKeySet:
    """The keys that are added to every call made now."""
    return included_now()


def _dispatch_tls_local_exclude_set() -> DispatchKeySet:
    """The keys that are removed from every call made now."""
    return excluded_now()


def _dispatch_tls_is_dispatch_key_included(key: DispatchKey | str) -> bool:
    """Whether a key is added to every call made now."""
    return included_now().has(key)


def _dispatch_tls_is_dispatch_key_excluded(key: DispatchKey | str) -> bool:
    """Whether a key is removed from every call made now."""
    return excluded_now().has(key)


def _dispatch_tls_set_dispatch_key_included(key: DispatchKey | str, wanted: bool) -> None:
    """Add a key to every call from here on, or no longer."""
    set_included(key, wanted)


def _dispatch_tls_set_dispatch_key_excluded(key: DispatchKey | str, wanted: bool) -> None:
    """Remove a key from every call from here on, or no longer."""
    set_excluded(key, wanted)


def _dump_local_tls_set() -> None:
    """Print which keys are added to every call, and which are removed."""
    print("Included:", included_now())
    print("Excluded:", excluded_now())


def _meta_in_tls_dispatch_include() -> bool:
    """Whether every call goes to the backend Meta."""
    return included_now().has("Meta")


def _set_meta_in_tls_dispatch_include(wanted: bool) -> None:
    """Send every call to the backend Meta, or no longer."""
    set_included("Meta", wanted)


# Kernels ------------------------------------------------------------------------------------------------------------


def _dispatch_has_kernel(name: str) -> bool:
    """Whether there is an operator of that full name, or a kernel for one."""
    return undeclared.find(name) is not None


def _dispatch_has_kernel_for_dispatch_key(name: str, key: DispatchKey | str) -> bool:
    """Whether a kernel is registered for this very key or alias."""
    return registrations.has_kernel_for(name, key)


def _dispatch_has_kernel_for_any_dispatch_key(name: str, keys: DispatchKeySet) -> bool:
    """Whether a kernel is registered for one of the runtime keys of a set."""
    return registrations.has_kernel_for_any(name, keys)


def _dispatch_has_computed_kernel_for_dispatch_key(name: str, key: DispatchKey | str) -> bool:
    """Whether a call that reaches a runtime key finds a kernel, by whatever rule."""
    return registrations.has_computed_kernel_for(name, key)


def _dispatch_kernel_for_dispatch_key_is_fallthrough(name: str, key: DispatchKey | str) -> bool:
    """Whether what is registered for this very key is a fallthrough."""
    return registrations.is_fallthrough(name, key)


def _dispatch_get_computed_kernel_for_dispatch_key(name: str, key: DispatchKey | str) -> Kernel:
    """The kernel that a call which reaches a runtime key finds."""
    if not registrations.has_computed_kernel_for(name, key):
        raise RegistrationError(f"no kernel for {key_of(key).name} on {name}")
    kernel = choose(registrations.operator_of(name), key_of(key)).kernel
    assert kernel is not None
    return kernel


def _dispatch_has_backend_fallback(key: DispatchKey | str) -> bool:
    """Whether something is registered for a key that serves all operators."""
    return key_of(key) in registry.fallbacks


def _dispatch_get_registrations_for_dispatch_key(dispatch_key: str = "") -> list[str]:
    """The operators that have a kernel for a key or alias; without a key, all operators."""
    return registrations.registered_for(dispatch_key)


def _dispatch_print_registrations_for_dispatch_key(dispatch_key: str = "") -> None:
    """Print the operators that have a kernel for a key or alias, one a line."""
    for name in registrations.registered_for(dispatch_key):
        print(name)


def _dispatch_get_all_op_names() -> list[str]:
    """The full names of all operators, also of those that only have kernels."""
    return registrations.all_names()


def _dispatch_find_schema_or_throw(name: str, overload: str) -> Operator:
    """The operator of that name and overload."""
    full = f"{name}.{overload}" if overload else name
    found = registry.operators.get(full)
    if found is None and undeclared.find(full) is not None:
        raise RegistrationError(
            f"Could not find schema for {name}.{overload} but we found an implementation; did you forget to def() the "
            f"operator? Library('{full.partition('::')[0]}', 'FRAGMENT').define(schema) does that"
        )
    if found is None:
        raise RegistrationError(
            f"Could not find schema for {name}.{overload}; there are the overloads "
            f"{[one.overload_name for one in registry.overloads(*name.split('::', 1))] if '::' in name else []}"
        )
    return found


def _dispatch_call_boxed(operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """Call an operator that was found by its name."""
    return operator(*args, **kwargs)


def _dispatch_dump(name: str) -> str:
    """What was registered for an operator; nothing where there is no operator."""
    operator = undeclared.find(name)
    return "" if operator is None else dump.dump_registrations(operator)


def _dispatch_dump_table(name: str) -> str:
    """What each key of an operator leads to: where its kernel was registered, and by which rule it stands there."""
    operator = undeclared.find(name)
    return "" if operator is None else dump.dump_table(operator)


def _dispatch_check_invariants(name: str) -> None:
    """Assert what must always hold of an operator."""
    if name in registry.operators:
        registrations.check_invariants(registry.operators[name])


def _dispatch_check_all_invariants() -> None:
    """Assert what must always hold of all operators."""
    for operator in list(registry.operators.values()):
        registrations.check_invariants(operator)


def _dispatch_find_dangling_impls() -> list[str]:
    """What is registered for each operator that has kernels and no schema."""
    return [dump.dump_registrations(operator) for operator in undeclared.everything().values()]


def _dispatch_set_report_error_callback(operator: Operator, callback: Callable[[str], object]) -> None:
    """Let a function see the error of a call that finds no kernel, before it is raised."""
    ASKED_WHEN_MISSING[operator.name] = callback
