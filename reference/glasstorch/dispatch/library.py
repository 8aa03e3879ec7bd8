"""How are operators declared and kernels registered?

Mirrors: torch/library.py (Library, impl, fallthrough_kernel), aten/src/ATen/core/dispatch/Dispatcher.cpp
Differs: a second kernel for the same key is refused (PyTorch warns) unless `allow_override=True` says that it is meant.
    A Library that is not closed remains registered; PyTorch unregisters it when it is garbage-collected.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import DispatchKey, parse_key
from glasstorch.dispatch.operator import Boxed, Kernel, Operator, registry
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.dispatch.tags import Tag

COMPOSITE = DispatchKey.CompositeImplicitAutograd
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


def _dispatch_key(name: str | DispatchKey) -> DispatchKey:
    """A dispatch key by name; an unknown name is refused with the ones that exist."""
    return name if isinstance(name, DispatchKey) else parse_key(name)


def define(
    name: str, text: str, where: str, tags: Sequence[str] = (), alias_of: str | None = None, family: str = ""
) -> Operator:
    """Add an operator. `text` is its schema, parsed on first use; `alias_of` names no namespace.

    A user's operator has no family.
    """
    with registry.lock:
        if name in registry.operators:
            raise RegistrationError(
                f"the operator {name} was already defined at {registry.operators[name].defined_at}; refused the one at "
                f"{where}"
            )
        operator = registry.operators[name] = Operator(name, text, where, tags, alias_of, family)
    return operator


def register(name: str, kernel: Kernel, allow_override: bool = False) -> Operator:
    """Register a kernel, which becomes the active one for its operator and key."""
    operator = registry.find(name)
    with registry.lock:
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
        register(f"aten::{name}", Kernel(function, self.key, where, self.takes_keys, self.calls_operators, table=self))

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


class Library:
    """A set of declarations and kernels that can be removed together.

    `kind` is "DEF" to declare a new namespace, "FRAGMENT" to add operators to one that exists, "IMPL" to register
    kernels. Leaving the `with` block, or `close()`, removes them all and puts back what they had replaced.

    >>> with Library("demo", "DEF") as library:
    ...     operator = library.define("twice(Tensor x) -> Tensor")
    ...     library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    """

    _namespaces: ClassVar[dict[str, str]] = {}

    def __init__(self, namespace: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported kind: {kind!r}; expected 'DEF', 'FRAGMENT' or 'IMPL'")
        where = caller(1)
        if kind == "DEF":
            taken = self._namespaces.get(namespace) or ("the library itself" if namespace == "aten" else None)
            if taken:
                raise RegistrationError(
                    f"Only a single library can be used to register the namespace {namespace}; it was defined at "
                    f"{taken}, refused the one at {where}. Use kind 'FRAGMENT' to add operators to it"
                )
            self._namespaces[namespace] = where
        self.namespace = namespace
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._defined: list[Operator] = []
        self._registered: list[tuple[Operator, Kernel]] = []
        self._fallbacks: list[DispatchKey] = []

    def define(self, schema: str, *, tags: Tag | Sequence[Tag] = ()) -> Operator:
        """Declare an operator: `name.overload(Type argument, ...) -> Type`, and what its tags say of it."""
        if self.kind == "IMPL":
            raise RegistrationError(f"a Library of kind 'IMPL' cannot define {schema!r}; use 'DEF' or 'FRAGMENT'")
        parsed = FunctionSchema.parse(schema)
        self._check_namespace(parsed.namespace, schema)
        name = parsed.qualified_name.partition("::")[2]
        text = schema.strip().removeprefix(f"{self.namespace}::")
        names = [tag.name for tag in ((tags,) if isinstance(tags, Tag) else tags)]
        operator = define(f"{self.namespace}::{name}", f"{self.namespace}::{text}", caller(1), names)
        self._defined.append(operator)
        return operator

    def impl(
        self,
        op_name: str,
        fn: Boxed,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Register a kernel for one operator and key; the key is the Library's, or else CompositeImplicitAutograd.

        `fn` is called as the operator was, without arguments that equal their defaults; `with_keyset=True` passes the
        key set first.
        """
        key = _dispatch_key(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        namespace, _, name = op_name.rpartition("::")
        self._check_namespace(namespace, op_name)
        if key is DispatchKey.Meta and registry.find(f"{self.namespace}::{name}").has_kernel_for(COMPOSITE):
            raise RegistrationError(
                f"We should not register a meta kernel directly to the operator '{name}', because it has a "
                f"CompositeImplicitAutograd kernel in core. Instead we should let the operator decompose, and ensure "
                f"that we have meta kernels for the base ops that it decomposes into."
            )
        kernel = Kernel(fn, key, caller(1), with_keyset, by_user=True)
        self._registered.append((register(f"{self.namespace}::{name}", kernel, allow_override), kernel))

    def fallback(self, fn: Boxed, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register `fn(operator, *arguments)` for every operator that has no kernel for a key.

        It belongs to no namespace of operators: the Library's must be "_". `with_keyset=True` passes the key set first.
        """
        key = _dispatch_key(dispatch_key or self.dispatch_key)
        if self.namespace != "_":
            raise RegistrationError(
                f"a fallback is for the operators of all namespaces: register it with Library('_', 'IMPL'), not with "
                f"that of {self.namespace!r}"
            )
        kernel = Kernel(fn, key, caller(1), with_keyset, by_user=True)
        with registry.lock:
            if key in registry.fallbacks:
                raise RegistrationError(
                    f"Tried to register multiple backend fallbacks for the same dispatch key {key.name}; previous "
                    f"registration {registry.fallbacks[key].where}, new registration {kernel.where}"
                )
            registry.fallbacks[key] = kernel
            registry.changed()
        self._fallbacks.append(key)

    def close(self) -> None:
        """Remove what this library registered."""
        with registry.lock:
            for operator, kernel in self._registered:
                operator.kernels[kernel.key].remove(kernel)
            for key in self._fallbacks:
                del registry.fallbacks[key]
            for operator in self._defined:
                del registry.operators[operator.name]
            if self.kind == "DEF":
                self._namespaces.pop(self.namespace, None)
            self._registered, self._fallbacks, self._defined = [], [], []
            registry.changed()

    def _check_namespace(self, given: str | None, text: str) -> None:
        if given not in (None, "", self.namespace):
            raise RegistrationError(
                f"{text!r} names the namespace {given}, and this Library is of {self.namespace}; leave the namespace "
                f"out, or use a Library of {given}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
