"""Is what is registered found, for an operator and for a key?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import DispatchKey, DispatchKeySet, key_set_of
from glasstorch.dispatch import registrations
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry
from tests.dispatch.both import REGISTERED, registered_in_both

Require = Callable[[str], Any]


def test_a_kernel_is_found_under_the_key_or_alias_that_it_was_registered_for(
    library: Library, operator: Operator
) -> None:
    library.impl("op", lambda x: x, "CompositeExplicitAutograd")
    library.impl("op", fallthrough_kernel, "AutogradCPU")
    assert registrations.has_kernel_for("sample::op", "CompositeExplicitAutograd")
    assert not registrations.has_kernel_for("sample::op", DispatchKey.CPU)
    assert registrations.has_computed_kernel_for("sample::op", "CPU")
    assert registrations.is_fallthrough("sample::op", "AutogradCPU")
    assert registrations.has_kernel_for_any("sample::op", DispatchKeySet(key_set_of("CPU", "AutogradCPU")))
    assert not registrations.has_kernel_for_any("sample::op", DispatchKeySet(DispatchKey.CPU))
    assert registrations.registered_for("AutogradCPU").count("sample::op") == 1
    assert "sample::op" not in registrations.registered_for("CPU")
    assert registrations.registered_for() == list(registry.operators)


def test_what_does_not_exist_is_refused(library: Library, operator: Operator) -> None:
    with pytest.raises(RegistrationError, match="operator sample::nope does not exist; expected namespace::name"):
        registrations.has_kernel_for("sample::nope", "CPU")
    with pytest.raises(RegistrationError, match="could not parse dispatch key: Nope"):
        registrations.has_kernel_for("sample::op", "Nope")
    with pytest.raises(RegistrationError, match="Alias keys do not have runtime kernel registrations"):
        registrations.has_computed_kernel_for("sample::op", "Autograd")
    with pytest.raises(RegistrationError, match="no kernel for CPU on sample::op"):
        registrations.is_fallthrough("sample::op", "CPU")
    with pytest.raises(RegistrationError, match="could not parse dispatch key: Nope"):
        registrations.registered_for("Nope")


def test_an_operator_whose_kernel_lies_under_another_key_is_found(operator: Operator) -> None:
    registrations.check_invariants(operator)
    operator.kernels[DispatchKey.CPU] = [Kernel(len, DispatchKey.CUDA, "")]
    with pytest.raises(AssertionError, match=r"has a kernel of DispatchKey\.CUDA under DispatchKey\.CPU"):
        registrations.check_invariants(operator)
    operator.kernels = {DispatchKey.StartOfDenseBackends: [Kernel(len, DispatchKey.StartOfDenseBackends, "")]}
    with pytest.raises(AssertionError, match=r"under DispatchKey\.StartOfDenseBackends, which nothing dispatches to"):
        registrations.check_invariants(operator)


def test_pytorch_finds_the_same_kernels(require: Require) -> None:
    torch = require("torch")
    some = REGISTERED[::2]
    with registered_in_both(torch, some) as (name, _):
        for key in REGISTERED:
            theirs = torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
            assert registrations.has_kernel_for(name, key) == theirs == (key in some)
            keys = torch._C.DispatchKeySet(torch._C._dispatch_key_parse(key))
            ours = registrations.has_kernel_for_any(name, DispatchKeySet(DispatchKey[key]))
            assert ours == torch._C._dispatch_has_kernel_for_any_dispatch_key(name, keys), key


def test_pytorchs_aliases_include_the_same_keys(require: Require) -> None:
    torch = require("torch")
    members = torch._C.DispatchKey.__members__
    aliases = [name for name, key in members.items() if torch._C._dispatch_is_alias_key(key)]
    for alias in [*aliases, "CPU"]:
        for name, key in members.items():
            theirs = torch._C._dispatch_is_included_in_alias(key, members[alias])
            assert registrations.is_included_in(DispatchKey[name], alias) == theirs, (name, alias)
