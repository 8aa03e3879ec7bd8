"""Which classes and functions stand in the source text of an archive?

Mirrors: torch/csrc/jit/serialization/import_source.cpp (SourceImporterImpl)
Differs: Python's `ast` reads the text. It is never compiled or executed: what follows is made from the tree.

Each package has a record, as a module of Python has a file; it is read when a class or a function of it is first asked
for.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from glasstorch.serialization.zip_format import ArchiveError

LONGEST: Final = 1 << 28  # bytes of source text: a compressed record may state any size


@dataclass
class ClassSource:
    """The source text of one class."""

    path: str  # of the class: __torch__.a.Name
    record: str
    parameters: list[str] = field(default_factory=list)
    buffers: list[str] = field(default_factory=list)
    types: dict[str, ast.expr] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


class SourceError(ArchiveError):
    """The source text of an archive has something that is not understood; the message says where and what."""


def not_understood(record: str, node: ast.AST, why: str) -> SourceError:
    """The error for a part of the text: its place, what it says, and what about it."""
    try:
        shown = ast.unparse(node)
    except (ValueError, RecursionError):
        shown = type(node).__name__
    first, _, more = shown.partition("\n")
    shown = f"{first[:120]}{' ...' * bool(more or first[120:])}"
    return SourceError(f"{record}, line {getattr(node, 'lineno', '?')}: {why}: {shown}")


class Sources:
    """The classes and functions of an archive, by their paths. `read` gives the text of a package, or None."""

    def __init__(self, read: Callable[[str], tuple[str, bytes] | None]) -> None:
        self._read = read
        self._packages: dict[str, _Package] = {}

    def of_class(self, path: str) -> ClassSource:
        """The source text of a class; ArchiveError where the archive has none."""
        package, _, name = path.rpartition(".")
        source = self._package(package).classes.get(name)
        if source is None:
            raise ArchiveError(f"the archive has an object of the class {path}, and no source text of that class")
        return source

    def of_function(self, path: str) -> tuple[str, ast.FunctionDef] | None:
        """The record and the text of a function that is not a method; None where the archive has none."""
        package, _, name = path.rpartition(".")
        found = self._package(package)
        return (found.record, found.functions[name]) if name in found.functions else None

    def _package(self, package: str) -> _Package:
        if package not in self._packages:
            found = self._read(package)
            self._packages[package] = _Package("", {}, {}) if found is None else _read_package(package, *found)
        return self._packages[package]


class _Package(NamedTuple):
    record: str
    classes: dict[str, ClassSource]
    functions: dict[str, ast.FunctionDef]


def _read_package(package: str, record: str, text: bytes) -> _Package:
    if len(text) > LONGEST:
        raise ArchiveError(f"{record} has {len(text)} bytes of source text; the most that is read is {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # nothing of it is run
            warnings.simplefilter("ignore", DeprecationWarning)
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{record}: it cannot be read as source text: {str(error) or type(error).__name__}") from None
    found = _Package(record, {}, {})
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            found.functions[statement.name] = statement
            continue
        if not isinstance(statement, ast.ClassDef):
            raise not_understood(record, statement, "expected the class of a module or a function")
        if [base.id for base in statement.bases if isinstance(base, ast.Name)] != ["Module"]:
            raise not_understood(record, statement, "only classes of modules are known")
        found.classes[statement.name] = _class(f"{package}.{statement.name}", record, statement)
    return found


def _class(path: str, record: str, tree: ast.ClassDef) -> ClassSource:
    source = ClassSource(path, record)
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name):
                source.methods[name] = statement
            case ast.Pass():
                continue
            case ast.AnnAssign(target=ast.Name(id=name), annotation=type, value=None):
                source.types[name] = type
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id="__annotations__"), slice=ast.Constant(value=str(name)))],
                value=type,
            ):
                source.types[name] = type
            case ast.Assign(targets=[ast.Name(id="__parameters__")], value=ast.List(elts=names)):
                source.parameters = [_text(record, name) for name in names]
            case ast.Assign(targets=[ast.Name(id="__buffers__")], value=ast.List(elts=names)):
                source.buffers = [_text(record, name) for name in names]
            case _:
                raise not_understood(record, statement, "expected an attribute or a method")
    return source


def _text(record: str, node: ast.expr) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise not_understood(record, node, "expected the name of an attribute")
    return node.value
