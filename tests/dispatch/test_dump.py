"""Is an operator's table written and read as PyTorch writes it?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import RUNTIME_KEYS, DispatchKey
from glasstorch.dispatch.dump import dump_registrations, dump_table, read_table
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Operator, fallthrough_kernel
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, MISSING, choose
from tests.dispatch.both import REGISTERED, registered_in_both
from tests.strategies import steady

Require = Callable[[str], Any]


def rows(operator: Operator) -> dict[str, str]:
    return dict(row.split(": ", 1) for row in dump_table(operator).splitlines())


def test_a_row_says_where_the_kernel_was_registered_and_by_which_rule_it_stands_there(
    library: Library, operator: Operator
) -> None:
    library.impl("op", lambda x: x, "CompositeExplicitAutograd")
    library.impl("op", fallthrough_kernel, "AutogradCPU")
    written = rows(operator)
    assert written["CPU"].startswith(f"registered at {__file__}:")
    assert written["CPU"].endswith(" [default backend kernel]")
    assert written["AutogradCPU"].startswith(f"fallthrough registered at {__file__}:")
    assert written["AutogradCPU"].endswith(" [kernel]")
    assert written["ADInplaceOrView"].startswith("fallthrough registered at ")
    assert written["Functionalize"].endswith(" [backend fallback]")
    assert "TESTING_ONLY_GenericWrapper" not in written


def test_two_kernels_that_cannot_both_serve_have_a_row(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: x, "CompositeImplicitAutograd")
    library.impl("op", lambda x: x, "SparseCPU")
    assert rows(operator)["AutogradOther"] == "ambiguous_autogradother [ambiguous autogradother]"


def test_what_was_registered_has_a_row_each_and_the_active_kernel_comes_first(
    library: Library, operator: Operator
) -> None:
    library.impl("op", lambda x: x, "CompositeExplicitAutograd")
    library.impl("op", fallthrough_kernel, "AutogradCPU")
    library.impl("op", len, "CPU")
    library.impl("op", abs, "CPU", allow_override=True)
    first, *registered = dump_registrations(operator).splitlines()
    assert first == "name: sample::op"
    assert registered[:1] == ["schema: sample::op(Tensor x) -> Tensor"]
    assert registered[1].startswith("debug: registered at ")
    assert registered[2] == "alias analysis kind: FROM_SCHEMA"
    keys, places = zip(*(row.split(": registered at ", 1) for row in registered[3:]), strict=True)
    assert keys == ("CPU", "CPU (inactive)", "AutogradCPU", "CompositeExplicitAutograd[alias]")
    assert all(place.startswith(f"{__file__}:") for place in places)
    assert [place.split(" :: ")[1] for place in places] == [
        "(none) [ boxed ]", "(none) [ boxed ]", "(none) [ fallthrough boxed ]", "(none) [ boxed ]",
    ]  # fmt: skip


def test_pytorch_writes_the_same_rows_of_what_was_registered(require: Require) -> None:
    torch = require("torch")
    with registered_in_both(torch, REGISTERED) as (theirs, operator):
        rows = [
            re.sub(r"at \S+", "at", text) for text in (torch._C._dispatch_dump(theirs), dump_registrations(operator))
        ]
    assert rows[0] == rows[1]


def test_what_is_written_is_read_back(library: Library, operator: Operator) -> None:
    for key in ("Meta", "CompositeImplicitAutograd", "SparseCPU", "Autograd"):
        library.impl("op", lambda x: x, key)
    rules = read_table(dump_table(operator))
    assert rules == {key: choose(operator, key).rule for key in RUNTIME_KEYS}
    assert set(rules.values()) >= {"kernel", "math kernel", "autograd kernel", BACKEND_FALLBACK, MISSING}


@settings(steady, max_examples=30)
@given(st.sets(st.sampled_from(REGISTERED), max_size=6))
def test_pytorch_writes_the_same_rules(require: Require, keys: set[str]) -> None:
    torch = require("torch")
    with registered_in_both(torch, keys) as (theirs, operator):
        ours, other = read_table(dump_table(operator)), read_table(torch._C._dispatch_dump_table(theirs))
    of_all = (BACKEND_FALLBACK, MISSING)  # which fallbacks there are is another matter
    different = [
        key for key in RUNTIME_KEYS if ours[key] != other[key] and not (ours[key] in of_all and other[key] in of_all)
    ]
    assert different == []


@pytest.mark.parametrize(
    "row",
    [
        "CPU registered at a [kernel]",
        "Cpu: registered at a [kernel]",
        "Autograd: registered at a [kernel]",
        "CPU: registered at a [kernels]",
        "_member_names_: registered at a [kernel]",
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_what_can(row: str) -> None:
    with pytest.raises(RegistrationError, match=r"cannot read '.*' in the table of an operator; expected rows such as"):
        read_table(f"CPU: registered at a [kernel]\n{row}\n")


def test_a_table_without_rows_has_no_kernel() -> None:
    assert set(read_table("").values()) == {MISSING}
    assert DispatchKey.Undefined in read_table("")
