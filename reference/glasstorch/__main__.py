"""Runs a PyTorch program with glasstorch as `torch`.

    python -m glasstorch script.py [arguments]
    python -m glasstorch -m module [arguments]
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
import runpy
import sys
from itertools import pairwise
from types import ModuleType, TracebackType

import glasstorch
from glasstorch import _as_torch
from glasstorch.core.errors import ArgumentError
from glasstorch.core.unknown_names import offered_names

USAGE = "\n".join(__doc__.splitlines()[:9])
OUR_FRAMES = (__file__, _as_torch.__file__, "<frozen runpy>", "<frozen importlib._bootstrap>")


def main(arguments: list[str]) -> int:
    """Run what the command line names; returns the exit code unless the program exits by itself."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    if arguments[0] == "--version":
        print(f"glasstorch {glasstorch.__version__}")
        return 0
    if arguments[0] == "--list":
        return print_names()
    if arguments[0] == "--where":
        return print_where(arguments[1:])
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
    """Run a file as `python path` would."""
    path = os.path.abspath(path)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        return fail(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}", 2)
    _as_torch.install()
    sys.excepthook = print_without_our_frames
    sys.argv = arguments
    sys.path[0] = os.path.dirname(path)
    program = ModuleType("__main__")
    program.__file__ = path
    # Not this module's `from __future__` lines: the program has its own.
    code = compile(source, path, "exec", dont_inherit=True)
    sys.modules["__main__"] = program
    exec(code, program.__dict__)
    return 0


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module as `python -m name` would."""
    _as_torch.install()
    sys.excepthook = print_without_our_frames
    sys.argv = arguments
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        return fail(f"Error while finding module specification for {name!r} ({error})", 1)
    if found is None:
        return fail(f"No module named {name}", 1)
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def print_without_our_frames(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print an error as if Python had run the program: the frames of this runner are left out."""
    traceback = without_our_frames(traceback)
    hint = _as_torch.import_hint(error)
    if hint is not None:
        error.add_note(hint)
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


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
    modules = {name: importlib.import_module(_as_torch.our_name(name)) for name in _as_torch.torch_modules()}
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
