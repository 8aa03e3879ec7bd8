"""What does the error say when a name of PyTorch is missing here?

Mirrors: nothing; PyTorch has all its names
Differs: a reader's program may well use a function that this library leaves out, and must not have to guess.

Three things can be said of a name: it is left out, with the reason (core/left_out.py); PyTorch has it and this library
does not (core/torch_names.txt); or PyTorch does not have it either, and the nearest name is what was probably meant.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from glasstorch.core.left_out import reason_for

LIST_COMMAND = "python -m glasstorch --list"
PYTORCH = "PyTorch 2.13"
NAMES_OF_PYTORCH = Path(__file__).with_name("torch_names.txt")

NEAR = 0.75  # the least similarity of two names, from 0 to 1: `rnad` is near `rand`, `einsum` is not near `sum`


@cache
def torch_names() -> dict[str, frozenset[str]]:
    """The public modules of PyTorch, and its Tensor, each with its public names; many modules are listed without."""
    names = {}
    for line in NAMES_OF_PYTORCH.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            path, *public = line.split(" ")
            names[path] = frozenset(public)
    return names


def is_of_torch(path: str) -> bool:
    """Whether PyTorch has a public name or a public module of this path.

    >>> is_of_torch("torch.nn.Linear"), is_of_torch("torch.nn"), is_of_torch("torch.nn.Liner")
    (True, True, False)
    """
    space, _, name = path.rpartition(".")
    return path in torch_names() or name in torch_names().get(space, ())


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to this one, if any is similar enough."""
    import difflib  # here, because it is needed only where something has gone wrong

    wanted, by_lower_case = name.lower(), {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(wanted, by_lower_case, n=5, cutoff=NEAR)
    # Of those that are equally near, the one with the same letters: "complie" is "compile", not "complex".
    ratio = {match: difflib.SequenceMatcher(None, match, wanted).ratio() for match in matches}
    matches.sort(key=lambda match: (ratio[match], sorted(match) == sorted(wanted)), reverse=True)
    return by_lower_case[matches[0]] if matches else None


def advice(name: str, known: Iterable[str]) -> str:
    """The second half of the message: the nearest name, and the command that prints the list."""
    match = nearest(name, known)
    suggestion = f"the nearest name is '{match}'; " if match else ""
    return f"{suggestion}`{LIST_COMMAND}` prints what there is"


def why_missing(path: str, known: Iterable[str]) -> str:
    """What is said of a path of PyTorch, such as "torch.nn.Liner", that this library does not have.

    `known` are the last parts of the paths beside it that the library has.
    """
    if (reason := reason_for(path)) is not None:
        return f"{path} is left out of glasstorch, because {reason}"
    if is_of_torch(path):
        return f"{PYTORCH} has {path}, glasstorch does not; `{LIST_COMMAND}` prints what there is"
    space, _, name = path.rpartition(".")
    known = set(known)
    match = nearest(name, known | torch_names().get(space, frozenset()))
    if match is not None and match not in known:
        meant = f"the nearest name is '{match}', which {PYTORCH} has and glasstorch does not"
        return f"{path} is not in glasstorch; {meant}; `{LIST_COMMAND}` prints what there is"
    return f"{path} is not in glasstorch; {advice(name, known)}"


def unknown_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that a module of the library does not have."""
    message = f"module '{module}' has no attribute '{name}'"
    path = f"{as_torch(module)}.{name}"
    if not name.startswith("_") or reason_for(path) is not None:
        message += f": {why_missing(path, known)}"
    # With `name` set, Python does not add a suggestion of its own.
    return AttributeError(message, name=name)


def refuse_unknown_names(module: str, late: Collection[str] = ()) -> Callable[[str], Any]:
    """A `__getattr__` for a module of the library, which imports its submodules `late` when they are first asked for.

    >>> refuse_unknown_names("glasstorch.core.device")("devise")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: ... the nearest name is 'device'; `python -m glasstorch --list` prints what there is
    """

    def __getattr__(name: str) -> Any:
        if name in late:
            return import_module(f"{module}.{name}")
        raise unknown_name(module, name, [*offered_names(vars(sys.modules[module])), *late])

    return __getattr__


class MissingName:
    """A public name of a class of PyTorch that the class here does not have: to ask for it raises AttributeError.

    It stands in the class in place of the method, so that looking up any other name takes no longer.
    """

    def __init__(self, owner: str, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: object, owner: type) -> Any:
        known = [name for name, value in _members(owner).items() if not isinstance(value, MissingName)]
        subject = f"type object '{owner.__name__}'" if instance is None else f"'{owner.__name__}' object"
        raise AttributeError(
            f"{subject} has no attribute '{self.name}': {why_missing(f'{self.owner}.{self.name}', known)}",
            name=self.name,
        )


def _members(owner: type) -> dict[str, Any]:
    """What a class and its bases define."""
    return {name: value for base in reversed(owner.__mro__) for name, value in vars(base).items()}


def offered_names(names: Mapping[str, Any]) -> list[str]:
    """The public names of a module, given its namespace: `__all__`, or else what the library defines; sorted."""
    return sorted(names.get("__all__") or (name for name, value in names.items() if _is_offered(name, value)))


def _is_offered(name: str, value: object) -> bool:
    # Under the runner a class says `torch...`. The `__module__` of numbers and Python's own objects is not in the
    # library, and modules have none.
    if isinstance(value, ModuleType) or name.startswith("_"):
        return False
    return str(getattr(value, "__module__", "")).startswith(("glasstorch", "torch"))


def as_torch(module: str) -> str:
    """The PyTorch name of a module of this library."""
    return "torch" + module.removeprefix("glasstorch")
