"""Are the fewest registrations found that lead to a table, and none where none do?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasstorch.core.keys import ALIASES, DispatchKey
from glasstorch.dispatch.dump import RUNTIME_KEYS, dump_table
from glasstorch.dispatch.explain import explained, fewest_registrations
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, MISSING, choose
from tests.dispatch.both import REGISTERED, registered_in_both
from tests.strategies import steady

Require = Callable[[str], Any]


def rules_of(registered: Iterable[DispatchKey], keys: Iterable[DispatchKey]) -> dict[DispatchKey, str]:
    """The rules at some keys of an operator with these registrations; a fallback counts as missing."""
    operator = Operator("sample::op", "sample::op(Tensor x) -> Tensor", "")
    operator.kernels = {key: [Kernel(lambda: None, key, "")] for key in registered}
    rules = {key: choose(operator, key).rule for key in keys}
    return {key: MISSING if rule == BACKEND_FALLBACK else rule for key, rule in rules.items()}


def named(**rules: str) -> dict[DispatchKey, str]:
    """A table by the names of its keys."""
    return {DispatchKey[name]: rule.replace("_", " ") for name, rule in rules.items()}


def names(found: frozenset[DispatchKey] | None) -> set[str] | None:
    return None if found is None else {key.name for key in found}


# Some keys of a table -------------------------------------------------------------------------------------------------

some_keys = st.sets(st.sampled_from(RUNTIME_KEYS), max_size=12)
registrations = st.sets(st.sampled_from(REGISTERED).map(DispatchKey.__getitem__), max_size=6)


@settings(steady, max_examples=150)
@given(registrations, some_keys, st.sampled_from([MISSING, BACKEND_FALLBACK]))
def test_what_is_found_leads_to_the_table_and_is_no_more_than_was_registered(
    registered: set[DispatchKey], keys: set[DispatchKey], unserved: str
) -> None:
    table = rules_of(registered, keys)
    found = fewest_registrations({key: unserved if rule == MISSING else rule for key, rule in table.items()})
    assert found is not None
    assert rules_of(found, keys) == table
    assert len(found) <= len(registered)


FEW_KEYS = ("CPU", "AutogradCPU", "XLA", "AutogradXLA", "SparseCPU", "AutogradOther", "NestedTensorCPU", "Undefined")
FEW = [DispatchKey[name] for name in (*FEW_KEYS, *ALIASES[:2], *ALIASES[-2:])]


@settings(steady, max_examples=40)
@given(st.sets(st.sampled_from(FEW), max_size=5), st.sets(st.sampled_from(FEW[: len(FEW_KEYS)]), max_size=4))
def test_no_smaller_set_leads_to_the_table(registered: set[DispatchKey], keys: set[DispatchKey]) -> None:
    table = rules_of(registered, keys)
    found = fewest_registrations(table)
    assert found is not None
    smaller = (set(few) for count in range(len(found)) for few in combinations(FEW, count))
    assert [few for few in smaller if rules_of(few, keys) == table] == []


def test_a_kernel_out_of_sight_explains_why_a_composite_stepped_aside() -> None:
    table = named(AutogradCPU="backend_fallback", AutogradMeta="math_kernel")
    assert names(fewest_registrations(table)) == {"CPU", "CompositeImplicitAutograd"}
    table |= named(CPU="math_kernel")
    assert fewest_registrations(table) is None


def test_one_explicit_kernel_is_fewer_than_a_kernel_for_each_backend() -> None:
    table = named(AutogradOther="ambiguous_autogradother", AutogradCPU="missing")
    found = fewest_registrations(table | named(AutogradMeta="missing"))
    assert names(found) == {"CompositeExplicitAutograd", "CompositeImplicitAutograd", "FPGA"}
    table |= named(AutogradMeta="math_kernel")
    assert names(fewest_registrations(table)) == {"CompositeImplicitAutograd", "CPU", "FPGA"}


def test_an_ambiguous_key_needs_a_backend_that_is_not_known_to_lead_elsewhere() -> None:
    table = named(AutogradOther="ambiguous_autogradother", SparseCPU="math_kernel", FPGA="missing")
    assert fewest_registrations(table) is None
    table = named(FPGA="math_kernel", SparseCPU="math_kernel", AutogradOther="ambiguous_autogradother")
    found = fewest_registrations(table)
    assert found is not None
    assert rules_of(found, table) == table
    assert len(found) == 2


def test_where_a_key_is_left_out_the_alias_is_the_one_that_does_not_serve_it() -> None:
    assert names(fewest_registrations(named(CPU="default_backend_kernel", XLA="missing"))) == {
        "CompositeExplicitAutogradNonFunctional"
    }
    assert names(fewest_registrations(named(CPU="default_backend_kernel", XLA="default_backend_kernel"))) == {
        "CompositeExplicitAutograd"
    }


@pytest.mark.parametrize(
    "table",
    [
        named(CPU="math_kernel", Meta="missing"),
        named(AutogradCPU="kernel", AutogradMeta="autograd_kernel", AutogradXLA="missing"),
        named(CPU="autograd_kernel"),
    ],
)
def test_a_table_that_nothing_leads_to_has_no_explanation(table: dict[DispatchKey, str]) -> None:
    assert fewest_registrations(table) is None


def test_no_keys_need_no_registration() -> None:
    assert fewest_registrations({}) == frozenset()


# Whole tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matmul", "add.Tensor", "transpose.int", "zeros", "detach", "conj", "reshape"])
def test_the_printed_table_of_an_operator_tells_what_is_registered(name: str) -> None:
    operator = registry.find(f"aten::{name}")
    assert explained(dump_table(operator)) == {key for key, kernels in operator.kernels.items() if kernels}


NO_EFFECT = {  # what a table of PyTorch would be the same without
    "aten::_fused_rms_norm": {"Autograd"},
    "aten::max_pool2d": {"Autograd"},
    "aten::any.dims": {"CompositeExplicitAutogradNonFunctional"},
    "aten::all.dims": {"CompositeExplicitAutogradNonFunctional"},
    "aten::chunk": {"Autograd"},
}


def test_no_registration_of_the_library_is_without_effect_but_some_of_pytorchs() -> None:
    operators = [operator for name, operator in sorted(registry.operators.items()) if name.startswith("aten::")][::7]
    assert len(operators) > 200
    idle = {}
    for operator in operators:
        found = explained(dump_table(operator))
        assert found is not None
        if unused := {key.name for key, kernels in operator.kernels.items() if kernels} - {key.name for key in found}:
            idle[operator.name] = unused
    assert idle.items() <= NO_EFFECT.items()


def test_of_what_pytorch_has_registered_five_operators_have_more_than_their_tables_need(require: Require) -> None:
    torch = require("torch")
    every = sorted(name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    row = re.compile(r"^(\w+?)(?:\[alias\])?: (?:fallthrough )?registered", re.MULTILINE)
    for name in [*NO_EFFECT, *every[::13]]:
        found = explained(torch._C._dispatch_dump_table(name))
        registered = set(row.findall(torch._C._dispatch_dump(name))) - {"debug"}
        assert names(found) == registered - NO_EFFECT.get(name, set()), name


@settings(steady, max_examples=20)
@given(st.sets(st.sampled_from(REGISTERED), max_size=5))
def test_what_explains_a_table_of_pytorch_makes_the_same_table_there(require: Require, keys: set[str]) -> None:
    torch = require("torch")
    with registered_in_both(torch, keys) as (theirs, _):
        table = torch._C._dispatch_dump_table(theirs)
    found = explained(table)
    assert found is not None
    with registered_in_both(torch, [key.name for key in found]) as (again, _):
        assert re.findall(r"^\w+:|\[.*\]", torch._C._dispatch_dump_table(again), re.MULTILINE) == re.findall(
            r"^\w+:|\[.*\]", table, re.MULTILINE
        )
