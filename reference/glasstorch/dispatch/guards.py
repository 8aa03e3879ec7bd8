"""How does a program switch keys on and off for a `with` block?

Mirrors: c10/core/impl/LocalDispatchKeySet.h (the guards), their Python classes in torch/csrc/utils/python_dispatch.cpp
Differs: a guard acts in its `with` block only. In PyTorch five of them act from the moment they are made until the
    object is deleted, which has been deprecated; such a use changes nothing here. The excluded set holds no backends,
    which PyTorch shows and does not heed.
"""

from __future__ import annotations

from contextvars import Token
from types import TracebackType

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    ALL_BACKENDS,
    ALL_KEYS,
    AUTOGRAD_AND_NESTED,
    FUNCTIONALITY_BIT,
    DispatchKey,
    DispatchKeySet,
    key_set_of,
    parse_key,
)
from glasstorch.dispatch.active_keys import active_keys

PYTHON_DISPATCHER = FUNCTIONALITY_BIT["PythonDispatcher"]
PRE_DISPATCH = FUNCTIONALITY_BIT["PreDispatch"]


class Guard:
    """Puts other keys into place in a `with` block, and the former ones back after it."""

    _token: Token[tuple[int, int]]

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        """What is included and allowed inside, given what is outside; unless overridden, the same."""
        return included, allowed

    def __enter__(self) -> None:
        self._token = active_keys.set(self._changed(*active_keys.get()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        active_keys.reset(self._token)


class IncludeDispatchKeyGuard(Guard):
    """Adds a key to the set of every call inside."""

    def __init__(self, key: DispatchKey | str) -> None:
        self.keys = _key_set(key)

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included | self.keys, allowed


class ExcludeDispatchKeyGuard(Guard):
    """Removes the functionalities of a set from that of every call inside."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self.keys = _set(self, keys)

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included, _without(allowed, self.keys)


class ForceDispatchKeyGuard(Guard):
    """Puts exactly these keys into the two sets, whatever was there."""

    def __init__(self, include: DispatchKeySet, exclude: DispatchKeySet) -> None:
        self.include, self.exclude = _set(self, include), _set(self, exclude)

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        marks = ~ALL_KEYS  # are no keys
        return included & marks | self.include, _without(allowed & marks | ALL_KEYS, self.exclude)


class SetExcludeDispatchKeyGuard(Guard):
    """Removes one key from the set of every call inside, or lets it in again."""

    def __init__(self, key: DispatchKey | str, excluded: bool) -> None:
        self.keys, self.excluded = _key_set(key), excluded

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included, _without(allowed, self.keys) if self.excluded else allowed | self.keys


class PreserveDispatchKeyGuard(Guard):
    """Undoes, after the block, what was switched inside it."""


class AutoDispatchBelowAutograd(Guard):
    """Calls inside skip autograd's kernels: nothing is recorded, whatever the grad mode."""

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included, _without(allowed, AUTOGRAD_AND_NESTED)


class AutoDispatchBelowADInplaceOrView(Guard):
    """Calls inside skip autograd's kernels and those that count versions and record views."""

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included, _without(allowed, AUTOGRAD_AND_NESTED | ADINPLACEORVIEW)


class EnablePythonDispatcher(Guard):
    """Includes the key PythonDispatcher."""

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included | PYTHON_DISPATCHER, allowed


class DisablePythonDispatcher(Guard):
    """No longer includes the key PythonDispatcher."""

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included & ~PYTHON_DISPATCHER, allowed


class EnablePreDispatch(Guard):
    """Includes the key PreDispatch."""

    def _changed(self, included: int, allowed: int) -> tuple[int, int]:
        return included | PRE_DISPATCH, allowed


def set_included(key: DispatchKey | str, wanted: bool) -> None:
    """Include a key from here on, or no longer."""
    included, allowed = active_keys.get()
    keys = _key_set(key)
    active_keys.set((included | keys if wanted else included & ~(keys & ~ALL_BACKENDS), allowed))


def set_excluded(key: DispatchKey | str, wanted: bool) -> None:
    """Exclude a key from here on, or no longer."""
    included, allowed = active_keys.get()
    keys = _key_set(key)
    active_keys.set((included, _without(allowed, keys) if wanted else allowed | keys))


def included_now() -> DispatchKeySet:
    """The keys that are added to every call made now."""
    return DispatchKeySet(active_keys.get()[0] & ALL_KEYS)


def excluded_now() -> DispatchKeySet:
    """The keys that are removed from every call made now."""
    return DispatchKeySet(ALL_KEYS & ~active_keys.get()[1])


def _without(allowed: int, keys: int) -> int:
    """The mask with the functionalities of a set taken out; backends are left alone."""
    return allowed & ~(keys & ~ALL_BACKENDS)


def _key_set(key: DispatchKey | str) -> int:
    if not isinstance(key, DispatchKey | str):
        raise ArgumentTypeError(
            f"incompatible function arguments: expected a DispatchKey or its name. Invoked with: {key!r}"
        )
    return key_set_of(parse_key(key) if isinstance(key, str) else key)


def _set(guard: Guard, keys: DispatchKeySet) -> int:
    if not isinstance(keys, DispatchKeySet):
        raise ArgumentTypeError(
            f"{type(guard).__name__}(): incompatible constructor arguments: expected a DispatchKeySet. Invoked with: "
            f"{keys!r}"
        )
    return keys.bits
