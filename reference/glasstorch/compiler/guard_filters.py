"""Which guards does a program ask not to check, at its own risk?

Mirrors: torch/_dynamo/types.py (GuardFilterEntry), torch/compiler/__init__.py (skip_guard_on_globals_unsafe and others)
Differs: an entry's `orig_guard` is a guard of this library: a kind, a source and an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch.compiler.guards import Guard, Guards
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter

OF_THE_LIBRARY = "glasstorch.nn."


class GuardFilterEntry(NamedTuple):
    """What a filter is told of a guard."""

    name: str
    has_value: bool
    value: Any
    guard_type: str
    derived_guard_types: tuple[str, ...]
    is_global: bool
    orig_guard: Guard


Filter = Callable[[Sequence[GuardFilterEntry]], Sequence[bool]]


def entries_of(guards: Guards, arguments: dict[str, Any], names: dict[str, Any]) -> list[GuardFilterEntry]:
    """The guards with the values that they are about."""
    found = []
    for guard in guards.all:
        value, has_value = None, bool(guard.source)
        try:
            value = eval(guard.source, guards.names, {"L": arguments, "G": names}) if guard.source else None
        except (AttributeError, KeyError, IndexError, TypeError, NameError):
            has_value = False
        is_global = guard.source.startswith("G[")
        found.append(GuardFilterEntry(guard.source, has_value, value, guard.kind, (guard.kind,), is_global, guard))
    return found


def keep(guards: Guards, chosen: Filter, arguments: dict[str, Any], names: dict[str, Any]) -> None:
    """Drop the guards for which a filter says no."""
    entries = entries_of(guards, arguments, names)
    said = list(chosen(entries))
    if len(said) != len(entries):
        raise AssertionError(f"guard_filter_fn must say one bool for each of {len(entries)} guards, said {len(said)}")
    for entry, stays in zip(entries, said, strict=True):
        if not stays:
            del guards.all[entry.orig_guard]


def _is_of_a_module(entry: GuardFilterEntry, *, of_the_library: bool = False) -> bool:
    """Whether a guard is about a module, or about something below one."""
    if not isinstance(entry.value, Module):
        return "._modules" in entry.name or ".training" in entry.orig_guard.expression
    return not of_the_library or type(entry.value).__module__.startswith(OF_THE_LIBRARY)


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries: Sequence[GuardFilterEntry]) -> list[bool]:
    """Leave out the guards of the library's own modules."""
    return [not _is_of_a_module(entry, of_the_library=True) for entry in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries: Sequence[GuardFilterEntry]) -> list[bool]:
    """Leave out the guards of all modules."""
    return [not _is_of_a_module(entry) for entry in guard_entries]


def keep_tensor_guards_unsafe(guard_entries: Sequence[GuardFilterEntry], keep_parameters: bool = False) -> list[bool]:
    """Keep the guards of tensors alone, without those of parameters unless they are asked for."""
    return [
        entry.guard_type == "TENSOR_MATCH" and (keep_parameters or not isinstance(entry.value, Parameter))
        for entry in guard_entries
    ]


def keep_portable_guards_unsafe(guard_entries: Sequence[GuardFilterEntry]) -> list[bool]:
    """Leave out the guards that hold in this process only: those of an object's identity."""
    return [" is k" not in entry.orig_guard.expression for entry in guard_entries]


def skip_guard_on_globals_unsafe(guard_entries: Sequence[GuardFilterEntry]) -> list[bool]:
    """Leave out the guards of global variables."""
    return [not entry.is_global for entry in guard_entries]


def skip_all_guards_unsafe(guard_entries: Sequence[GuardFilterEntry]) -> list[bool]:
    """Leave out all guards."""
    return [False for _ in guard_entries]
