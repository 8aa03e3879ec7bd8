"""What does a call do, told so that two libraries can be compared?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import glasstorch

Call = Callable[[Any], Any]


def outcome(call: Call, library: Any) -> tuple[str, ...]:
    """What a call does: the result's kind, dtype, sizes and values, or the error's name."""
    try:
        return _told(call(library), library)
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        return ("raises", type(error).__name__, str(error))


def _told(result: Any, library: Any) -> tuple[str, ...]:
    if isinstance(result, library.Tensor):
        return (
            "tensor",
            repr(result.dtype),
            repr(tuple(result.shape)),
            repr(result.tolist()),
            str(result.requires_grad),
        )
    if isinstance(result, tuple | list):
        return (type(result).__name__ if type(result) in (tuple, list) else "tuple",
                *(part for r in result for part in _told(r, library)))  # fmt: skip
    return (type(result).__name__, repr(result))


def x(t: Any) -> Any:
    return t.arange(6.0).view(2, 3)


def same_outcome(torch: Any, call: Call) -> None:
    """Ours accepts the call, and gives what theirs does."""
    ours = outcome(call, glasstorch)
    theirs = outcome(call, torch)
    assert ours[0] != "raises", ours
    assert ours == theirs, f"{ours} here, {theirs} there"


def same_class_of_refusal(torch: Any, call: Call, words: str) -> None:
    """Both refuse the call with an error of the same class, whose message has these words."""
    kind, *rest = outcome(call, glasstorch)
    theirs_kind, *theirs = outcome(call, torch)
    assert (kind, theirs_kind) == ("raises", "raises"), (rest, theirs)
    assert rest[0] == theirs[0], (rest, theirs)
    assert words in rest[1]
    assert words in theirs[1]
