"""How is an error that the program raises told from one that the capture makes?

Mirrors: torch/_dynamo/exc.py (ObservedException, raise_observed_exception)
Differs: there is one class, which carries the error as a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Known


class Raised(Exception):
    """An error of the program: the error, and the value that the program gets where it catches it."""

    def __init__(self, error: BaseException, value: Known | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.value = value


@contextmanager
def of_an_operator() -> Iterator[None]:
    """What is raised inside is what an operator of the program raises, which no block of the program handles here."""
    try:
        yield
    except Exception as error:
        error.is_of_an_operator = True  # type: ignore[attr-defined]
        raise


def is_the_programs(error: BaseException) -> bool:
    """Whether an error that has ended a capture is one that the program would raise, and no fault of the capture."""
    return isinstance(error.__cause__, Raised) or getattr(error, "is_of_an_operator", False)


@contextmanager
def of_the_program() -> Iterator[None]:
    """What is raised inside is what the program raises."""
    try:
        yield
    except (Unsupported, Raised):
        raise
    except Exception as error:
        raise Raised(error) from error


def evaluated(function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function of Python gives for objects that are known; its errors are the program's."""
    with of_the_program():
        return function(*args, **kwargs)
