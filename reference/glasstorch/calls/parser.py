"""How is the overload of a Python call resolved?

Mirrors: torch/csrc/utils/python_arg_parser.h (PythonArgParser)
Differs: the generated functions tell which arguments they were given, and not always whether by position or by name.

The generated functions call the operator themselves if every argument fits their first overload as it is. Everything
else comes here: other overloads, numbers for tensors, `view(2, 3)` for `view([2, 3])`, keyword arguments, out=.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import takewhile
from types import FunctionType
from typing import Any

from glasstorch.calls.arguments import LISTS, NUMBERS, UnreadableError, device_of, dtype_of
from glasstorch.calls.call_site import as_written, handed_on, is_spread
from glasstorch.calls.inherited import known_answer
from glasstorch.calls.old_orders import OLD_ORDERS, warn_of_old_order
from glasstorch.calls.overloaded import (
    SKIP_ONE,
    UNASKED,
    DisableTorchFunction,
    NobodyAsked,
    always,
    answer_of,
    answers,
    switched_off,
    to_be_asked,
)
from glasstorch.calls.refusal import expected, refusal
from glasstorch.calls.signature import TUPLE, Mismatch, Signature, python_name
from glasstorch.core.errors import ArgumentTypeError, DeviceError, DtypeError, NoDataError
from glasstorch.core.hooks import required
from glasstorch.core.plain_types import SILENT, TENSORS
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.operator import keys_of, registry

OPTIONS = ("dtype", "layout", "device", "pin_memory", "memory_format")  # for these, None means that they were not given


class _Missing:
    """The value of a required parameter that was given neither by position nor by name."""

    def __repr__(self) -> str:
        return "<required>"


MISSING: Any = _Missing()


class PythonFunction:
    """All overloads behind one Python name; calling it resolves one and runs its operator."""

    is_method = False  # whether errors count positions after `self`
    public: Any = None  # the function that calls this parser, and that others are asked about
    is_exact = False  # whether it passes its arguments as they were given

    def __init__(self, name: str, overloads: Sequence[str], outs: Sequence[str] = (), namespace: str = "aten") -> None:
        self.name = name
        self._overloads = [f"{namespace}::{overload}" for overload in overloads]
        self._outs = [f"{namespace}::{out}" for out in outs]

    @cached_property
    def signatures(self) -> list[Signature]:
        return [Signature(self.name, registry.find(name)) for name in self._overloads]

    @cached_property
    def out_signatures(self) -> list[Signature]:
        return [Signature(self.name, registry.find(name)) for name in self._outs]

    def longest(self) -> PythonFunction:
        """A parser of the overload that has the most parameters, and of its out= form."""
        most, out = (max(s, key=lambda s: len(s.parameters)) for s in (self.signatures, self.out_signatures))
        return PythonFunction(self.name, [most.operator.qualified_overload], [out.operator.qualified_overload])

    @cached_property
    def counts_self(self) -> Callable[[type], bool]:
        """Whether modes are told the type of a tensor that does not answer: where it is a method's only argument."""
        alone = self.is_method and len(self.signatures) == 1 and len(self.signatures[0].parameters) == 1
        return always if alone else answers

    @cached_property
    def is_factory(self) -> bool:
        """Whether one of the overloads creates a tensor on a given device."""
        return any(signature.is_factory for signature in self.signatures)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not SILENT.issuperset(map(type, args)) or (kwargs and not SILENT.issuperset(map(type, kwargs.values()))):
            unasked = self.unasked
            if unasked is not None:
                answer = known_answer(unasked, args, kwargs)
                if answer is not UNASKED:
                    return answer
            answer = self.ask(args, kwargs)
            if answer is not UNASKED:
                return answer
            if unasked is not None:
                return unasked(*args, **kwargs)
        return self.resolve(args, kwargs)

    def resolve(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Choose the overload that the arguments fit, and run its operator."""
        if args and not isinstance(args[0], TensorImpl):
            self._check_owner(args[0])
        out = kwargs.pop("out", None)
        if out is not None:
            return self._call_out(args, kwargs, out)
        requires_grad = kwargs.pop("requires_grad", False) if self.is_factory else False
        signature, bound = self.choose(self.signatures, args, kwargs)
        keys = compute_keys(keys_of(bound))
        result = signature.operator.table[keys](keys, *bound)
        return required(result) if requires_grad else result

    @cached_property
    def unasked(self) -> Callable[..., Any] | None:
        """The public function as it is where nobody is asked (Note [Nobody is asked]); None if it is not generated."""
        public = self.public
        is_generated = public is not None and public.__globals__.get(f"_parse_{public.__name__}") is self
        return with_names(public, _names_unasked(public.__globals__)) if is_generated else None

    def ask(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The answer of a mode or an argument; UNASKED if there is nobody to ask."""
        public = self.public
        if public is None:
            return UNASKED
        if switched_off.get() == SKIP_ONE:
            with DisableTorchFunction():
                return self(*args, **kwargs)
        asked = to_be_asked(args, kwargs)
        if asked is None:
            return UNASKED
        if not asked:  # a mode is; an object that answers may stand where a size or a name is expected
            self._check_accepted(args, kwargs)
        written = None if self.is_exact else as_written(public, self.is_method)
        if written is not None:
            args, kwargs = written
        elif not self.is_exact:
            args, kwargs = self._as_given(args, kwargs)
        args = [a._number if isinstance(a, TensorImpl) and a._number is not None else a for a in args]
        name = f"torch.Tensor.{self.name}" if self.is_method else f"torch.{self.name}"
        # PyTorch passes an empty dictionary on where one was spread out, which no form that was read can show.
        unseen = not kwargs and not self.is_method and (written is None or handed_on.get() is not None)
        spread = unseen and is_spread(public)
        return answer_of(asked, public, name, args, kwargs or ({} if spread else None), self.counts_self)

    @cached_property
    def _accepted(self) -> set[Any]:
        """The types of arguments with which calls were accepted before others were asked about them."""
        return set()

    def _check_accepted(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Refuse a call that no overload accepts: no mode is asked about it, as in PyTorch."""
        if kwargs.get("out") is not None:
            return
        kinds = (*map(_kind_of, args), *[(name, _kind_of(value)) for name, value in kwargs.items()])
        if kinds in self._accepted:
            return
        if args and not isinstance(args[0], TensorImpl):
            self._check_owner(args[0])
        given = {name: value for name, value in kwargs.items() if name != "out"}
        if self.is_factory:
            given.pop("requires_grad", None)
        with NobodyAsked():
            self.choose(self.signatures, args, given)
        self._accepted.add(kinds)

    def _as_given(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """The arguments without those that only the function's own defaults gave."""
        code, function = self.public.__code__, self.public
        names = code.co_varnames[: code.co_argcount]
        last = len(names) - len(function.__defaults__ or ())
        defaults: dict[str, Any] = dict(zip(names[last:], function.__defaults__ or (), strict=True))
        defaults |= function.__kwdefaults__ or {}
        count = len(args)
        while count and count <= len(names) and _is_default(args[count - 1], defaults, names[count - 1]):
            count -= 1
        return args[:count], {name: value for name, value in kwargs.items() if not _is_default(value, defaults, name)}

    def _check_owner(self, value: object) -> None:
        """Refuse a method called on the class with something that is not a tensor: `Tensor.add(1, 2)`."""
        if self.is_method and self.signatures[0].has_self:
            raise ArgumentTypeError(
                f"descriptor '{self.name}' for 'Tensor' objects doesn't apply to a '{type(value).__name__}' object; "
                "expected a Tensor first"
            )

    def by_names(self, others: dict[str, Any], more: Sequence[Any] = (), /, **arguments: Any) -> Any:
        """A call with keywords that are not parameters of the generated function, or more arguments than it has.

        `axis` may replace a `dim` that was left out, but not come beside one.
        """
        if more:
            before = [arguments.pop(python_name(p)) for p in self.signatures[0].positional]
            return self(*before, *more, **self._given(arguments), **others)
        given = self._given(arguments)
        if not SILENT.issuperset(map(type, given.values())):
            first = list(takewhile(given.__contains__, arguments))
            answer = self.ask(
                [given[name] for name in first], {n: v for n, v in given.items() if n not in first} | others
            )
            if answer is not UNASKED:
                return answer
        # Python has bound these by position or by name; what is given from the first on without a gap counts as by
        # position, which is what an error should say of them.
        args = []
        for parameter in self.signatures[0].positional:
            name = python_name(parameter)
            if name not in given:
                break
            args.append(given.pop(name))
        return self(*args, **given, **others)

    def with_more(self, args: Sequence[Any], **arguments: Any) -> Any:
        """A call with more positional arguments than the generated function has."""
        return self(*args, **self._given(arguments))

    def _given(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments that the caller gave; one that equals its default counts as not given."""
        defaults = {p.name: p.default for p in self.signatures[0].parameters if p.has_default}
        return {
            name: value
            for name, value in arguments.items()
            if value is not MISSING and not (name in defaults and _is_same(value, defaults[name]))
        }

    def choose(
        self, signatures: Sequence[Signature], args: Sequence[Any], kwargs: dict[str, Any], out: Any = None
    ) -> tuple[Signature, list[Any]]:
        """The first overload that accepts the arguments, with its bound arguments; `out` fits every overload."""
        unreadable: Exception | None = None
        for signature in signatures:
            try:
                return signature, signature.bind(args, kwargs)
            except Mismatch:
                continue
            except (UnreadableError, NoDataError) as error:
                unreadable = unreadable or error
        if unreadable is not None:
            raise unreadable
        renamed = dict(zip(_with_torch_names(kwargs), kwargs.values(), strict=True))
        if renamed.keys() != kwargs.keys():
            for signature in signatures:
                with suppress(Mismatch):
                    return signature, signature.bind(args, renamed)
        in_old_order = self._in_old_order(signatures, args, renamed)
        if in_old_order is not None:
            return in_old_order
        raise self._refused(args, kwargs if out is None else {**kwargs, "out": out})

    def _refused(self, args: Sequence[Any], kwargs: dict[str, Any]) -> ArgumentTypeError:
        """The error for a call that no overload accepts."""
        if self.public is not None and not self.is_exact:
            args, kwargs = as_written(self.public, self.is_method) or (args, kwargs)
        rows = expected(self.signatures, self.out_signatures, self.is_method)
        defaults = {python_name(p.argument): p.default for p in self.signatures[0].parameters if p.has_default}
        defaults |= dict.fromkeys(OPTIONS, None) | {"out": None, "requires_grad": False}
        # The generated function passes on what the caller left out, too.
        given = {k: v for k, v in kwargs.items() if not (k in defaults and _is_same(v, defaults[k]))}
        known = [python_name(p) for p in self.signatures[0].positional]
        while args and len(args) <= len(known) and _is_same(args[-1], defaults.get(known[len(args) - 1], MISSING)):
            args = args[:-1]
        if self.is_method and args and self.signatures[0].has_self:
            args = args[1:]
        return ArgumentTypeError(refusal(self.name, rows, self.name in OLD_ORDERS, args, given))

    def _in_old_order(
        self, signatures: Sequence[Signature], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Signature, list[Any]] | None:
        """The overload that accepts the arguments in a deprecated order."""
        for order in OLD_ORDERS.get(self.name, ()):
            named = dict(zip(order, args, strict=False))
            if len(named) < len(args) or not named.keys().isdisjoint(kwargs):
                continue
            for signature in signatures:
                with suppress(Mismatch):
                    bound = signature.bind((), named | kwargs)
                    warn_of_old_order(self.name, order, [str(s) for s in signatures])
                    return signature, bound
        return None

    def _call_out(self, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        if not self.out_signatures:
            raise self._refused(args, {**kwargs, "out": out})
        takes_list = self.out_signatures[0].outs[0].type.is_list
        kinds = {s.kind_of_out for s in self.out_signatures}
        if len(kinds) == 1 and isinstance(out, list | tuple) != (kinds == {TUPLE}):
            raise self._refused(args, {**kwargs, "out": out})
        outs = list(out) if isinstance(out, list | tuple) else [out]
        for tensor in outs:
            if not isinstance(tensor, TensorImpl):
                raise self._refused(args, {**kwargs, "out": out})
        requires_grad = kwargs.pop("requires_grad", False) if self.is_factory else False
        fitting = [s for s in self.out_signatures if takes_list or len(s.outs) == len(outs)]
        if not fitting:
            raise ArgumentTypeError(
                f"{self.name}(): out= got {len(outs)} tensors, expected {len(self.out_signatures[0].outs)}"
            )
        for name in OPTIONS:
            if kwargs.get(name, ...) is None:
                del kwargs[name]
        if self.is_factory:
            _check_options_of_out(kwargs, outs[0])
        signature, bound = self.choose(fitting, args, kwargs, out)
        bound += [outs] if takes_list else outs
        keys = compute_keys(keys_of(bound))
        result = signature.operator.table[keys](keys, *bound)
        return required(result) if requires_grad else result

    def __repr__(self) -> str:
        return f"<function {self.name} of operators {', '.join(self._overloads)}>"


def publish(function: Any, parser: PythonFunction) -> None:
    """Tell a parser which public function calls it."""
    parser.public = function
    parser.is_exact = function.__code__.co_argcount == 0 and function.__code__.co_kwonlyargcount == 0


# Where nobody is asked ------------------------------------------------------------------------------------------


# Note [Nobody is asked]
# A call of a tensor whose class answers comes to its parser. Where nobody is to be asked, as inside a handler that
# has switched its class off, the generated function can have its short way all the same: the same code runs again,
# with global names by which all classes of tensors are plain, and by which parsers ask nobody.


class _AskingNobody(PythonFunction):
    """A function's parser that resolves each call at once."""

    def __init__(self, parser: PythonFunction) -> None:
        self.__dict__ = {**vars(parser), "unasked": None}
        self._parser = parser
        self.is_method = parser.is_method

    @cached_property
    def signatures(self) -> list[Signature]:
        return self._parser.signatures

    @cached_property
    def out_signatures(self) -> list[Signature]:
        return self._parser.out_signatures

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.resolve(args, kwargs)

    def ask(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return UNASKED


def with_names(function: Any, names: dict[str, Any]) -> Any:
    """A copy of a function that finds its global names in a namespace.

    The code object is a copy: the interpreter's inline caches of global names belong to it, and must not be shared
    between two namespaces.
    """
    made = FunctionType(function.__code__.replace(), names, function.__name__, function.__defaults__)
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
    made.__doc__, made.__qualname__, made.__module__ = function.__doc__, function.__qualname__, function.__module__
    return made


_unasked: dict[int, dict[str, Any]] = {}  # by the namespace of a module of functions, or of methods


def _names_unasked(names: dict[str, Any]) -> dict[str, Any]:
    """The namespace of generated functions for calls of which nobody is asked."""
    found = _unasked.get(id(names))
    if found is None:
        found = {n: _AskingNobody(v) if isinstance(v, PythonFunction) else v for n, v in names.items()}
        found |= {"PLAIN": TENSORS, "PLAIN_NUMBERS": NUMBERS, "is_tensors": _are_tensors}
        _unasked[id(names)] = found
    return found


def _are_tensors(value: Any) -> bool:
    """As `is_tensors`, for tensors of any class."""
    return type(value) in LISTS and TENSORS.issuperset(map(type, value))


def _kind_of(value: Any) -> Any:
    """The type of an argument, of a list or a tuple with those of its elements."""
    kind = type(value)
    return (kind, *map(type, value)) if kind in LISTS else kind


class MethodParser(PythonFunction):
    """The parser of a function called as a method of its tensor."""

    is_method = True

    def __init__(self, function: PythonFunction) -> None:
        self.name = function.name
        self._function = function

    @cached_property
    def signatures(self) -> list[Signature]:
        return self._function.signatures

    @cached_property
    def out_signatures(self) -> list[Signature]:
        return self._function.out_signatures

    def __repr__(self) -> str:
        return repr(self._function)


# NumPy's names for parameters, tried if no overload accepts the names given.
# Mirrors: numpy_compatibility_arg_names in torch/csrc/utils/python_arg_parser.cpp
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def _is_default(value: object, defaults: dict[str, Any], name: str) -> bool:
    """Whether a value is what a parameter has if it is not given."""
    return name in defaults and (value is defaults[name] or _is_same(value, defaults[name]))


def _is_same(value: object, default: object) -> bool:
    """Whether a value equals a default, which is never a tensor."""
    return type(value) is type(default) and value == default


def _with_torch_names(names: Iterable[str]) -> list[str]:
    """Keyword arguments with NumPy's names replaced by torch's."""
    given = list(names)
    renamed = [NUMPY_NAMES.get(name, name) for name in given]
    return renamed if len(set(renamed)) == len(given) else given


def _check_options_of_out(kwargs: dict[str, Any], out: TensorImpl) -> None:
    """Remove a factory's options from the arguments; together with out=, they must match that tensor.

    Mirrors: check_out_type_matches in tools/autograd/templates/python_torch_functions.cpp
    """
    wanted = dtype_of(kwargs.pop("dtype", out.dtype))
    if wanted is not out.dtype:
        name = getattr(wanted, "scalar_name", wanted)
        raise DtypeError(f"dtype {name} does not match dtype of out parameter ({out.dtype.scalar_name})")
    on = device_of(kwargs.pop("device", out.device))
    if getattr(on, "type", None) != out.device.type:
        raise DeviceError(f"device type {on} does not match device type of out parameter ({out.device})")
    for name in ("layout", "pin_memory"):
        kwargs.pop(name, None)
