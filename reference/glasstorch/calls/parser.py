"""How is the overload of a Python call resolved?

Mirrors: torch/csrc/utils/python_arg_parser.h (PythonArgParser)
Differs: `__torch_function__` is not looked up.

The generated functions call the operator themselves if every argument fits their first overload as it is. Everything
else comes here: other overloads, numbers for tensors, `view(2, 3)` for `view([2, 3])`, keyword arguments, out=.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from glasstorch.calls.arguments import device_of, dtype_of
from glasstorch.calls.old_orders import OLD_ORDERS, warn_of_old_order
from glasstorch.calls.signature import TUPLE, Mismatch, Signature, type_name
from glasstorch.core.errors import ArgumentTypeError, DeviceError, DtypeError
from glasstorch.core.hooks import required
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

    @cached_property
    def is_factory(self) -> bool:
        """Whether one of the overloads creates a tensor on a given device."""
        return any(signature.is_factory for signature in self.signatures)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
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

    def _check_owner(self, value: object) -> None:
        """Refuse a method called on the class with something that is not a tensor: `Tensor.add(1, 2)`."""
        if self.is_method and self.signatures[0].has_self:
            raise ArgumentTypeError(
                f"descriptor '{self.name}' for 'Tensor' objects doesn't apply to a '{type(value).__name__}' object; "
                "expected a Tensor first"
            )

    def by_names(self, others: dict[str, Any], **arguments: Any) -> Any:
        """A call with keywords that are not parameters of the generated function.

        `axis` may replace a `dim` that was left out, but not come beside one.
        """
        return self(**self._given(arguments), **others)

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
        mismatches = []
        for signature in signatures:
            try:
                return signature, signature.bind(args, kwargs)
            except Mismatch as mismatch:
                mismatches.append(mismatch.with_traceback(None))  # its traceback would keep this frame alive
        renamed = _with_torch_names(kwargs)
        if renamed != list(kwargs):
            return self.choose(signatures, args, dict(zip(renamed, kwargs.values(), strict=True)), out)
        in_old_order = self._in_old_order(signatures, args, kwargs)
        if in_old_order is not None:
            return in_old_order
        self._say_who_is_not_asked([*args, *kwargs.values()])
        as_method = self.is_method
        reasons = [mismatch.reason(as_method) for mismatch in mismatches]
        if out is not None:
            others = [s for s in self.out_signatures if s not in signatures]
            reasons += [f"argument 'out' must be {s.kind_of_out}, not {type_name(out)}" for s in others]
            signatures, kwargs = [*signatures, *others], {**kwargs, "out": out}
        if len(signatures) == 1:
            expected = signatures[0].text(as_method)
            raise ArgumentTypeError(f"{self.name}(): {reasons[0]}; expected {self.name}{expected}")
        named = [f"{k}={type_name(v)}" for k, v in kwargs.items() if v is not None or k not in OPTIONS]
        got = ", ".join([*map(type_name, args[as_method:]), *named])
        texts = [s.text(as_method) for s in signatures]
        lines = "".join(f"\n * {text}\n      {reason}" for text, reason in zip(texts, reasons, strict=True))
        raise ArgumentTypeError(
            f"{self.name}() received an invalid combination of arguments - got ({got}), but expected one of:{lines}"
        )

    def _say_who_is_not_asked(self, values: Iterable[Any]) -> None:
        """Refuse an object that PyTorch would let answer for the call, saying that it is not asked here."""
        for value in values:
            if hasattr(type(value), "__torch_function__") and not isinstance(value, TensorImpl):
                raise ArgumentTypeError(
                    f"{self.name}(): an argument is a {type(value).__name__}, which answers for calls by "
                    "__torch_function__; glasstorch does not ask it, and expects a Tensor"
                )

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
            raise ArgumentTypeError(
                f"{self.name}() has no out= form; expected one of {[str(s) for s in self.signatures]}"
            )
        takes_list = self.out_signatures[0].outs[0].type.is_list
        kinds = {s.kind_of_out for s in self.out_signatures}
        if len(kinds) == 1 and isinstance(out, list | tuple) != (kinds == {TUPLE}):
            raise ArgumentTypeError(f"{self.name}(): argument 'out' must be {kinds.pop()}, not {type_name(out)}")
        outs = list(out) if isinstance(out, list | tuple) else [out]
        for tensor in outs:
            if not isinstance(tensor, TensorImpl):
                raise ArgumentTypeError(f"{self.name}(): argument 'out' must be Tensor, not {type_name(tensor)}")
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
