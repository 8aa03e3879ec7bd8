"""How does an error reach the process or the thread that waits for the result?

Mirrors: torch/_utils.py (ExceptionWrapper, KeyErrorMessage)
Differs: an error whose class cannot be sent to another process arrives as a RuntimeError with the same text.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from types import TracebackType
from typing import Any, NoReturn

from glasstorch.core.errors import Rule

ErrorInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class KeyErrorMessage(str):
    """A text that prints as it is where Python would quote it: KeyError shows its argument by `repr`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The class of an error and the text of its traceback, but neither the error nor its frames.

    Without arguments, it is made of the error that is being handled. `where` completes "Caught ValueError ...".
    """

    def __init__(self, exc_info: ErrorInfo | None = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        assert kind is not None, "an error is being handled, or is given"
        self.exc_type: type[BaseException] = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an error of the same class whose message holds the original traceback.

        RuntimeError if the class cannot be called with a message alone.
        """
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):  # a class with a message of its own, that takes it by name
            raise self.exc_type(message=message)  # type: ignore[call-arg]
        try:
            error = self.exc_type(message)
        except Exception:  # noqa: BLE001  # a user's class may raise whatever it likes
            raise RuntimeError(message) from None
        raise error

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (_sendable(self.exc_type), self.exc_msg, self.where)


def _sendable(kind: type[BaseException]) -> object:
    """What stands for a class of errors in a pickle: a broken rule is shown under the name of a builtin, so `pickle`
    would not find it by that."""
    if issubclass(kind, Rule):
        return kind._defined_in, kind.rule
    try:
        pickle.dumps(kind)
    except (pickle.PicklingError, AttributeError, TypeError):
        return RuntimeError
    return kind


def _unpacked(kind: Any, message: str, where: str) -> ExceptionWrapper:
    """The wrapper that was pickled."""
    wrapper = ExceptionWrapper.__new__(ExceptionWrapper)
    if isinstance(kind, tuple):
        module, rule = kind
        kind = getattr(sys.modules[module], rule)
    wrapper.exc_type, wrapper.exc_msg, wrapper.where = kind, message, where
    return wrapper
