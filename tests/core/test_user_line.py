"""Do warnings of operators name the line that called, however deep they are given?"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.user_line import warn_user

CALLS: dict[str, Callable[[Any], Any]] = {
    "a kernel": lambda t: t.add(t.ones(2), t.ones(2), out=t.ones(3)),
    "a composite": lambda t: t.matmul(t.ones(2, 2), t.ones(2, 2), out=t.ones(3)),
    "a copied result": lambda t: t.linalg.inv(t.eye(2), out=t.ones(3)),
    "several results": lambda t: t.sort(t.ones(2), out=(t.ones(3), t.ones(3, dtype=t.int64))),
    "a range": lambda t: t.arange(3, out=t.empty(2, dtype=t.int64)),
    "a shape function": lambda t: t.var(t.ones(1)),
    "in place": lambda t: t.ones(1).expand(2).masked_fill_(t.tensor([True, False]), 2),
    "an index": lambda t: t.ones(1).expand(2).index_put_((t.tensor([0]),), t.tensor(1.0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_users_line_is_named_as_by_torch(require: Callable[[str], Any], name: str) -> None:
    call = CALLS[name]
    for library in (glasstorch, require("torch")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(library)
        assert {(w.filename, w.lineno) for w in caught} == {(__file__, inspect.getsourcelines(call)[1])}


def test_two_lines_are_two_warnings_under_the_default_filter() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        glasstorch.add(glasstorch.ones(2), 1, out=glasstorch.ones(3))
        glasstorch.add(glasstorch.ones(2), 1, out=glasstorch.ones(3))
    assert len(caught) == 2


def test_a_warning_outside_the_library_names_the_very_line() -> None:
    with pytest.warns(UserWarning, match="said by a test") as caught:
        warn_user("said by a test")
    assert caught[0].filename == __file__
