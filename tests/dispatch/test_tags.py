"""Do tags say what they mean, and are PyTorch's told from ours?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.dispatch.tags import Tag


def test_a_tag_is_a_word_with_a_sentence() -> None:
    for tag in Tag:
        assert tag.meaning.endswith("."), tag
        assert tag.meaning[0].isupper(), tag


def test_the_words_that_are_not_ours_are_pytorchs(require: Callable[[str], Any]) -> None:
    theirs = set(require("torch").Tag.__members__)
    assert {tag.name for tag in Tag if not tag.ours} <= theirs
    assert {tag.name for tag in Tag if tag.ours}.isdisjoint(theirs)


def test_tags_are_told_apart() -> None:
    assert Tag["core"] is Tag.core
    assert Tag.core is not Tag.pointwise
    assert len({tag.value for tag in Tag}) == len(Tag)
