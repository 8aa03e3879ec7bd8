"""Are the dispatch keys PyTorch's: the same bits, priorities and printing?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasstorch.core import keys
from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import (
    ALIASES,
    ALL_KEYS,
    BACKENDS,
    CPU_KEYS,
    FUNCTIONALITIES,
    META_KEYS,
    RUNTIME_KEYS,
    DispatchKey,
    DispatchKeySet,
    below,
    highest_key,
    key_set_of,
    parse_key,
    runtime_keys,
)
from tests.strategies import steady

Require = Callable[[str], Any]


def test_a_cpu_tensor_has_the_keys_that_pytorch_gives_it() -> None:
    assert repr(DispatchKeySet(CPU_KEYS)) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    assert repr(DispatchKeySet(META_KEYS)) == "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)"


def test_two_tensors_on_two_backends_dispatch_to_the_higher_backend() -> None:
    assert highest_key(key_set_of("CPU", "CUDA")) is DispatchKey.CUDA
    assert highest_key(CPU_KEYS) is DispatchKey.AutocastCPU


def test_the_priority_of_runtime_keys_is_their_order() -> None:
    higher = RUNTIME_KEYS.index
    assert all(highest_key(key_set_of(a, b)) is max(a, b, key=higher) for a in RUNTIME_KEYS for b in _related(a))


def _related(key: DispatchKey) -> list[DispatchKey]:
    """Keys that do not change the backend of another, so that priority is a matter of functionality alone."""
    return [k for k in RUNTIME_KEYS if not any(k.name.endswith(b) for b in BACKENDS)] + [key]


def test_a_functionality_without_a_backend_is_no_kernel() -> None:
    assert highest_key(key_set_of("CPU") & ~keys.ALL_BACKENDS) is DispatchKey.Undefined
    assert highest_key(key_set_of("CPU") & keys.ALL_BACKENDS) is DispatchKey.Undefined
    assert highest_key(0) is DispatchKey.Undefined


def test_the_highest_functionality_decides_also_without_its_backend() -> None:
    without_backend = key_set_of("ADInplaceOrView", "AutogradCPU") & ~keys.ALL_BACKENDS
    assert highest_key(without_backend) is DispatchKey.Undefined


def test_removing_a_key_leaves_its_backend() -> None:
    cpu = DispatchKeySet(CPU_KEYS)
    assert repr(cpu - DispatchKeySet(DispatchKey.AutogradCPU)) == "DispatchKeySet(CPU, ADInplaceOrView, AutocastCPU)"
    assert not (cpu - DispatchKeySet(DispatchKey.CPU)).has("CPU")
    assert (cpu - DispatchKeySet(DispatchKey.CPU)).has("AutogradCPU")


def test_a_key_set_is_a_value() -> None:
    a, b = DispatchKeySet(DispatchKey.CPU), DispatchKeySet(DispatchKey.AutogradCPU)
    assert (a | b) & b == b
    assert hash(a | b) == hash(DispatchKeySet(key_set_of("CPU", "AutogradCPU")))
    assert list(a | b) == [DispatchKey.CPU, DispatchKey.AutogradCPU]
    assert a != CPU_KEYS
    assert str(DispatchKey.AutogradCPU) == "DispatchKey.AutogradCPU"


def test_the_enum_gives_the_runtime_keys_and_then_the_aliases() -> None:
    assert [key.name for key in DispatchKey] == [*(key.name for key in RUNTIME_KEYS), *ALIASES]
    assert len(DispatchKey) == len(list(DispatchKey))


def test_a_mark_is_a_number_and_no_name_of_a_key() -> None:
    assert DispatchKey.EndOfDenseBackends is DispatchKey.Meta
    assert DispatchKey.StartOfDenseBackends not in list(DispatchKey)
    for mark in ("StartOfDenseBackends", "EndOfDenseBackends", "Nope"):
        with pytest.raises(RegistrationError, match=f"could not parse dispatch key: {mark}; expected"):
            parse_key(mark)


def test_what_is_no_key_makes_no_set() -> None:
    with pytest.raises(TypeError, match=r"expected a DispatchKey, or the bits of a set. Invoked with: 'CPU'"):
        DispatchKeySet("CPU")  # type: ignore[arg-type]
    for bits in (-1, 1 << 64, "CPU"):
        with pytest.raises(TypeError, match="expected an integer of 64 bits without a sign"):
            DispatchKeySet.from_raw_repr(bits)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        DispatchKeySet(DispatchKey.CPU) | 3


def test_an_alias_is_no_bit() -> None:
    with pytest.raises(AssertionError, match="CompositeImplicitAutograd is an alias"):
        key_set_of("CompositeImplicitAutograd")


# Against PyTorch ------------------------------------------------------------------------------------------------


def torch_key(torch: Any, name: str) -> Any:
    """PyTorch's key of that name; some are members of its enum, others can only be parsed."""
    return getattr(torch._C.DispatchKey, name, None) or torch._C._dispatch_key_parse(name)


def test_every_key_is_the_same_bits_as_in_pytorch(require: Require) -> None:
    torch = require("torch")
    theirs = {k.name: torch._C.DispatchKeySet(torch_key(torch, k.name)).raw_repr() for k in RUNTIME_KEYS}
    assert {k.name: key_set_of(k) for k in RUNTIME_KEYS} == theirs
    assert torch._C._dispatch_keyset_full().raw_repr() == ALL_KEYS


def test_every_name_of_pytorchs_enum_has_the_same_number_bits_and_printing_here(require: Require) -> None:
    torch = require("torch")
    for name, theirs in torch._C.DispatchKey.__members__.items():
        ours = DispatchKey[name]
        assert (int(ours), str(ours)) == (int(theirs), str(theirs))
        assert repr(ours) == repr(theirs)
        assert pickle.loads(pickle.dumps(ours)) is ours
        told = [
            (str(s), s.raw_repr(), repr(s.highestPriorityTypeId()))
            for s in (torch._C.DispatchKeySet(theirs), DispatchKeySet(ours))
        ]
        assert told[0] == told[1], name


def test_the_names_that_pytorchs_enum_lacks_have_its_numbers_too(require: Require) -> None:
    torch = require("torch")
    lacking = [key for key in RUNTIME_KEYS if key.name not in torch._C.DispatchKey.__members__]
    assert len(lacking) == 16
    assert all(torch._C._dispatch_key_name(torch._C.DispatchKey(int(key))) == key.name for key in lacking)


def test_pytorch_parses_the_names_that_it_has_in_a_list_of_its_own(require: Require) -> None:
    torch = require("torch")
    unknown = [key for key in DispatchKey if torch._C._parse_dispatch_key(key.name) is None]
    assert len(unknown) == 42
    assert all(parse_key(key.name) is key for key in unknown)


@steady
@given(st.integers(0, ALL_KEYS), st.sampled_from(sorted(DispatchKey.__members__)))
def test_the_algebra_of_sets_is_pytorchs(require: Require, bits: int, name: str) -> None:
    torch = require("torch")
    if name not in torch._C.DispatchKey.__members__:
        return
    told = []
    for c in (torch._C, keys):
        s, key = c.DispatchKeySet.from_raw_repr(bits), getattr(c.DispatchKey, name)
        other = c.DispatchKeySet(key)
        told.append([
            s.add(key).raw_repr(), s.remove(key).raw_repr(), s.has(key), (s | other).raw_repr(), (s & other).raw_repr(),
            (s - other).raw_repr(), s == other, s != other, int(s.highestPriorityTypeId()),
        ])  # fmt: skip
    assert told[0] == told[1]


def test_the_mask_below_every_key_is_pytorchs(require: Require) -> None:
    torch = require("torch")
    for name in FUNCTIONALITIES:
        theirs = torch._C._dispatch_keyset_full_after(torch_key(torch, name)).raw_repr()
        assert below(name) & keys.ALL_KEYS == theirs, name


@steady
@given(st.integers(0, ALL_KEYS))
def test_every_key_set_prints_and_dispatches_as_in_pytorch(require: Require, bits: int) -> None:
    torch = require("torch")
    bits |= 0 if bits & keys.ALL_BACKENDS else 1  # without a backend PyTorch answers a marker of its enum
    theirs = torch._C.DispatchKeySet.from_raw_repr(bits)
    assert repr(DispatchKeySet(bits)) == repr(theirs)
    assert highest_key(bits).name == torch._C._dispatch_key_name(theirs.highestPriorityTypeId())


def test_where_the_highest_functionality_lacks_its_backend_pytorch_answers_a_mark(require: Require) -> None:
    torch = require("torch")
    without_backend = key_set_of("ADInplaceOrView", "AutogradCPU") & ~keys.ALL_BACKENDS
    theirs = torch._C.DispatchKeySet.from_raw_repr(without_backend).highestPriorityTypeId()
    assert theirs.name == "StartOfAutogradFunctionalityBackends"
    assert highest_key(without_backend) is DispatchKey.Undefined


@steady
@given(st.sets(st.sampled_from(RUNTIME_KEYS)))
def test_a_set_contains_the_keys_it_was_made_of(members: set[DispatchKey]) -> None:
    found = set(runtime_keys(key_set_of(*members)))
    assert members - {DispatchKey.Undefined} <= found
    assert all(DispatchKeySet(key_set_of(*members)).has(key) for key in members)
