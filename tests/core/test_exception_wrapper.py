"""Does an error arrive elsewhere as what it was, with its traceback?"""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import pytest

from glasstorch.core.errors import ShapeError
from glasstorch.core.exception_wrapper import ExceptionWrapper


class WithMessage(Exception):
    """Takes its message by name."""

    message = "always"

    def __init__(self, *, message: str) -> None:
        super().__init__(message)


def wrapped(torch: Any, error: Exception, **options: Any) -> Any:
    try:
        raise error
    except type(error):
        return importlib.import_module(f"{torch.__name__}._utils").ExceptionWrapper(**options)


@pytest.mark.parametrize(
    "error", [ValueError("why"), KeyError("key"), WithMessage(message="m"), UnicodeDecodeError("u", b"", 0, 1, "r")]
)
def test_an_error_is_raised_again_with_where_it_was(torch: Any, error: Exception) -> None:
    made = pickle.loads(pickle.dumps(wrapped(torch, error, where="in a test")))
    kind = RuntimeError if isinstance(error, UnicodeDecodeError) else type(error)
    with pytest.raises(kind) as caught:
        made.reraise()
    assert str(caught.value).startswith(f"Caught {type(error).__name__} in a test.\nOriginal Traceback (most recent")
    assert "raise error" in str(caught.value)
    assert str(wrapped(torch, error).where) == "in background"


def test_a_broken_rule_and_a_class_of_a_function_can_be_sent() -> None:
    class Local(ValueError):
        pass

    for error, kind in ((ShapeError("s"), ShapeError), (Local("l"), RuntimeError)):
        made: ExceptionWrapper = pickle.loads(pickle.dumps(ExceptionWrapper((type(error), error, None), "here")))
        assert made.exc_type is kind
        with pytest.raises(kind, match=r"Caught \w+ here"):
            made.reraise()
