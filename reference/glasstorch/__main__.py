"""Runs a PyTorch program with glasstorch as `torch`.

    python -m glasstorch script.py [arguments]          or a folder or zip file with a __main__.py
    python -m glasstorch -m module [arguments]          or a package with a __main__.py
    python -m glasstorch --report page.html program.py  a page on what the program compiles, when it ends
    python -m glasstorch --list                         the names that glasstorch has, by module
    python -m glasstorch --where torch.cumsum           where a function is declared, computed and differentiated
    python -m glasstorch --where "caching allocator"    which files of the library are about something

Other options of Python, `-c` and `-` among them, are refused: put the program in a file.

Mirrors: nothing; it does what `python script.py` does
Differs: glasstorch answers `import torch` and everything below torch, whether torch is installed or not.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import zipfile
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import pairwise
from pkgutil import get_importer
from types import CodeType, ModuleType, TracebackType
from typing import Any

import glasstorch
from glasstorch import _as_torch
from glasstorch.core.errors import ArgumentError
from glasstorch.core.unknown_names import as_glasstorch, offered_names

USAGE = "\n".join(__doc__.splitlines()[:10])
OUR_FRAMES = (
    __file__,
    _as_torch.__file__,
    "<frozen runpy>",
    "<frozen importlib._bootstrap>",
    "<frozen importlib.util>",
)


def main(arguments: list[str]) -> int:
    """Run what the command line names; returns the exit code unless the program exits by itself."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    if arguments[0] == "--version":
        print(f"glasstorch {glasstorch.version.glasstorch}, with the names of PyTorch {glasstorch.__version__}")
        return 0
    if arguments[0] == "--list":
        return print_names()
    if arguments[0] == "--where":
        return print_where(arguments[1:])
    if arguments[0] == "--report":
        if len(arguments) < 3:
            return fail("Arguments expected for --report: the page to write, and a program", 2)
        from glasstorch.compiler.reports import until_the_end

        until_the_end(os.path.abspath(arguments[1]))
        return main(arguments[2:])
    if arguments[0] == "-m":
        if len(arguments) == 1:
            return fail("Argument expected for the -m option: the name of a module", 2)
        return run_module(arguments[1], arguments[1:])
    if arguments[0].startswith("-"):
        return fail(f"unknown option {arguments[0]}\n{USAGE}", 2)
    return run_script(arguments[0], arguments)


def fail(message: str, code: int) -> int:
    """Print what is wrong, as Python does before a program starts; returns the exit code."""
    print(f"python -m glasstorch: {message}", file=sys.stderr)
    return code


def run_script(path: str, arguments: list[str]) -> int:
    """Run a file as `python path` would, or the `__main__.py` in a folder or zip file."""
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        return run_folder(path, arguments)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        return fail(f"can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}", 2)
    begin(arguments)
    put_first_in_path(os.path.dirname(os.path.realpath(path)))
    path = os.path.join(os.getcwd(), path)  # and as given, which is what Python shows
    # Not this module's `from __future__` lines: the program has its own.
    code = compile(source, path, "exec", dont_inherit=True)
    run_as_main(code, __file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
    return 0


def run_folder(path: str, arguments: list[str]) -> int:
    """Run the `__main__.py` in a folder or zip file."""
    begin(arguments)
    put_first_in_path(os.path.abspath(path))
    finder = get_importer(os.path.abspath(path))
    spec = None if finder is None else finder.find_spec("__main__", None)
    if spec is None:
        return fail(f"can't find '__main__' module in {os.path.abspath(path)!r}", 1)
    run_spec(spec)
    return 0


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module, or the `__main__` in a package, as `python -m name` would."""
    begin(arguments)
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            package, name = name, f"{name}.__main__"
            spec = importlib.util.find_spec(name)
            if spec is None:
                return fail(f"No module named {name}; {package!r} is a package and cannot be directly executed", 1)
    except (ModuleNotFoundError, ValueError) as error:  # ValueError: a name with an empty part
        return fail(f"Error while finding module specification for {name!r} ({type(error).__name__}: {error})", 1)
    if spec is None:
        return fail(f"No module named {name}", 1)
    sys.argv[0] = spec.origin or name
    run_spec(spec)
    return 0


def begin(arguments: list[str]) -> None:
    """What every program finds: glasstorch as torch, its arguments, and errors that show its own lines."""
    _as_torch.install()
    sys.excepthook = print_without_our_frames
    sys.argv = arguments


def put_first_in_path(folder: str) -> None:
    """Where the program's own modules are found first, in place of the folder that this runner was started in."""
    if sys.flags.safe_path:  # `python -P`, which wants neither
        return
    sys.path[0] = folder


def run_spec(spec: ModuleSpec) -> None:
    """Run a module that was found, as the main program."""
    loader: Any = spec.loader
    code = loader.get_code(spec.name)
    facts = {"__file__": spec.origin, "__cached__": spec.cached, "__loader__": loader}
    run_as_main(code, **facts, __spec__=spec, __package__=spec.parent)


def run_as_main(code: CodeType, **facts: Any) -> None:
    """Run a program in a fresh `__main__`, of which these facts are known."""
    program = ModuleType("__main__")
    vars(program).update(facts)
    sys.modules["__main__"] = program
    exec(code, vars(program))


def print_without_our_frames(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print an error as if Python had run the program: the frames of this runner are left out."""
    hint = _as_torch.hint_for(error)
    if hint is not None:
        error.add_note(hint)
    for one in chain_of(error):
        one.__traceback__ = without_our_frames(one.__traceback__)
    sys.__excepthook__(kind, error, error.__traceback__)


def chain_of(error: BaseException) -> list[BaseException]:
    """An error, and those that led to it or that it groups."""
    found: list[BaseException] = []
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is not None and all(one is not other for other in found):
            found.append(one)
            pending += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return found


def without_our_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The same traceback without our frames."""
    kept: list[TracebackType] = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename not in OUR_FRAMES:
            kept.append(traceback)
        traceback = traceback.tb_next
    for entry, following in pairwise(kept):
        entry.tb_next = following
    if not kept:
        return None
    kept[-1].tb_next = None
    return kept[0]


def print_names() -> int:
    """Print every public name of every module that a program can import as torch's; returns the exit code."""
    modules = {name: importlib.import_module(as_glasstorch(name)) for name in sorted(_as_torch.torch_modules())}
    return print_text("\n".join(f"{n}\n    " + " ".join(offered_names(vars(m))) for n, m in modules.items()))


def print_where(names: list[str]) -> int:
    """Print where functions are declared and computed; returns the exit code."""
    from glasstorch._where import described  # here, because it reads the sources of the library

    if not names:
        return fail("Argument expected for the --where option: a name of PyTorch, such as torch.linalg.solve", 2)
    found, code = [], 0
    for name in names:
        try:
            found.append(described(name))
        except ArgumentError as error:
            code = fail(str(error), 1)
    return (print_text("\n\n".join(found)) if found else 0) or code


def print_text(text: str) -> int:
    """Print what may be long, to a reader who may close the pipe, as `| head` does; returns the exit code."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes again at exit: send that to devnull.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
