"""Where does the library define a name: a dotted one, a plain one, or one of PyTorch's?"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from workbook.book.named import named
from workbook.book.withheld import Definition, first_line, library
from workbook.commands import CommandError

MOST, LISTED = 4, 20  # definitions of one name that are all shown, and that are listed where there are more
OF_TORCH = ("torch.", "F.", "Tensor.", "aten::", "aten.")


class Spot(NamedTuple):
    """Lines of a file of the library, counted from 0, and the name of what stands there."""

    file: Path
    lines: range
    name: str


def ours(name: str) -> list[Spot]:
    """Where the library defines a name: a dotted one, a plain one, or one of PyTorch's."""
    from glasstorch._search import definitions_of

    if name in ("torch", "glasstorch") or name.startswith("glasstorch."):
        try:
            return [spot_of(named("glasstorch" if name == "torch" else name))]
        except LookupError as error:
            raise CommandError(str(error)) from error
    if name.startswith(OF_TORCH) or (not name.startswith("__") and value_of(name, "glasstorch") is not None):
        return of_torch(name)
    found = definitions_of(name)
    exact = [one for one in found if one[0] == name] or found
    if len(exact) > MOST:
        listed = [f"    {module_of(place)}.{qualified}" for qualified, place in exact[:LISTED]]
        told = "\n".join([*listed, *([f"    ... and {len(exact) - LISTED} more"] if len(exact) > LISTED else [])])
        raise CommandError(f"{len(exact)} definitions are called {name!r}\n  name one of them:\n{told}")
    return [spot_at(place, qualified) for qualified, place in exact] or of_torch(name)


def of_torch(name: str) -> list[Spot]:
    """The Python function or class that has PyTorch's name, and the CPU kernels of its operators."""
    value = value_of(name, "glasstorch")
    written = [] if value is None or is_generated(value) else [spot_of(value)]
    kernels = [spot_at(place, one.name) for one in operators(name) for _, place in one.kernels[:1]]
    return list(dict.fromkeys([*written, *kernels]))


def operators(name: str) -> list[Any]:
    """What the library knows about the operators behind one of PyTorch's names."""
    from glasstorch.kernels import cuda
    from glasstorch.operators.whereabouts import behind, overloads_of, whereabouts

    cuda.register_kernels()
    known = overloads_of(name.replace("aten::", "aten."))
    if not known and (operator := behind(value_of(name, "glasstorch"))):
        known = overloads_of(operator)
    every = [whereabouts(one) for one in known]
    return [one for one in every if one.functional is None] or every


def value_of(name: str, package: str) -> Any:
    """The object to which one of PyTorch's names refers in a package; None where there is none."""
    path = f"nn.functional.{name[2:]}" if name.startswith("F.") else name.removeprefix("torch.")
    try:
        return attrgetter(path)(importlib.import_module(package))
    except AttributeError:
        return None


def is_generated(value: Any) -> bool:
    """Whether a function or method has no source or was written by the generator, so that its kernel says more."""
    file = source_file(value)
    return not file or "generated" in Path(file).parts


def source_file(value: Any) -> str:
    """The file in which something is defined; empty if it is not written in Python."""
    try:
        return inspect.getsourcefile(behind_property(value)) or ""
    except TypeError:
        return ""


def behind_property(value: Any) -> Any:
    """The function of a property or of a decorated function, or the value itself."""
    return inspect.unwrap(getattr(value, "fget", None) or value)


def spot_of(value: Any) -> Spot:
    """Where a module, class, function, method or property of the library is defined."""
    file = source_file(value)
    if not file:
        raise CommandError(
            f"{type(value).__name__} {value!r} has no Python source\n"
            "  accepted: the name of a module, a class, a function, a method or a property"
        )
    lines, first = inspect.getsourcelines(behind_property(value))
    start = max(first - 1, 0)  # a module's lines are counted from 0, all others from 1
    return Spot(
        Path(file).resolve(), range(start, start + len(lines)), getattr(behind_property(value), "__qualname__", "")
    )


def spot_at(place: str, name: str) -> Spot:
    """The definition at a place such as `core/geometry.py:91`, or the statement or the row of a table that it is in."""
    path, _, line = place.rpartition(":")
    file, number = library() / path, int(line)
    nodes: Iterable[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
    found = range(number - 1, number)
    while node := next((one for one in nodes if first_line(one) <= number <= (one.end_lineno or 0)), None):
        found = range(first_line(node) - 1, node.end_lineno or number)
        nodes = node.body if isinstance(node, ast.ClassDef) and number > node.lineno else []
        rows = [] if isinstance(node, Definition) else [each for each in ast.walk(node) if isinstance(each, ast.Dict)]
        for key, value in ((key, value) for each in rows for key, value in zip(each.keys, each.values, strict=True)):
            if key is not None and key.lineno <= number <= (value.end_lineno or 0):
                found = range(key.lineno - 1, value.end_lineno or number)
    return Spot(file, found, name)


def module_of(place: str) -> str:
    """The dotted name of the module in which a place is."""
    path = place.partition(":")[0].removesuffix(".py").removesuffix("/__init__")
    return f"glasstorch.{path.replace('/', '.')}"
