"""What does the error say when a name of PyTorch is missing here?

Mirrors: nothing; PyTorch has all its names
Differs: a reader's program may well use a function that this library leaves out, and must not have to guess.

Four things can be said of a name: it is left out, with the reason (core/left_out.py); it is a module that has not been
imported yet; PyTorch has it and this library does not (core/torch_names.txt); or PyTorch does not have it either, and
the nearest name is what was probably meant.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from glasstorch.core.left_out import reason_for

LIST_COMMAND = "python -m glasstorch --list"
PYTORCH = "PyTorch 2.13"
NAMES_OF_PYTORCH = Path(__file__).with_name("torch_names.txt")

IMPORT_FROM = dis.opmap["IMPORT_FROM"]  # the instruction of `from module import name`

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


def is_module_here(path: str) -> bool:
    """Whether PyTorch has a public module of this path and this library has it, too, imported or not.

    >>> is_module_here("torch.nn.utils.prune"), is_module_here("torch.nn.Linear"), is_module_here("torch.core")
    (True, False, False)
    """
    try:
        return path in torch_names() and find_spec(as_glasstorch(path)) is not None
    except ModuleNotFoundError:  # of a folder on the way
        return False


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
    if is_module_here(path):
        return f"{path} is a module that is not imported with the one it is in; write `import {path}` first"
    if is_of_torch(path):
        return f"{PYTORCH} has {path}, glasstorch does not; `{LIST_COMMAND}` prints what there is"
    space, _, name = path.rpartition(".")
    known = set(known)
    match = nearest(name, known | torch_names().get(space, frozenset()))
    if match is not None and match not in known:
        meant = f"the nearest name is '{match}', which {PYTORCH} has and glasstorch does not"
        return f"{path} is not in glasstorch; {meant}; `{LIST_COMMAND}` prints what there is"
    return f"{path} is not in glasstorch; {advice(name, known)}"


class UnknownName(AttributeError):
    """The error for a name that a module of the library does not have. Its message is made when somebody reads it.

    Whoever tries a name with `hasattr` never does, and to look for the nearest name takes milliseconds.
    """

    def __init__(self, module: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        super().__init__(name=name)  # with it, Python does not add a suggestion of its own
        self.module, self.asked, self.known = module, name, known

    def __str__(self) -> str:
        message = f"module '{self.module}' has no attribute '{self.asked}'"
        path = f"{as_torch(self.module)}.{self.asked}"
        if not self.asked.startswith("_") or reason_for(path) is not None or is_module_here(path):
            message += f": {why_missing(path, self.known())}"
        return message

    def __repr__(self) -> str:
        return f"AttributeError({str(self)!r})"

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


UnknownName.__name__ = UnknownName.__qualname__ = "AttributeError"  # as it is printed
UnknownName.__module__ = "builtins"


def cannot_import(module: str, name: str, known: Iterable[str]) -> ImportError:
    """The error for `from module import name`: what Python says of it, and why the name is missing."""
    file = getattr(sys.modules[module], "__file__", None)
    reason = why_missing(f"{as_torch(module)}.{name}", known)
    message = f"cannot import name {name!r} from {module!r} ({file or 'unknown location'}): {reason}"
    return ImportError(message, name=module, path=file)


def _is_import_from(frame: FrameType | None) -> bool:
    """Whether the code that asks a module for a name is `from module import name`, given the module's own frame.

    Python drops the AttributeError of a module that is asked so, and writes an ImportError that gives no reason.
    """
    while frame is not None and frame.f_code.co_name == "__getattr__":  # of modules that handle some names themselves
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == IMPORT_FROM


def refuse_unknown_names(module: str, late: Collection[str] = ()) -> Callable[[str], Any]:
    """A `__getattr__` for a module of the library, which imports its submodules `late` when they are first asked for.

    >>> refuse_unknown_names("glasstorch.core.device")("devise")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: ... the nearest name is 'device'; `python -m glasstorch --list` prints what there is
    """

    def __getattr__(name: str) -> Any:
        if name in late:
            return import_module(f"{module}.{name}")

        def known() -> list[str]:
            return [*offered_names(vars(sys.modules[module])), *late]

        # Python finds by itself a submodule that was imported, though its package does not have it as an attribute.
        if _is_import_from(sys._getframe()) and f"{module}.{name}" not in sys.modules:
            raise cannot_import(module, name, known())
        raise UnknownName(module, name, known)

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


def as_glasstorch(path: str) -> str:
    """The name in this library of a module of PyTorch."""
    return "glasstorch" + path.removeprefix("torch")
