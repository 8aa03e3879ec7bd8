"""In which order does the library stand? A folder imports only from rows before its own.

The rows are listed bottom first, as the library is built. Folders in one row do not import each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The map of the house in chapter 00 shows the same order; its test compares.
ROWS = (
    ("core",),
    ("dispatch",),
    ("devices",),
    ("calls",),
    ("operators",),
    ("outside_data",),
    ("python_forms",),
    ("printing",),
    ("_tensor",),
    ("kernels",),
    ("autograd",),
    ("func", "amp", "profiler", "_dispatch_queries", "_python_dispatch", "_traceable"),
    ("_library",),
    ("_subclasses",),
    ("nn",),
    ("optim", "data", "serialization", "distributions"),
    ("jit", "fx"),
    ("compiler", "quantization", "distributed"),
    ("_functorch", "_dynamo", "_inductor", "_logging", "_decomp"),
)
RANK = {name: rank for rank, names in enumerate(ROWS) for name in names}
# The facade: `__init__`, and whatever has a public path of torch but no row. It may import everything.
FACADE = len(ROWS)
# Modules of the facade that torch keeps inside a folder of ours, and one that tests what several folders offer.
THIN_REEXPORTS = (
    "nn.parallel.distributed",
    "autograd.functional",
    "autograd.profiler",
    "autograd.profiler_legacy",
    "autograd.profiler_util",
    "_library.opcheck",
)
# Never imported by the running library.
GENERATOR = "operators.gen"
FORWARD_DECLARATION = ("_tensor", "Tensor")


class Import(NamedTuple):
    """One name that a module takes from the package: `from glasstorch.core.keys import KeySet` at line 3."""

    module: str  # inside the package: "core.keys", or "" for the package itself
    name: str  # what is taken from it, or "" for the module itself
    line: int
    only_for_types: bool


def imports(path: Path, package: Path) -> Iterator[Import]:
    """All that the file imports from the package: anywhere in it, for type checkers, by import_module."""
    folder = path.relative_to(package.parent).parts[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    typed = {id(node) for block in ast.walk(tree) if _is_type_checking(block) for node in _inside(block)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.expr):
            continue
        only_for_types = id(node) in typed
        for parts, name in _imported(node, folder):
            if parts[:1] == (package.name,):
                yield Import(".".join(parts[1:]), name, node.lineno, only_for_types)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _inside(block: ast.AST) -> Iterator[ast.AST]:
    """What runs only for a type checker: the body of the `if`, not its `else`."""
    assert isinstance(block, ast.If)
    for statement in block.body:
        yield from ast.walk(statement)


def _imported(node: ast.AST, folder: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The dotted paths that one node imports, and the name taken from each."""
    match node:
        case ast.Import(names=aliases):
            yield from ((tuple(alias.name.split(".")), "") for alias in aliases)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            base = folder[: len(folder) - level + 1] if level else ()
            path = (*base, *(module.split(".") if module else ()))
            yield from ((path, alias.name) for alias in aliases)
        case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]) if _imports(function):
            relative = text.startswith(".")
            yield (*(folder if relative else ()), *filter(None, text.split("."))), ""
        case ast.Call(func=function, args=[ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]), *_]):
            if _imports(function):  # the folder of a module whose name is filled in: `f"glasstorch.operators.{name}"`
                yield tuple(text.split(".")[:-1]), ""


def _imports(function: ast.expr) -> bool:
    return ast.unparse(function) in ("import_module", "importlib.import_module", "__import__")


def layer(module: str) -> int:
    """The rank of a module's row; the facade's where it has none."""
    if not module or any(_within(module, thin) for thin in THIN_REEXPORTS):
        return FACADE
    return RANK.get(module.partition(".")[0], FACADE)


def _within(module: str, folder: str) -> bool:
    return module == folder or module.startswith(f"{folder}.")


def violations(package: Path) -> list[str]:
    """Every import that does not point to an earlier row, with its file and line."""
    files = sorted([*package.rglob("*.py"), *package.rglob("*.pyi")])
    return [text for path in files for text in _violations_of(path, package)]


def _violations_of(path: Path, package: Path) -> Iterator[str]:
    parts = path.relative_to(package).with_suffix("").parts
    importer = ".".join(part for part in parts if part != "__init__")
    for taken in imports(path, package):
        if problem := _problem(importer, taken, package):
            yield f"{path.relative_to(package.parent)}:{taken.line}: {problem}"


def _problem(importer: str, taken: Import, package: Path) -> str:
    """What is wrong with one import, or nothing."""
    # `from glasstorch import core` takes a module, `from glasstorch import add` something of the facade.
    path = f"{taken.module}.{taken.name}".strip(".")
    module = path if _is_module(package, path) else taken.module
    if (module, taken.name) == FORWARD_DECLARATION and taken.only_for_types:
        return ""
    if _within(path, GENERATOR) and not _within(importer, GENERATOR):
        return "imports the generator, which the running library never does"
    own, other = importer.partition(".")[0], module.partition(".")[0]
    if own == other and module and layer(importer) == layer(module):
        return ""
    if layer(module) < layer(importer) or layer(importer) == FACADE:
        return ""
    return f"{own} must not import {module or 'the facade'}, which is not below it in ROWS"


def _is_module(package: Path, module: str) -> bool:
    path = package.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()
