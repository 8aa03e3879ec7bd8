"""How are two libraries found to refuse a call in the same words?"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch


def builtin(error: BaseException | type[BaseException]) -> type[BaseException]:
    """The exception class of Python that an error of either library is one of."""
    kind = error if isinstance(error, type) else type(error)
    return next(c for c in kind.__mro__ if vars(builtins).get(c.__name__) is c)


def same_refusal(torch: Any, call: Callable[[Any], Any], more: bool = False) -> None:
    """Both raise: ours an error of the builtin class that theirs is of, with the same words, or with `more` after them.

    A LinAlgError is one in both.
    """
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(Exception) as ours:
        call(glasstorch)
    assert isinstance(ours.value, builtin(theirs.value))
    assert type(ours.value).__name__ == type(theirs.value).__name__
    assert isinstance(ours.value, glasstorch.linalg.LinAlgError) == isinstance(theirs.value, torch.linalg.LinAlgError)
    words = str(ours.value)
    assert (words[: len(str(theirs.value))] if more else words) == str(theirs.value)
