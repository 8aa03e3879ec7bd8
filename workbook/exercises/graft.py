"""How does a reader's piece take the place of its counterpart inside glasstorch?

Before the library loads, a finder is put in front of those that find modules. Right after a module that holds a
counterpart has run, and before any other module can import it, a trampoline replaces the counterpart: it calls the
reader's function and counts. Kernels and formulas are replaced when the library has loaded. This holds
for one process.

# Note [Whose call]
Only a call that stands in a file of the library shows that the piece carries something: a test that calls the piece
itself would pass without the library. The dispatcher's calls of a kernel and a node's calls of a formula stand there.

# Note [Watching]
In rung 1 nothing is replaced: the trampolines call the counterpart, and refuse only a call that comes from answer.py.
A repair is the exception. Its rung 1 runs programs on the library with the fault, in which the mended function is.

# Note [As if it stood there]
A mended function is a copy of one of the library's. In answer.py it finds the names that it found where it stood:
what answer.py does not define is taken from there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from workbook.exercises.answer_file import LIBRARY, AuthorError, LibraryError, Refused, by_library, error_refusal
from workbook.exercises.asking import missing
from workbook.exercises.catalogue import MENDED, Piece
from workbook.exercises.graft_cuda import MODULES, graft_cuda
from workbook.exercises.graft_formula import graft_formula
from workbook.exercises.graft_kernel import graft_decomposed, graft_kernel, graft_registered
from workbook.exercises.graft_refusals import author_error, calls_itself, needs_itself
from workbook.exercises.report import Refusal
from workbook.exercises.value_text import kind_of, short

Function = Callable[..., Any]


class Graft:
    """The pieces of one exercise, their counterparts, and how often each piece was called.

    `watching` is for rung 1: see Note [Watching].
    """

    def __init__(self, pieces: Sequence[Piece], answer: Path, *, watching: bool = False) -> None:
        self.pieces, self.path, self.watching = tuple(pieces), answer, watching
        self.module: ModuleType | None = None  # the reader's, once it is loaded
        self.calls = {piece.answer: 0 for piece in pieces}  # by the library
        self.others = dict(self.calls)  # by its tests
        self.sentences: dict[str, str] = {}
        self.replaced: dict[Function, Function] = {}  # functions of the library, and the trampolines in their place
        self.refusal: Refusal | None = None  # the first, whatever became of it in a test
        self.finder = Finder(self)

    def install(self) -> None:
        """Install the finder before the library is loaded."""
        assert LIBRARY not in sys.modules, "the library was loaded before the graft was in place"
        sys.meta_path.insert(0, self.finder)

    def load(self) -> None:
        """Load the library, and the modules that contain the counterparts; none of the reader's code runs."""
        holders = {holder: piece for piece in self.pieces if (holder := holder_of(piece))}
        for name in (LIBRARY, *holders):
            try:
                importlib.import_module(name)
            except AuthorError:
                raise
            except Exception as error:
                if (
                    isinstance(error, ModuleNotFoundError)
                    and name in holders
                    and f"{name}.".startswith(f"{error.name}.")
                ):
                    raise author_error(holders[name], f"there is no module {name}") from None
                raise LibraryError(error) from error

    def complete(self, module: ModuleType) -> None:
        """Take the reader's module, and graft the formulas, which are not grafted when a module is loaded."""
        for piece in self.pieces:
            self.reader_function(module, piece)
        for piece in self.pieces:
            if piece.answer == MENDED:  # See Note [As if it stood there].
                for name, value in vars(sys.modules[holder_of(piece)]).items():
                    vars(module).setdefault(name, value)
        self.module = module
        grafted: dict[str, dict[str, str]] = {}
        for piece in self.pieces:
            if piece.kind == "formula":
                function, trampoline = self.reader_function(module, piece), self.trampoline(piece, None)
                self.sentences[piece.answer] = graft_formula(piece, function, trampoline, self.path, grafted)

    def targets(self, module: str) -> list[Piece]:
        """The pieces whose counterpart is in this module."""
        return [piece for piece in self.pieces if holder_of(piece) == module]

    def loaded(self, name: str, module: ModuleType) -> None:
        """Called after a module was loaded: replace the counterparts in it."""
        for piece in self.targets(name):
            if piece.kind == "cuda":
                self._replace_text(piece, module)
            else:
                self._replace(piece, module)
        graft_decomposed(self.replaced)
        if name == LIBRARY:
            graft_registered(self.replaced)
            for piece in self.pieces:
                if piece.kind == "kernel":
                    trampoline_of = functools.partial(self.trampoline, piece)
                    self.sentences[piece.answer] = graft_kernel(piece, trampoline_of, watching=self.watching)

    def reader_function(self, module: ModuleType, piece: Piece) -> Any:
        """The function of answer.py; refuses if it is missing or cannot be called."""
        if not hasattr(module, piece.answer):
            raise Refused(missing(module, piece.answer))
        function: Any = getattr(module, piece.answer)
        if not callable(function):
            came = f"{piece.answer} is {kind_of(function)}: {short(function)}"
            raise Refused(Refusal(asked=f"a function {piece.answer}", came=came))
        return function

    def refused(self, refusal: Refusal) -> Refused:
        """The exception for a refusal, which is kept."""
        self.refusal = self.refusal or refusal
        return Refused(refusal)

    def told(self) -> tuple[str, ...]:
        """What was replaced, and how often it was called, one sentence for each piece."""
        return tuple(
            f"{self.sentences[p.answer]}; it was called {callers(self.calls[p.answer], self.others[p.answer])}"
            for p in self.pieces
        )

    def _replace(self, piece: Piece, module: ModuleType) -> None:
        """Put a trampoline into a module, or into a class in it."""
        path, _, name = piece.target.partition(":")[2].rpartition(".")
        holder: Any = module
        for part in path.split(".") if path else ():
            holder = getattr(holder, part, None)
            if holder is None:
                raise author_error(piece, f"{module.__name__} has no {part}")
        if name not in vars(holder):
            raise author_error(piece, f"{holder.__name__} has no {name}")
        original = vars(holder)[name]
        wrapper = type(original) if isinstance(original, staticmethod | classmethod) else None
        function = original.__func__ if wrapper is not None else original
        if not callable(function) or isinstance(function, type):
            raise author_error(piece, f"{name} of {holder.__name__} is {kind_of(function)}, not a function")
        trampoline = self.trampoline(piece, function)
        self.replaced[function] = trampoline
        setattr(holder, name, wrapper(trampoline) if wrapper is not None else trampoline)
        file = module.__name__.replace(".", "/") + ".py"
        where = f"{path}.{name}" if path else name
        what = f"{where} of {file}" if piece.kind == "function" else f"the decision {where} of {file}"
        self.sentences[piece.answer] = f"{what} is yours"

    def _replace_text(self, piece: Piece, module: ModuleType) -> None:
        """Replace a header by the text that the reader's function returns."""
        texts: list[str] = []

        def text() -> str | None:
            if self.module is not None and not texts:
                texts.append(self.reader_text(self.module, piece))
            return texts[0] if texts else None

        def count() -> None:
            self.calls[piece.answer] += 1

        self.sentences[piece.answer] = graft_cuda(piece, module, text, count)

    def reader_text(self, module: ModuleType, piece: Piece) -> str:
        """The CUDA C++ that a function of answer.py returns; refuses anything else."""
        try:
            text = getattr(module, piece.answer)()
        except Exception as error:  # noqa: BLE001 (whatever the answer raises)
            raise self.refused(error_refusal(error, self.path, f"a {piece.answer} that returns text")) from None
        if not isinstance(text, str):
            came = f"{piece.answer}() returns {kind_of(text)}: {short(text)}"
            raise self.refused(Refusal(asked="CUDA C++ as text", came=came, accepted="a str"))
        return text

    def trampoline(self, piece: Piece, original: Function | None) -> Function:
        """A function that calls the reader's and counts; it keeps the signature of its counterpart."""

        def trampoline(*args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_code.co_filename == str(self.path):
                raise self.refused(calls_itself(piece, sys._getframe(1).f_lineno))
            module = self.module
            if module is None:  # watching, or the library is still loading
                assert original is not None
                return original(*args, **kwargs)
            # See Note [Whose call].
            counts = self.calls if by_library(sys._getframe(1).f_globals.get("__name__", "")) else self.others
            counts[piece.answer] += 1
            try:
                return getattr(module, piece.answer)(*args, **kwargs)
            except RecursionError as error:
                raise self.refused(needs_itself(piece, error, self.path, trampoline.__code__)) from None
            except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
                raise self.refused(error_refusal(error, self.path, f"a {piece.answer} that returns")) from None

        if original is not None:
            functools.update_wrapper(trampoline, original, updated=())
            with contextlib.suppress(ValueError, TypeError):
                trampoline.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
            del trampoline.__wrapped__  # type: ignore[attr-defined]
            for extra in ("cache_clear", "cache_info", "cache_parameters"):  # the library may empty a cache
                if hasattr(original, extra):
                    setattr(trampoline, extra, getattr(original, extra))
        return trampoline


class Finder(MetaPathFinder):
    """Finds nothing itself: it makes the loader of a module tell the graft that the module has run."""

    def __init__(self, graft: Graft) -> None:
        self.graft = graft

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, with a loader that tells."""
        if fullname != LIBRARY and not self.graft.targets(fullname):
            return None
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self.graft.loaded(fullname, module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def holder_of(piece: Piece) -> str:
    """The module after whose load the counterpart is replaced; nothing if that waits for the whole library."""
    if piece.kind == "cuda":
        return MODULES
    return piece.target.partition(":")[0] if piece.kind in ("function", "policy") else ""


def callers(library: int, tests: int) -> str:
    """Who called how often, as text.

    >>> callers(5213, 1), callers(1, 0)
    ('5,213 times by the library, once by its tests', 'once by the library')
    """
    return f"{times(library)} by the library" + (f", {times(tests)} by its tests" if tests else "")


def times(count: int) -> str:
    """How often, as text.

    >>> times(0), times(1), times(5213)
    ('not once', 'once', '5,213 times')
    """
    return {0: "not once", 1: "once"}.get(count, f"{count:,} times")
