"""Does the operator table say of every out= form who writes there?"""

from __future__ import annotations

import pytest

from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.out.composed import LEAF
from glasstorch.kernels.out.rows import BY_HAND, PASSED_ON_TO
from glasstorch.operators.whereabouts import whereabouts

ROOM = "kernels/out/"
COPIED = "kernels/out/copied.py"
FORMS = [operator for operator in registry.operators.values() if Tag.out in operator.tags]


def test_every_form_has_one_owner() -> None:
    assert len(FORMS) > 500
    for form in FORMS:
        told = whereabouts(form)
        assert told.out, form
        assert len([key for key, _ in told.kernels if key.startswith("Composite")]) <= 1, form


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.qualified_overload)
def test_the_kernel_stands_where_its_owner_does(form: Operator) -> None:
    told = whereabouts(form)
    places = [place for _, place in told.kernels]
    assert places
    owner = str(told.out)
    if owner.startswith("that of "):
        assert places[0].startswith("operators/composite/aliases.py")
    elif owner.startswith(PASSED_ON_TO):
        assert registry.find(f"aten::{owner.removeprefix(PASSED_ON_TO)}").kernels
    elif owner == "own kernel":
        written = [place for place in places if not place.startswith(ROOM)]
        generated = [place for place in places if place.startswith(COPIED)]  # serves the backends without a kernel
        assert written
        assert len(written) + len(generated) == len(places)
    else:
        assert places[0].startswith(ROOM) or BY_HAND in owner
        assert BY_HAND in owner or owner.partition(",")[0] in ("copied", "composed")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.qualified_overload)
def test_autograd_sees_the_form_or_its_parts_as_its_row_says(form: Operator) -> None:
    told = whereabouts(form)
    how, *words = str(told.out).split(", ")
    parts = how.startswith("that of ") or (how in ("passed on", "composed") and LEAF not in words)
    keys = {key.name for key, kernels in form.kernels.items() if kernels}
    assert ("CompositeImplicitAutograd" in keys) == parts
    assert not parts or "ADInplaceOrView" not in keys  # which leaves have it, tests/dispatch/test_tables.py compares


def test_what_is_written_by_hand_is_little() -> None:
    by_hand = [form for form in FORMS if BY_HAND in str(whereabouts(form).out)]
    assert len(by_hand) < 40
