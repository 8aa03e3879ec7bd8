"""How are operators declared and kernels registered?

Mirrors: torch/library.py (Library, impl, fallthrough_kernel), aten/src/ATen/core/library.cpp,
    aten/src/ATen/core/dispatch/Dispatcher.cpp
Differs: `define` returns the operator itself, where PyTorch returns its name. A kernel replaced with
    `allow_override=True` is replaced without a warning. A Library is a `with` block, too.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from glasstorch.core.errors import RegistrationError, SchemaError
from glasstorch.core.keys import DispatchKey, parse_key
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch import undeclared
from glasstorch.dispatch.operator import Boxed, Kernel, Operator, registry
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.dispatch.schema_reader import parse_schema
from glasstorch.dispatch.tagged import TAGGED_SCHEMAS
from glasstorch.dispatch.tags import Tag

COMPOSITE = DispatchKey.CompositeImplicitAutograd
STRIDED_ONLY = Tag.strided_only.name
DEVICES = (DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.Meta, DispatchKey.PrivateUse1)
Kernels = dict[DispatchKey, list[Kernel]]
F = TypeVar("F", bound=Callable[..., Any])


HERE = str(Path(__file__).parents[1]) + os.sep  # the prefix of the file names of the library's code objects


def caller(depth: int) -> str:
    """file:line of the code that registers a kernel."""
    frame = sys._getframe(depth + 1)
    return place(frame.f_code.co_filename, frame.f_lineno)


def place(file: str, line: int) -> str:
    """file:line in readable form: relative to the library's folder, or with the number of a notebook's cell.

    Mirrors: what CppFunction::debug (torch/library.h) is given, "registered at FILE:LINE"
    """
    if file.startswith(HERE):
        return f"{_from_here(file)}:{line}"
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    cell = shell.compile.format_code_name(file) if shell is not None else None  # ("Cell", "In[3]")
    return f"{file if cell is None else ' '.join(cell)}:{line}"


@cache
def _from_here(file: str) -> str:
    """A file of the library, from its folder; two thousand kernels are registered from some three hundred files."""
    return file[len(HERE) :].replace(os.sep, "/")


def _described(operator: Operator) -> str:
    """The schema of an operator and where it was declared; an undeclared one has neither."""
    if not operator.text:
        return f"{operator.name}\n    no debug info"
    return f"{operator.schema}\n    registered at {operator.defined_at}"


def _dispatch_key(name: str | DispatchKey) -> DispatchKey:
    """A dispatch key by name; an unknown name is refused with the ones that exist."""
    return name if isinstance(name, DispatchKey) else parse_key(name)


def define(
    name: str, text: str, where: str, tags: Sequence[str] = (), alias_of: str | None = None, family: str = ""
) -> OpOverload:
    """Add an operator. `text` is its schema, parsed on first use; `alias_of` names no namespace.

    A user's operator has no family.
    """
    with registry.lock:
        if name in registry.operators:
            raise RegistrationError(
                f"Tried to register an operator ({text}) with the same name and overload name multiple times. "
                f"{name} was already defined at {registry.operators[name].defined_at}; refused the one at {where}"
            )
        operator = OpOverload(name, text, where, tags, alias_of, family)
        if (waiting := undeclared.declared(name)) is not None:
            operator.kernels = waiting.kernels
        registry.operators[name] = operator
    return operator


def register(name: str, kernel: Kernel, allow_override: bool = False) -> Operator:
    """Register a kernel, which becomes the active one for its operator and key."""
    with registry.lock:
        operator = undeclared.find_or_wait(name)
        stack = operator.kernels.setdefault(kernel.key, [])
        if stack and not allow_override:
            raise RegistrationError(
                f"{name} already has a {kernel.key.name} kernel, registered at {stack[-1].where}; refused the one at "
                f"{kernel.where}. Pass allow_override=True to replace it"
            )
        stack.append(kernel)
        registry.changed(operator)
    return operator


class KernelTable:
    """How the library's own layers register kernels: one key, functions that take `(keys, *arguments)`.

    Such a kernel calls no operator, so it needs no guard around it.
    """

    def __init__(self, key: str, calls_operators: bool = False, takes_keys: bool = True) -> None:
        self.key = _dispatch_key(key)
        self.calls_operators = calls_operators
        self.takes_keys = takes_keys

    def impl(self, *names: str) -> Callable[[F], F]:
        """Register the function below for operators of the namespace aten."""

        def decorate(function: F) -> F:
            for name in names:
                self.add(name, function, caller(1))
            return function

        return decorate

    def add(self, name: str, function: Boxed, where: str | None = None) -> None:
        """Register one function under one operator's name."""
        where = where or caller(1)
        operator = registry.find(f"aten::{name}")
        if STRIDED_ONLY not in operator.words:
            keys: tuple[DispatchKey, ...] = (self.key,)
        else:
            keys = self._devices_of(operator)
        for key in keys:
            register(f"aten::{name}", Kernel(function, key, where, self.takes_keys, self.calls_operators, table=self))

    def _devices_of(self, operator: Operator) -> tuple[DispatchKey, ...]:
        """Where a kernel of an operator stands that serves no sparse tensor: on each device instead of every backend.

        A device's own kernel is left alone, and takes the place of the one for every backend.
        """
        if self.key is DispatchKey.CompositeExplicitAutograd:
            return tuple(key for key in DEVICES if not operator.kernels.get(key))
        for kernel in operator.kernels.get(self.key, [])[-1:]:
            if isinstance(kernel.table, KernelTable) and kernel.table.key is not self.key:
                operator.kernels[self.key].clear()
        return (self.key,)

    def add_fast(self, name: str, function: Boxed) -> Boxed:
        """Let a fast function run in front of an operator's kernel, which the operator keeps; returns that kernel.

        See Note [Plain and fast] (dispatch/fast.py).
        """
        operator = registry.find(f"aten::{name}")
        with registry.lock:
            stack = operator.kernels.get(self.key)
            if not stack:
                raise RegistrationError(f"{operator.name} has no {self.key.name} kernel for a fast one to stand before")
            kernel = stack[-1]
            if kernel.fast is not None:
                raise RegistrationError(f"{operator.name} already has a fast {self.key.name} kernel: {kernel.fast}")
            stack[-1] = replace(kernel, fast=function)
            registry.changed(operator)
        return kernel.function


KINDS: Final = ("DEF", "FRAGMENT", "IMPL")
RESERVED: Final = ("prim",)  # the interpreter of TorchScript has its own operators there
ALIAS_ANALYSES: Final = ("", "FROM_SCHEMA", "CONSERVATIVE")

on_removal: Final[list[Callable[[Operator], None]]] = []  # called with each operator that is removed
_defined_at: Final[dict[str, str]] = {}  # namespace -> where a Library of kind DEF was made


@dataclass(slots=True)
class _Registered:
    """What one Library has registered. It outlives the Library, whose end takes it back."""

    namespace: str | None  # of which the Library is the only one of kind DEF
    operators: list[Operator] = field(default_factory=list)
    kernels: list[tuple[Kernels, Kernel]] = field(default_factory=list)  # each with all of its operator
    fallbacks: list[tuple[DispatchKey, Kernel]] = field(default_factory=list)
    others: list[Callable[[], None]] = field(default_factory=list)  # what else is to be called at the end

    def take_back(self) -> None:
        """Remove all of it; a second time does nothing."""
        with registry.lock:
            for of_operator, kernel in self.kernels:
                of_operator[kernel.key].remove(kernel)
            for key, _ in self.fallbacks:
                del registry.fallbacks[key]
            for operator in self.operators:
                if registry.operators.get(operator.name) is operator:
                    del registry.operators[operator.name]
                    undeclared.left(operator)
                    for forget in on_removal:
                        forget(operator)
            undeclared.forget_empty()
            for end in self.others:
                end()
            if self.namespace is not None:
                _defined_at.pop(self.namespace, None)
                self.namespace = None
            everything = (self.kernels, self.fallbacks, self.operators, self.others)
            if any(everything):
                registry.changed()
            for held in everything:
                held.clear()


class Library:
    """A set of declarations and kernels that can be removed together.

    `kind` is "DEF" to declare a new namespace, "FRAGMENT" to add operators to one that exists, "IMPL" to register
    kernels. Leaving the `with` block, `close()`, or the end of the last reference to the Library removes them all and
    puts back what they had replaced.

    >>> with Library("demo", "DEF") as library:
    ...     operator = library.define("twice(Tensor x) -> Tensor")
    ...     library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in KINDS:
            raise ValueError(f"Unsupported kind: {kind}; expected one of {', '.join(KINDS)}")
        if ns in RESERVED and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if dispatch_key:
            _dispatch_key(dispatch_key)  # refuses an unknown one
        where = self._place()
        if kind == "DEF":
            taken = _defined_at.get(ns) or ("the library itself" if ns == "aten" else None)
            if taken:
                raise RegistrationError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                    f"definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, "
                    f"use Library('{ns}', 'IMPL'); to define operators in several places, Library('{ns}', "
                    f"'FRAGMENT').  It was defined at {taken}; refused the one at {where}"
                )
            _defined_at[ns] = where
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._registered = _Registered(ns if kind == "DEF" else None)
        self._closed = False
        self._end = weakref.finalize(self, self._registered.take_back)
        self._end.atexit = False

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Tag | Sequence[Tag] = ()) -> OpOverload:
        """Declare an operator: `name.overload(Type argument, ...) -> Type`, and what its tags say of it.

        `alias_analysis` is taken as PyTorch takes it; the schema says what aliases what.
        """
        if alias_analysis not in ALIAS_ANALYSES:
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        self._check_open()
        if self.kind == "IMPL":
            raise RegistrationError(
                f'def("{schema.partition("(")[0]}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block. '
                f"A Library of kind 'IMPL' registers kernels; use kind 'DEF' or 'FRAGMENT'"
            )
        try:
            parsed = FunctionSchema.parse(schema)
        except SchemaError:
            parse_schema(schema, False)  # which says in PyTorch's words where it is wrong, unless PyTorch could read it
            raise
        if parsed.namespace not in (None, self.ns):
            raise RegistrationError(
                f"Explicitly provided namespace ({parsed.namespace}) in schema string does not match namespace of "
                f"enclosing TORCH_LIBRARY block ({self.ns}). Leave it out, or use a Library of {parsed.namespace}"
            )
        given = (tags,) if isinstance(tags, Tag) else tuple(tags)
        for tag in given:
            if tag in TAGGED_SCHEMAS:
                TAGGED_SCHEMAS[tag](parsed)
        name = parsed.qualified_name.partition("::")[2]
        text = schema.strip().removeprefix(f"{self.ns}::")
        where = self._place()
        operator = define(f"{self.ns}::{name}", f"{self.ns}::{text}", where, [tag.name for tag in given])
        self._registered.operators.append(operator)
        return operator

    def impl(
        self,
        op_name: str | Operator,
        fn: Boxed,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool | None = None,
    ) -> None:
        """Register a kernel for one operator and key; the key is the Library's, or else CompositeImplicitAutograd.

        `fn` is called as the operator was, without arguments that equal their defaults; `with_keyset=True` passes the
        key set first. A kernel that the key has already is replaced, with a warning at the first time in a process;
        `allow_override=True` says that this is meant, and `allow_override=False` refuses to replace a user's.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = _dispatch_key(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")
        name = self._own_name(op_name)
        if self.dispatch_key and key is not _dispatch_key(self.dispatch_key):
            raise RegistrationError(
                f'impl("{name}", ...): Explicitly provided dispatch key ({key.name}) is inconsistent with the dispatch '
                f"key of the enclosing TORCH_LIBRARY_IMPL block ({self.dispatch_key}). Use another Library, of that key"
            )
        self._check_open()
        self.register(name, Kernel(fn, key, self._place(), with_keyset, by_user=True), allow_override)

    def register(self, name: str, kernel: Kernel, allow_override: bool | None = None) -> None:
        """Register a kernel for an operator of this namespace, to be removed with the Library."""
        full = f"{self.ns}::{name}"
        existing = undeclared.find(full)
        if kernel.key is DispatchKey.Meta and existing is not None and existing.has_kernel_for(COMPOSITE):
            raise RegistrationError(
                f"We should not register a meta kernel directly to the operator '{name}', because it has a "
                f"CompositeImplicitAutograd kernel in core. Instead we should let the operator decompose, and ensure "
                f"that we have meta kernels for the base ops that it decomposes into."
            )
        with registry.lock:
            operator = undeclared.find_or_wait(full)
            before = next(reversed(operator.kernels.get(kernel.key, ())), None)
            if allow_override is False and before is not None and before.by_user:
                raise RegistrationError(
                    f"This is not allowed since there's already a kernel registered from python overriding {name}'s "
                    f"behavior for {kernel.key.name} dispatch key and {self.ns} namespace. It was registered at "
                    f"{before.where}; refused the one at {kernel.where}"
                )
            register(full, kernel, allow_override=True)
            self._registered.kernels.append((operator.kernels, kernel))
        # Kernels for the device meta are replaced without a word, as in PyTorch, which replaces many of its own.
        if before is not None and not allow_override and kernel.key is not DispatchKey.Meta:
            warn_once(
                f"Warning only once for all operators,  other operators may also be overridden.\n"
                f"  Overriding a previously registered kernel for the same operator and the same dispatch key\n"
                f"  operator: {_described(operator)}\n"
                f"  dispatch key: {kernel.key.name}\n"
                f"  previous kernel: registered at {before.where}\n       new kernel: registered at {kernel.where}",
                about="a kernel that replaces another",
            )

    def fallback(self, fn: Boxed, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register `fn(operator, *arguments)` for every operator that has no kernel for a key.

        It belongs to no namespace of operators: the Library's must be "_". `with_keyset=True` passes the key set first.
        """
        if self.ns != "_":
            raise RegistrationError(
                f'Fallback can only be registered using library fragment on the global namespace "_" but it is '
                f"{self.ns}"
            )
        assert dispatch_key or self.dispatch_key, "dispatch_key must not be empty for fallback"
        key = _dispatch_key(dispatch_key or self.dispatch_key)
        self._check_open()
        kernel = Kernel(fn, key, self._place(), with_keyset, by_user=True)
        with registry.lock:
            if key in registry.fallbacks:
                raise RegistrationError(
                    f"Tried to register multiple backend fallbacks for the same dispatch key {key.name}; previous "
                    f"registration {registry.fallbacks[key].where}, new registration {kernel.where}"
                )
            registry.fallbacks[key] = kernel
            registry.changed()
        self._registered.fallbacks.append((key, kernel))

    def at_end(self, function: Callable[[], None]) -> None:
        """Call a function when what this Library registered is removed."""
        self._registered.others.append(function)

    def close(self) -> None:
        """Remove what this Library registered; it registers nothing from now on."""
        self._closed = True
        self._registered.take_back()

    _destroy = close

    def _place(self) -> str:
        """Where the code stands that called a method of this Library."""
        return caller(2)

    def _check_open(self) -> None:
        assert not self._closed, "Library object has been destroyed"

    def _own_name(self, op_name: str | Operator) -> str:
        """The name of an operator without the namespace, which must be this Library's."""
        if isinstance(op_name, Operator):
            op_name = op_name.name
        elif not isinstance(op_name, str):
            raise RegistrationError(
                f"impl should be passed either a name or an OpOverload object as the first argument, got "
                f"{type(op_name)}"
            )
        namespace, _, name = op_name.rpartition("::")
        if namespace not in ("", self.ns):
            raise RegistrationError(
                f'impl("{op_name}", ...): Explicitly provided namespace ({namespace}) in operator name does not match '
                f"namespace of enclosing TORCH_LIBRARY block ({self.ns}). Leave it out, or use a Library of {namespace}"
            )
        return name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
