"""Which arguments does a call in a graph have, by the names of its parameters?

Mirrors: torch/fx/operator_schemas.py
Differs: every function of the library is written in Python, so its operators' schemas are looked up by its name.
"""

from __future__ import annotations

import inspect
import itertools
import numbers
import typing
import warnings
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.random.generator import Generator
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.runtime_schema import FunctionSchema
from glasstorch.fx._names import at, qualified_name
from glasstorch.nn.modules.module import Module
from glasstorch.python_forms.tensor_types import typename

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]

OPERATORS: Final = ("torch.", "torch._C._nn.", "torch._C._fft.", "torch._C._linalg.", "torch._C._special.")

# The classes of Python's values for the types of a schema, as TorchScript writes them.
TYPES: Final[dict[str, Any]] = {
    **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple", "Union")},
    "Tensor": Tensor, "Device": device, "device": device, "Layout": layout, "number": numbers.Number,
    "Generator": Generator, "Storage": UntypedStorage, "PyObject": Any, "NoneType": type(None), "Stream": Any,
    "t": typing.TypeVar("t"), "MemoryFormat": memory_format, "ScalarType": dtype,
}  # fmt: skip


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _schemas_of(op: Any) -> list[FunctionSchema] | None:
    """The schemas of an operator, of all its overloads for a packet or a function of torch; None for others."""
    if isinstance(op, OpOverload):
        return [op._schema]
    if not hasattr(op, "overloads"):
        try:
            path = qualified_name(op)
        except (AttributeError, RuntimeError):
            return None
        if path.rpartition(".")[0] + "." not in OPERATORS:
            return None
        op = at(f"ops.aten.{op.__name__}")
        if op is None:
            return None
    return [getattr(op, name)._schema for name in op.overloads()]


@cache
def _signature_of(schema: FunctionSchema) -> Signature:
    parameters: list[Parameter] = []
    for argument in schema.arguments:
        kind: Any = Parameter.KEYWORD_ONLY if argument.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
        name = "input" if argument.name == "self" else argument.name
        if name == "from":  # a word of Python's, so neither it nor what stands before it can be given by name
            kind = Parameter.POSITIONAL_ONLY
            parameters = [one.replace(kind=kind) for one in parameters]
        default = argument.default_value if argument.has_default_value() else Parameter.empty
        parameters.append(Parameter(name, kind, default=default, annotation=_type_of(argument.type)))
    returned = [_type_of(result.type) for result in schema.returns]
    annotation = tuple(returned) if len(returned) > 1 else returned[0] if returned else None
    return Signature(parameters, return_annotation=annotation)


def _type_of(described: Any) -> Any:
    return eval(described.annotation_str, TYPES)  # the text is that of a type in the library's own schemas


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of an operator's overloads; None for a function that is none.

    With `return_schemas`, a pair: the signatures, and the schemas that they are made of.
    """
    schemas = _schemas_of(op)
    signatures = None if schemas is None else [_signature_of(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def check_for_mutable_operation(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise RuntimeError if a call is certainly one of an operator that writes to an argument."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    if not signatures:
        return
    fitting = [schema for signature, schema in zip(signatures, schemas, strict=True) if _fits(signature, args, kwargs)]
    if len(fitting) == 1 and fitting[0].is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {fitting[0]}. FX only supports functional code, so operations that "
            "mutate operands in-place (e.g. via `out` arguments) are not supported"
        )


def _fits(signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def create_type_hint(x: Any) -> Any:
    """The type of a list or tuple whose elements have the types in `x`; anything else is returned as it is.

    >>> create_type_hint([int, int]), create_type_hint((int, str))
    (list[int], tuple[typing.Any, ...])
    """
    if not isinstance(x, list | tuple):
        return x
    common: Any = x[0] if x else Any
    try:
        for kind in x:
            if not issubclass(kind, common):
                common = kind if issubclass(common, kind) else Any
                if common is Any:
                    break
    except TypeError:
        warnings.warn(f"We were not able to successfully create type hint from the type {x}", stacklevel=2)
        return x
    return list[common] if isinstance(x, list) else tuple[common, ...]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether a parameter of one type takes an argument of another."""
    origin = typing.get_origin(signature_type) or signature_type
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(kind, argument_type) for kind in typing.get_args(signature_type))
    if origin is list:
        return _list_matches(signature_type, argument_type)
    if signature_type is int and argument_type is dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if inspect.isclass(argument_type) and inspect.isclass(signature_type):
        return issubclass(argument_type, signature_type)
    return False


def _list_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether a parameter that is a list takes an argument; a list of ints takes one int."""
    element = typing.get_args(signature_type)[0]
    if argument_type is int and element is int:
        return True
    if not inspect.isclass(element):
        warnings.warn(
            f"Does not support nested parametric types, got {signature_type}. Please file a bug.", stacklevel=3
        )
        return False
    given = typing.get_args(argument_type)
    if typing.get_origin(argument_type) is list:
        return issubclass(given[0], element)
    if typing.get_origin(argument_type) is not tuple:
        return False
    return all(kind is Ellipsis or issubclass(kind, element) for kind in given)


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call by the names of the function's parameters, with its defaults; None if it takes any.

    Positional ones stay positional unless `normalize_to_only_use_kwargs`. Of an operator, the overload is the one that
    takes the arguments; if there are several, their types decide, and without them RuntimeError is raised.
    """
    kwargs = kwargs or {}
    target = getattr(target, "_op", target)
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        if choices := getattr(target, "choices", None):  # of two functions, by the value of an argument
            if inspect.signature(choices[0]).parameters != inspect.signature(choices[1]).parameters:
                return None
            target = choices[0]
        return _normalized(inspect.signature(inspect.unwrap(target)), args, kwargs, normalize_to_only_use_kwargs)
    fitting = [signature for signature in signatures if _fits(signature, args, kwargs)]
    if len(fitting) > 1 and arg_types is None and kwarg_types is None:
        listed = "\n".join(map(str, fitting))
        raise RuntimeError(
            f"Tried to normalize arguments to {typename(target)} but the schema match was ambiguous! Please provide "
            f"argument types to the normalize_arguments() call. Available schemas:\n{listed}"
        )
    if len(fitting) > 1:
        of_types = (one for one in signatures if _types_fit(one, arg_types or (), kwarg_types or {}))
        fitting = list(itertools.islice(of_types, 1))
    return _normalized(fitting[0], args, kwargs, normalize_to_only_use_kwargs) if fitting else None


def _types_fit(signature: Signature, arg_types: tuple[Any, ...], kwarg_types: dict[str, Any]) -> bool:
    try:
        bound = signature.bind(*arg_types, **kwarg_types)
    except TypeError:
        return False
    return all(type_matches(signature.parameters[name].annotation, kind) for name, kind in bound.arguments.items())


def normalize_module(
    root: Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of a submodule by the names of the parameters of its `forward`; None unless of torch.nn.

    RuntimeError is raised if `root` has no submodule at the path `target`.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if getattr(at("nn"), type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalized(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_keywords: bool
) -> ArgsKwargsPair | None:
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    is_random = list(signature.parameters) == ["input", "from", "to", "generator"]
    if not is_random and any(parameter.kind not in named for parameter in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    count = 0 if only_keywords else len(args)
    values = list(bound.arguments.items())
    return ArgsKwargsPair(tuple(value for _, value in values[:count]), dict(values[count:]))


__getattr__ = refuse_unknown_names(__name__)
