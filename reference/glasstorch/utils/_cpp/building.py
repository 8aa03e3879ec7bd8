"""How does C++ source of a program become a shared library, and when is it compiled again?

Mirrors: torch/utils/cpp_extension.py (_jit_compile, _write_ninja_file_to_build_library)
Differs: no ninja. What decides is the text after preprocessing, so that a change in any header counts. The library's
    file has a hash of it in its name and is put in place whole: two processes that compile the same do no harm.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from glasstorch.devices import cpp_compiler
from glasstorch.devices.cpp_compiler import CompileError

INCLUDE: Final = Path(__file__).resolve().parents[2] / "include"
STANDARD: Final = ("-std=c++20", "-fPIC", "-O2")


class Plan(NamedTuple):
    """What is to be compiled, and how."""

    name: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]  # of the compiler
    linker_flags: tuple[str, ...]
    folder: Path
    verbose: bool


def folder_of(name: str, build_directory: str | None) -> Path:
    """Where the results of an extension are kept."""
    if build_directory is not None:
        folder = Path(build_directory)
        if not folder.is_dir():
            raise FileNotFoundError(f"build_directory={build_directory!r}: there is no such folder")
        return folder
    if (root := os.environ.get("TORCH_EXTENSIONS_DIR")) is not None:
        folder = Path(root) / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    return cpp_compiler.cache_folder(f"cpp_extensions/{name}")


def written(text: str, name: str, folder: Path) -> Path:
    """A file with a source, named by its content: two processes write the same."""
    path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.cpp"
    if not path.exists():
        with cpp_compiler.workplace(folder) as place:
            made = Path(place, path.name)
            made.write_text(text, encoding="utf-8")
            made.replace(path)
    return path


def include_flags(name: str, more: Sequence[str]) -> list[str]:
    """The options that say what the extension is called, and where headers lie."""
    return [f"-DTORCH_EXTENSION_NAME={name}", "-isystem", str(INCLUDE), *(f"-I{path}" for path in more)]


def built(plan: Plan) -> Path:
    """The shared library, compiled unless it has been; RuntimeError with the compiler's messages."""
    compiler = cpp_compiler.compiler()
    digest = hashlib.sha256(cpp_compiler.machine(compiler))
    digest.update("\0".join((*plan.flags, "", *plan.linker_flags)).encode())
    with cpp_compiler.workplace(plan.folder) as place:
        for source in plan.sources:
            whole = Path(place, "whole.ii")
            _run(plan, [compiler, *plan.flags, "-E", source, "-o", str(whole)], show=False)
            digest.update(whole.read_bytes())
        path = plan.folder / f"{plan.name}-{digest.hexdigest()[:24]}.so"
        if path.exists():
            return path
        objects = []
        for i, source in enumerate(plan.sources):
            objects.append(str(Path(place, f"{i}.o")))
            _run(plan, [compiler, *plan.flags, "-c", source, "-o", objects[-1]])
        made = Path(place, path.name)
        _run(plan, [compiler, *objects, "-shared", *plan.linker_flags, "-o", str(made)])
        made.replace(path)  # atomic: a file that exists is complete
    return path


def _run(plan: Plan, command: list[str], show: bool = True) -> None:
    if plan.verbose and show:
        print(shlex.join(command))
    try:
        cpp_compiler.run(command)
    except CompileError as error:
        raise CompileError(f"Error building extension '{plan.name}': {shlex.join(command)}\n{error}") from None
