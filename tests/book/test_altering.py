"""Is what a failure lab replaces there again afterwards?"""

from __future__ import annotations

import pytest

from glasstorch.core import geometry
from workbook.book.altering import altered


def test_a_function_is_another_one_inside_the_block_only() -> None:
    before = geometry.view_strides
    with altered(geometry, "view_strides", lambda *arguments: "mine"):
        assert geometry.view_strides(()) == "mine"  # type: ignore[call-arg,comparison-overlap]
    assert geometry.view_strides is before


def test_it_is_put_back_when_the_block_fails() -> None:
    before = geometry.view_strides
    with pytest.raises(ZeroDivisionError), altered(geometry, "view_strides", None):
        raise ZeroDivisionError
    assert geometry.view_strides is before


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(AttributeError), altered(geometry, "no_such_function", None):
        pass
