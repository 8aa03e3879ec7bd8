"""What does the error say when a name of PyTorch is missing here?

Mirrors: nothing; PyTorch has all its names
Differs: a reader's program may well use a function that this library leaves out, and must not have to guess.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from glasstorch.core.left_out import LEFT_OUT

LIST_COMMAND = "python -m glasstorch --list"

NEAR = 0.75  # the least similarity of two names, from 0 to 1: `rnad` is near `rand`, `einsum` is not near `sum`


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to this one, if any is similar enough."""
    import difflib  # here, because it is needed only where something has gone wrong

    by_lower_case = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=NEAR)
    return by_lower_case[matches[0]] if matches else None


def advice(name: str, known: Iterable[str]) -> str:
    """The second half of the message: the nearest name, and the command that prints the list."""
    match = nearest(name, known)
    suggestion = f"the nearest name is '{match}'; " if match else ""
    return f"{suggestion}`{LIST_COMMAND}` prints what there is"


def unknown_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that a module of the library does not have."""
    message = f"module '{module}' has no attribute '{name}'"
    if (reason := LEFT_OUT.get(f"{as_torch(module)}.{name}")) is not None:
        message += f": {as_torch(module)}.{name} is left out of glasstorch, because {reason}"
    elif not name.startswith("_"):
        message += f": {as_torch(module)}.{name} is not in glasstorch; {advice(name, known)}"
    # With `name` set, Python does not add a suggestion of its own.
    return AttributeError(message, name=name)


def refuse_unknown_names(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for a module of the library.

    >>> refuse_unknown_names("glasstorch.core.device")("devise")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: ... the nearest name is 'device'; `python -m glasstorch --list` prints what there is
    """

    def __getattr__(name: str) -> Any:
        raise unknown_name(module, name, offered_names(vars(sys.modules[module])))

    return __getattr__


def offered_names(names: Mapping[str, Any]) -> list[str]:
    """The public names of a module, given its namespace: `__all__`, or else what the library defines; sorted."""
    return sorted(names.get("__all__") or (name for name, value in names.items() if _is_offered(name, value)))


def _is_offered(name: str, value: object) -> bool:
    # The `__module__` of modules, numbers and Python's own objects is not in the library.
    return not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("glasstorch")


def as_torch(module: str) -> str:
    """The PyTorch name of a module of this library."""
    return "torch" + module.removeprefix("glasstorch")
