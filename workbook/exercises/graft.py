"""How does a reader's piece take the place of its counterpart inside glasstorch?

Before the library loads, a finder is put in front of those that find modules. Right after a module has run that holds
a counterpart, and before any other module can import it, the counterpart becomes a trampoline that calls the reader's
function and counts. Kernels and formulas are put in place when the library has loaded. It holds for one process.

# Note [Watching]
In rung 1 nothing is replaced: the trampolines call the counterpart, and refuse only a call that comes from answer.py.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from workbook.exercises.asking import AuthorError, Refused, error_refusal, kind_of, line_of, missing, short
from workbook.exercises.catalogue import Piece
from workbook.exercises.report import Refusal, listing

LIBRARY = "glasstorch"
FACTS = ("shape", "dtype", "ndim", "device", "geometry")  # of an argument, that a formula may name by themselves
Function = Callable[..., Any]


class Graft:
    """The pieces of one exercise, their counterparts, and how often each piece was called.

    `watching` is for rung 1: see Note [Watching].
    """

    def __init__(self, pieces: Sequence[Piece], answer: Path, *, watching: bool = False) -> None:
        self.pieces, self.path, self.watching = tuple(pieces), answer, watching
        self.module: ModuleType | None = None  # the reader's, once it is loaded
        self.calls = {piece.answer: 0 for piece in pieces}
        self.sentences: dict[str, str] = {}
        self.refusal: Refusal | None = None  # the first, whatever became of it in a test
        self.finder = Finder(self)

    def install(self) -> None:
        """Be there before the library is."""
        assert LIBRARY not in sys.modules, "the library was loaded before the graft was in place"
        sys.meta_path.insert(0, self.finder)

    def complete(self, module: ModuleType) -> None:
        """Take the reader's module, load the library, and put in place what has not come by itself."""
        importlib.import_module(LIBRARY)
        for piece in self.pieces:
            if piece.kind in ("function", "policy"):
                holder = piece.target.partition(":")[0]
                try:
                    importlib.import_module(holder)
                except ModuleNotFoundError:
                    raise author_error(piece, f"there is no module {holder}") from None
            self.reader_function(module, piece)
        self.module = module
        for piece in self.pieces:
            if piece.kind == "formula":
                self._graft_formula(piece)

    def targets(self, module: str) -> list[Piece]:
        """The pieces whose counterpart is in this module."""
        return [p for p in self.pieces if p.kind in ("function", "policy") and p.target.partition(":")[0] == module]

    def loaded(self, name: str, module: ModuleType) -> None:
        """A module has run: replace what is to be replaced in it."""
        for piece in self.targets(name):
            self._replace(piece, module)
        if name == LIBRARY:
            for piece in self.pieces:
                if piece.kind == "kernel":
                    self._graft_kernel(piece)

    def reader_function(self, module: ModuleType, piece: Piece) -> Any:
        """The function of answer.py; refuses where it is missing or cannot be called."""
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
        return tuple(f"{self.sentences[p.answer]}; it was called {times(self.calls[p.answer])}" for p in self.pieces)

    # --- functions and policies ---

    def _replace(self, piece: Piece, module: ModuleType) -> None:
        """Put a trampoline in a module, or in a class of it."""
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
        setattr(holder, name, wrapper(trampoline) if wrapper is not None else trampoline)
        file = module.__name__.replace(".", "/") + ".py"
        where = f"{path}.{name}" if path else name
        what = f"{where} of {file}" if piece.kind == "function" else f"the decision {where} of {file}"
        self.sentences[piece.answer] = f"{what} is yours"

    def trampoline(self, piece: Piece, original: Function | None) -> Function:
        """A function that calls the reader's and counts; it keeps the signature of its counterpart."""
        own = str(self.path)

        def trampoline(*args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_code.co_filename == own:
                raise self.refused(calls_itself(piece, sys._getframe(1).f_lineno))
            module = self.module
            if module is None:  # watching, or the library is still loading
                assert original is not None
                return original(*args, **kwargs)
            self.calls[piece.answer] += 1
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

    # --- kernels ---

    def _graft_kernel(self, piece: Piece) -> None:
        """Register a trampoline in place of the kernel that is in force for a key."""
        from glasstorch.core.errors import RegistrationError
        from glasstorch.core.keys import DispatchKey
        from glasstorch.dispatch.library import register
        from glasstorch.dispatch.operator import registry

        try:
            operator = registry.find(piece.target)
            key = DispatchKey[piece.key]
        except RegistrationError as error:
            raise author_error(piece, str(error)) from None
        except KeyError:
            raise author_error(piece, f"there is no dispatch key {piece.key!r}") from None
        in_force = operator.kernels.get(key)
        if not in_force:
            keys = listing([k.name for k, kernels in operator.kernels.items() if kernels]) or "no key"
            raise author_error(piece, f"{piece.target} has no {piece.key} kernel; it has kernels for {keys}")
        kernel = in_force[-1]
        trampoline = self.trampoline(piece, kernel.function)
        holder = sys.modules.get(getattr(kernel.function, "__module__", ""))
        name = getattr(kernel.function, "__name__", "")
        if holder is not None and vars(holder).get(name) is kernel.function:
            setattr(holder, name, trampoline)
        if not self.watching:
            register(piece.target, replace(kernel, function=trampoline, where="answer.py"), allow_override=True)
        self.sentences[piece.answer] = f"the {piece.key} kernel of {piece.target} is yours"

    # --- formulas ---

    def _graft_formula(self, piece: Piece) -> None:
        """Generate node and kernel of an operator again, from a row whose formula is the reader's function."""
        from glasstorch.autograd.generated import autograd_kernels
        from glasstorch.core.errors import SchemaError
        from glasstorch.dispatch.library import KernelTable, register
        from glasstorch.dispatch.operator import Kernel
        from glasstorch.operators.gen.regenerate import load_row, regenerate

        op, _, argument = piece.target.rpartition(".")
        try:
            row = load_row(op, argument)
        except SchemaError as error:
            raise author_error(piece, str(error)) from None
        assert self.module is not None
        function = self.reader_function(self.module, piece)
        name = f"yours_{piece.target.replace('.', '_')}"
        arguments = formula_arguments(piece, function, row, self.path)
        text = regenerate(row, f"{name}({', '.join(arguments)})", name)

        class Overriding(KernelTable):
            """Registers in place of what is there."""

            def add(self, name: str, function: Function, where: str | None = None) -> None:
                kernel = Kernel(function, self.key, "answer.py", self.takes_keys, self.calls_operators)
                register(f"aten::{name}", kernel, allow_override=True)

        space = vars(autograd_kernels)
        table = space["AUTOGRAD"]
        space |= {name: self.trampoline(piece, None), "AUTOGRAD": Overriding("Autograd")}
        try:
            exec(compile("from __future__ import annotations\n" + text, "<regenerated>", "exec"), space)
        finally:
            space["AUTOGRAD"] = table
        saved = [a.rpartition("=")[2] for a in arguments if a not in ("grad", "grads")]
        keeps = f"its node {row.node} saves {listing(saved)}" if saved else f"its node {row.node} saves nothing"
        self.sentences[piece.answer] = f"the derivative of {op} by {argument} is yours: {keeps}"


class Finder(MetaPathFinder):
    """Finds nothing itself: it makes the loader of a module tell the graft that the module has run."""

    def __init__(self, graft: Graft) -> None:
        self.graft = graft
        self.finding = False

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


def author_error(piece: Piece, problem: str) -> AuthorError:
    """The error of an exercise.toml that names what is not there."""
    key = f" key = {piece.key!r}" if piece.key else ""
    return AuthorError(f"exercise.toml: [[graft]] kind = {piece.kind!r} target = {piece.target!r}{key}: {problem}")


def calls_itself(piece: Piece, line: int) -> Refusal:
    """The refusal of an answer that calls its counterpart."""
    return Refusal(
        asked=f"your own {piece.answer}",
        came=f"your answer calls the piece that it replaces ({piece.target})",
        accepted="an answer that does the work itself",
        line=line,
    )


def needs_itself(piece: Piece, error: RecursionError, path: Path, code: object) -> Refusal:
    """The refusal of an endless recursion: through the library, or the answer's own."""
    refusal = error_refusal(error, path, f"a {piece.answer} that comes to an end")
    trace, passes = error.__traceback__, 0
    while trace is not None:
        passes += trace.tb_frame.f_code is code
        trace = trace.tb_next
    if passes < 2:
        return refusal
    because = (
        f"what your answer asks of the library needs {piece.answer} itself, which is yours: it calls itself without end"
    )
    return replace(refusal, because=because)


def times(count: int) -> str:
    """How often, in words.

    >>> times(0), times(1), times(5213)
    ('not once', 'once', '5,213 times')
    """
    return {0: "not once", 1: "once"}.get(count, f"{count:,} times")


def formula_arguments(piece: Piece, function: Function, row: Any, path: Path) -> list[str]:
    """What the formula names: the parameters of the reader's function, as a row of derivatives.yaml would write them.

    `self_shape` stands for `self.shape`: the fact is saved, and not the tensor.
    """
    known = {"grad": "grad", "grads": "grads", **{name: name for name in (*row.arguments, *row.results)}}
    facts = {f"{owner}_{fact}": f"{owner}.{fact}" for owner in (*row.tensors, *row.results) for fact in FACTS}
    found = []
    for parameter in inspect.signature(function).parameters.values():
        text = known.get(parameter.name) or facts.get(parameter.name)
        if text is None or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise Refused(
                Refusal(
                    asked=f"the derivative of {row.op} by {row.argument}, as a function of what it needs",
                    came=f"{piece.answer}{inspect.signature(function)}: there is nothing called {parameter}",
                    accepted=f"parameters among {listing([*known])}",
                    because="the names of the parameters decide what the node saves",
                    line=line_of(function, path),
                )
            )
        found.append(f"{parameter.name}={text}" if parameter.kind is parameter.KEYWORD_ONLY else text)
    return found
