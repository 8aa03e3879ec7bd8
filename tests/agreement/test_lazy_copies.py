"""Does every operator that writes leave alone what its tensor only shares until the first write?

Each in-place and out= form writes to a lazy clone, and reads lazy clones: the result is that of ordinary tensors, and
what the clones were made of is as it was.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.agreement.oracles import assert_same, forms_of, on_device, operator, results, runs
from tests.agreement.samples import Call, Row, arrays
from tests.agreement.table import ROWS

WRITTEN = [row for row in ROWS if forms_of(row, True) or forms_of(row, False) or operator(row.op).schema.is_inplace]


def one_run_a_call(row: Row) -> list[tuple[Call, str]]:
    """Each call of a row with the first dtype that it is run with."""
    found: dict[int, tuple[Call, str]] = {}
    for call, run in runs(row):
        found.setdefault(id(call), (call, run))
    return list(found.values())


def lazy(value: Any, kept: list[tuple[Any, Any, Any]]) -> Any:
    """Lazy clones of all tensors in a value; the tensor, its elements before and its clone go into `kept`."""
    if isinstance(value, list | tuple):
        return type(value)(lazy(v, kept) for v in value)
    if not hasattr(value, "_lazy_clone"):
        return value
    source = value.clone()  # the samples show arrays of NumPy, which are copied at once
    copy = source._lazy_clone()
    assert copy.untyped_storage().lazy is not None or not copy.untyped_storage().nbytes()
    kept.append((source, source.tolist(), copy))
    return copy


def check(name: str, args: Any, kwargs: Any, again: tuple[Any, Any]) -> None:
    try:
        wanted = operator(name)(*args, **kwargs)
    except (RuntimeError, NotImplementedError):
        return  # refused for its own reasons, which test_forms knows
    kept: list[tuple[Any, Any, Any]] = []
    args, kwargs = lazy(again[0], kept), {key: lazy(value, kept) for key, value in again[1].items()}
    made = operator(name)(*args, **kwargs)
    for one, other in zip(results(made), results(wanted), strict=True):
        if hasattr(one, "tolist"):
            assert_same(one, other, name)
    for original, before, copy in kept:
        assert str(original.tolist()) == str(before), f"{name} wrote through a lazy clone"
        was_written = any(copy is r for r in results(made))
        assert was_written == (copy.untyped_storage().lazy is None) or not copy.untyped_storage().nbytes(), name


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.op)
def test_a_write_to_a_lazy_clone_stays_there(row: Row) -> None:
    inplace = [*forms_of(row, inplace=True), *([row.op] if operator(row.op).schema.is_inplace else [])]
    for call, run in one_run_a_call(row):
        given = arrays(row, call, run)
        for form in inplace:
            check(form, *on_device(row, call, given, "cpu"), on_device(row, call, given, "cpu"))
        for form in forms_of(row, inplace=False):
            schema = operator(form).schema
            args, kwargs = on_device(row, call, given, "cpu")
            outs = [w.clone() for w in results(operator(row.op)(*args, **kwargs)) if hasattr(w, "clone")]
            known = {key: value for key, value in kwargs.items() if any(a.name == key for a in schema.arguments)}
            names = [a.name for a in schema.out_arguments]
            into = dict(zip(names, [o.clone() for o in outs], strict=False)) if len(names) == len(outs) else {}
            if into:
                check(form, args, known | into, (args, known | dict(zip(names, outs, strict=True))))
