"""Are keys switched on and off for a block as PyTorch's guards do it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.keys import DUAL, RECORDED, DispatchKey, DispatchKeySet
from glasstorch.dispatch import guards
from glasstorch.dispatch.active_keys import active_keys

Require = Callable[[str], Any]

GUARDS: dict[str, Callable[[Any], Any]] = {
    "include": lambda c: c._IncludeDispatchKeyGuard(c.DispatchKey.Python),
    "include by name": lambda c: c._IncludeDispatchKeyGuard("Tracer"),
    "exclude": lambda c: c._ExcludeDispatchKeyGuard(c.DispatchKeySet(c.DispatchKey.AutogradOther)),
    "exclude, its older name": lambda c: c.ExcludeDispatchKeyGuard(c.DispatchKeySet(c.DispatchKey.Dense)),
    "force": lambda c: c._ForceDispatchKeyGuard(
        c.DispatchKeySet(c.DispatchKey.Python), c.DispatchKeySet(c.DispatchKey.AutogradOther)
    ),
    "set excluded": lambda c: c._SetExcludeDispatchKeyGuard(c.DispatchKey.Functionalize, True),
    "set no longer excluded": lambda c: c._SetExcludeDispatchKeyGuard(c.DispatchKey.AutocastCPU, False),
    "preserve": lambda c: c._PreserveDispatchKeyGuard(),
    "below autograd": lambda c: c._AutoDispatchBelowAutograd(),
    "below ADInplaceOrView": lambda c: c._AutoDispatchBelowADInplaceOrView(),
    "PythonDispatcher on": lambda c: c._EnablePythonDispatcher(),
    "PythonDispatcher off": lambda c: c._DisablePythonDispatcher(),
    "PreDispatch": lambda c: c._EnablePreDispatch(),
}


def masks(t: Any) -> tuple[str, str]:
    return str(t._C._dispatch_tls_local_include_set()), str(t._C._dispatch_tls_local_exclude_set())


@pytest.mark.parametrize("guard", GUARDS.values(), ids=GUARDS)
def test_a_guard_switches_what_pytorchs_does_and_puts_it_back(require: Require, guard: Callable[[Any], Any]) -> None:
    told = []
    for t in (require("torch"), glasstorch):
        before = masks(t)
        with guard(t._C) as entered:
            assert entered is None
            told.append(masks(t))
        assert masks(t) == before
    assert told[0] == told[1]


def test_a_backend_is_not_excluded_which_pytorch_shows_and_does_not_heed(require: Require) -> None:
    for t, shown in ((require("torch"), True), (glasstorch, False)):
        with t._C._ExcludeDispatchKeyGuard(t._C.DispatchKeySet(t._C.DispatchKey.AutogradCPU)):
            assert ("AutogradCPU" in masks(t)[1]) is shown
            assert not (t.ones(1, requires_grad=True) * 2).requires_grad
            assert (t.ones(1) * 2).item() == 2


def test_guards_nest_as_pytorchs_do(require: Require) -> None:
    told: list[list[tuple[str, str]]] = []
    for t in (require("torch"), glasstorch):
        seen = []
        c = t._C
        with c._IncludeDispatchKeyGuard("Tracer"):
            with c._ExcludeDispatchKeyGuard(c.DispatchKeySet(c.DispatchKey.Python)), c._EnablePythonDispatcher():
                seen.append(masks(t))
                with c._DisablePythonDispatcher():
                    seen.append(masks(t))
                seen.append(masks(t))
            seen.append(masks(t))
        told.append([*seen, masks(t)])
    assert told[0] == told[1]


def test_an_error_inside_puts_the_keys_back() -> None:
    before = active_keys.get()
    with pytest.raises(ZeroDivisionError), guards.AutoDispatchBelowAutograd():
        _ = 1 / 0
    assert active_keys.get() == before


def test_what_is_switched_without_a_guard_lasts_until_it_is_switched_back(require: Require) -> None:
    told: list[list[tuple[str, str]]] = []
    for t in (require("torch"), glasstorch):
        seen, c = [masks(t)], t._C
        with c._PreserveDispatchKeyGuard():
            c._dispatch_tls_set_dispatch_key_included("Tracer", True)
            c._dispatch_tls_set_dispatch_key_excluded("Python", True)
            seen.append(masks(t))
            c._dispatch_tls_set_dispatch_key_included("Tracer", False)
            c._dispatch_tls_set_dispatch_key_excluded("Python", False)
            seen.append(masks(t))
            c._set_meta_in_tls_dispatch_include(True)
            assert c._meta_in_tls_dispatch_include()
            seen.append(masks(t))
        told.append([*seen, masks(t)])
    assert told[0] == told[1]


def test_forcing_keys_leaves_the_marks_that_are_no_keys() -> None:
    marks = RECORDED | DUAL
    included, allowed = active_keys.get()
    token = active_keys.set((included | marks, allowed | marks))
    try:
        with guards.ForceDispatchKeyGuard(DispatchKeySet(0), DispatchKeySet(0)):
            assert active_keys.get()[0] == marks
            assert active_keys.get()[1] & marks == marks
    finally:
        active_keys.reset(token)


def test_a_guard_is_given_a_key_or_a_set_and_nothing_else() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a DispatchKey or its name"):
        guards.IncludeDispatchKeyGuard(DispatchKeySet(DispatchKey.CPU))  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"expected a DispatchKeySet\. Invoked with: <DispatchKey.CPU: 49>"):
        guards.ExcludeDispatchKeyGuard(DispatchKey.CPU)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="could not parse dispatch key: Nope"):
        guards.IncludeDispatchKeyGuard("Nope")
