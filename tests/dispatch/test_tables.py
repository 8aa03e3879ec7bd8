"""Do the tables of all operators lead where PyTorch's do, but for differences that are listed with their reasons?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.keys import RUNTIME_KEYS, DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, choose
from tests.dispatch import tables
from tests.dispatch.tables import BY_KEY, MISSING

Require = Callable[[str], Any]


@pytest.fixture(autouse=True)
def _with_pytorch(require: Require) -> None:
    require("torch")


def with_kernels(kernels: dict[str, str]) -> Operator:
    """An operator for which this is registered."""
    operator = Operator("tables::op", "tables::op() -> ()", "")
    for name, kind in kernels.items():
        function = fallthrough_kernel if kind == "fallthrough" else len
        operator.kernels[DispatchKey[name]] = [Kernel(function, DispatchKey[name], "")]
    return operator


def test_what_pytorch_registers_resolves_here_to_pytorchs_table_for_every_operator_of_pytorch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = {name: (tables.kernels_of(text[0]), tables.table_of(text[1])) for name, text in tables.dumps().items()}
    assert len(every) > 3500
    fallbacks = {
        DispatchKey[key]: "fallthrough" if rule.startswith("fallthrough") else "kernel"
        for _, table in every.values()
        for key, rule in table.items()
        if rule.endswith(BACKEND_FALLBACK)
    }
    made = {
        key: Kernel(fallthrough_kernel if kind == "fallthrough" else len, key, "") for key, kind in fallbacks.items()
    }
    monkeypatch.setattr(registry, "fallbacks", made)
    for name, (kernels, theirs) in every.items():
        operator = with_kernels(kernels)
        ours = {}
        for key in RUNTIME_KEYS:
            choice = choose(operator, key)
            if choice.kernel is not None:
                passed_by = choice.kernel.function is fallthrough_kernel
                ours[key.name] = ("fallthrough " if passed_by else "") + choice.rule
            elif choice.rule != MISSING:
                ours[key.name] = choice.rule
        assert ours == theirs, name


def test_what_is_not_registered_as_in_pytorch_is_listed_with_its_reason() -> None:
    found = {kind: sorted(names) for kind, names in tables.registrations_that_differ().items()}
    assert found == {kind: sorted(one.names) for kind, one in tables.listed().items()}, (
        "look at the difference; if it is meant, `python -m tests.dispatch.tables --write` lists it below its reason"
    )
    assert all(one.reason != "NO REASON YET" for one in tables.listed().values())


def test_an_operator_that_is_not_listed_has_pytorchs_table() -> None:
    listed = {f"aten::{name}" for one in tables.listed().values() for name in one.names}
    same = [name for name in tables.shared() if name not in listed]
    assert len(same) > 1500
    for name in same:
        rules = tables.differing_rules(tables.shared()[name])
        different = [one for one in rules if one[0] not in BY_KEY]
        assert different == [], name


def test_every_key_with_a_reason_of_its_own_still_differs() -> None:
    differing = Counter(
        key
        for both in tables.shared().values()
        for key in {one[0] for found in (tables.differing_kernels(both), tables.differing_rules(both)) for one in found}
    )
    assert [key for key in BY_KEY if not differing[key]] == []


def test_the_counts_by_key_are_pytorchs_but_for_what_is_listed(require: Require) -> None:
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for both in tables.shared().values():
        ours.update(both.kernels.keys())
        theirs.update(both.their_kernels.keys())
    for (key, in_pytorch, here), one in tables.listed().items():
        ours[key] += len(one.names) * ((here == "nothing") - (in_pytorch == "nothing"))
    for key in ours.keys() | theirs.keys():
        assert key in BY_KEY or ours[key] == theirs[key], key


def test_pytorch_counts_no_other_registrations_than_its_dumps_show() -> None:
    shared = set(tables.shared())
    for key, (theirs, ours) in tables.asked()[1].items():
        assert shared.intersection(theirs) == {n for n, both in tables.shared().items() if key in both.their_kernels}, (
            key
        )
        assert shared.intersection(ours) == {n for n, both in tables.shared().items() if key in both.kernels}, key


def test_what_cannot_be_read_is_no_row() -> None:
    with pytest.raises(AssertionError, match="cannot read 'CPU registered'"):
        tables.table_of("CPU registered")
    with pytest.raises(AssertionError, match="cannot read 'CPU: len'"):
        tables.kernels_of("alias analysis kind: FROM_SCHEMA\nCPU: len")
    row = "AutogradOther: ambiguous_autogradother [ambiguous autogradother]"
    assert tables.table_of(row) == {"AutogradOther": "ambiguous autogradother"}
