"""Are questions about a tensor operators by name, and does a class answer those it said it would?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.calls import questions
from glasstorch.dispatch.operator import registry


class Answers(glasstorch.Tensor):
    """Answers for its sizes, and keeps its own strides."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return {"aten.sym_size.default": [4], "aten.sym_stride.default": None}.get(str(func), NotImplemented)


def wrapped(**more: Any) -> Any:
    return glasstorch.Tensor._make_wrapper_subclass(Answers, (2, 3), **more)


def test_a_class_answers_for_the_tensors_that_were_made_so_and_no_others() -> None:
    asked, own = wrapped(dispatch_sizes_strides_policy="sizes"), wrapped()
    assert (asked.shape, asked.size(0)) == ((4,), 4)
    assert asked.stride() == (3, 1)  # where the answer is None
    assert own.shape == (2, 3)


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="Unknown sizes_strides_policy: size; expected 'strides' or 'sizes'"):
        wrapped(dispatch_sizes_strides_policy="size")


@pytest.mark.parametrize(("text", "words", "function"), questions.ROWS, ids=[text for text, _, _ in questions.ROWS])
def test_a_question_is_pytorchs_and_no_row_of_the_table(text: str, words: str, function: Any, torch: Any) -> None:
    name, _, overload = text.partition("(")[0].partition(".")
    namespace, _, base = name.partition("::")
    for library in (glasstorch, torch):
        operator = getattr(getattr(getattr(library.ops, namespace), base), overload or "default")
        assert str(operator._schema) == text
        assert [tag.name for tag in operator.tags if tag.name == "core"] == words.split()
    assert text.partition("(")[0] not in registry.operators
