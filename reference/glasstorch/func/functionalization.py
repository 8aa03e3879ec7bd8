"""What becomes of an operator that writes, or that makes a view, where nothing may be written to?

Mirrors: aten/src/ATen/FunctionalizeFallbackKernel.cpp, torchgen/gen_functionalization_type.py (the kernels that it
    generates), aten/src/ATen/functorch/FunctionalizeInterpreter.cpp
Differs: one boxed kernel for every operator, which reads in the schema what the operator does. Where an operator that
    writes has no functional form here, it works on clones. `resize_` and `set_` have kernels of their own
    (changes_of_storage.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

from glasstorch.core.dtype import can_cast
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    AUTOGRAD_AND_NESTED,
    FUNCTIONALIZE,
    TRANSFORMED,
    WRAPPED,
    DispatchKey,
)
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys, exclude
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.resolve import MATH_KERNEL, Choice, entry_for
from glasstorch.dispatch.schema import Argument, FunctionSchema
from glasstorch.dispatch.tags import Tag
from glasstorch.func.functional_tensor import (
    View,
    commit_update,
    functional,
    inside,
    is_functional,
    replace,
    step,
    sync,
    view_of,
)
from glasstorch.func.layers import BACK, Interpreter, Rest, call, map_result, map_tensors, stack
from glasstorch.func.view_inverses import Views, inverse_of

# Whether a view of a functional tensor is made by the view operator, outside of `functionalize`.
reapply_views: ContextVar[bool] = ContextVar("reapply_views", default=False)


class Functionalizing(Interpreter):
    """The interpreter of `functionalize`: at its level, no key of autograd or of another transform is on."""

    def __init__(self, views: Views) -> None:
        self.views = views

    def process(self, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        included, allowed = active_keys.get()
        off = TRANSFORMED | BACK | WRAPPED | AUTOGRAD_AND_NESTED | ADINPLACEORVIEW
        token = active_keys.set(((included & ~off) | FUNCTIONALIZE, (allowed & ~off) | FUNCTIONALIZE))
        try:
            return call(operator, arguments)
        finally:
            active_keys.reset(token)


class Level(NamedTuple):
    """Where functional tensors are made: which ones are its own, how views are made, and where calls go on."""

    owner: Functionalizing | None
    views: Views
    below: Callable[..., Any]

    def owns(self, value: Any) -> bool:
        return is_functional(value) and inside(value).owner is self.owner

    def value(self, tensor: TensorImpl) -> Any:
        """The value of a functional tensor, up to date; any other tensor as it is."""
        if not self.owns(tensor):
            return tensor
        self.below(sync, tensor)
        return inside(tensor).value

    def wrapped(self, result: Any) -> Any:
        """A result whose tensors are functional."""
        return map_result(lambda tensor: functional(tensor, self.owner), result)


def current_level() -> Level:
    """That of the `functionalize` which runs, or the one outside of all transforms."""
    frames = stack.get()
    if frames and isinstance(frames[-1].interpreter, Functionalizing):
        assert frames[-1].rest is not None
        return Level(frames[-1].interpreter, frames[-1].interpreter.views, frames[-1].rest.call)
    return Level(None, Views(reapply_views.get()), _without_the_key)


def _without_the_key(function: Callable[..., Any], *arguments: Any) -> Any:
    with exclude(FUNCTIONALIZE | AUTOGRAD_AND_NESTED | ADINPLACEORVIEW):
        return function(*arguments)


# The kernel of the key --------------------------------------------------------------------------------------------


def functionalized(operator: Operator, keys: int, *arguments: Any) -> Any:
    """The kernel of the key Functionalize for every operator; one of ours that is composed of others runs those."""
    if operator.namespace == "aten" and (parts := operator.kernels.get(DispatchKey.CompositeImplicitAutograd)):
        return entry_for(operator, Choice(DispatchKey.Functionalize, parts[-1], MATH_KERNEL), keys)(keys, *arguments)
    level, schema = current_level(), operator.schema
    parameters = schema.arguments
    if operator.namespace != "aten" and _has_alias_annotations(schema, level.owner is None):
        raise RuntimeError(
            f"Found a custom (non-ATen) operator whose output has alias annotations: {schema}. A call can be "
            f"functionalized if no argument or result of the operator has one: return new tensors, and take the "
            f"annotations away"
        )
    if Tag.inplace_view in operator.tags:
        return _change_of_geometry(level, operator, arguments)
    if any(parameter.type.is_write for parameter in parameters):
        return _write(level, operator, arguments)
    if schema.is_view and level.owns(arguments[0]):
        return _view(level, operator, arguments)
    found = _tensors(arguments)
    result = level.below(call, operator, map_tensors(level.value, arguments))
    is_new = not found or Tag.of_its_level in operator.tags
    return level.wrapped(result) if is_new or any(map(level.owns, found)) else result


def _has_alias_annotations(schema: FunctionSchema, may_write: bool) -> bool:
    """Whether there is one, but for arguments that are written to where a compiler may give copies of them."""
    of_arguments = [a for a in schema.arguments if a.type.alias and not (may_write and a.type.is_write)]
    return bool(of_arguments) or any(r.type.alias for r in schema.returns)


def _tensors(values: Sequence[Any]) -> list[TensorImpl]:
    found: list[TensorImpl] = []
    map_tensors(found.append, values)
    return found


def _view(level: Level, operator: Operator, arguments: Sequence[Any]) -> Any:
    """A view of a functional tensor is a functional tensor that shares its base.

    The tensor is not brought up to date for it: its view is as old as the tensor, and is made again when it is used.
    """
    wrapper, *rest = arguments
    view = View(operator, tuple(rest), None, inverse_of(operator), level.views)
    made = level.below(call, level.views.operator(operator.qualified_overload), [inside(wrapper).value, *rest])
    if isinstance(made, (list, tuple)):
        return [view_of(wrapper, one, view._replace(number=i)) for i, one in enumerate(made)]
    return view_of(wrapper, made, view)


def _change_of_geometry(level: Level, operator: Operator, arguments: Sequence[Any]) -> Any:
    """`transpose_` and its like turn a functional tensor into a view of what it was."""
    wrapper, *rest = arguments
    values = map_tensors(level.value, arguments)
    if not level.owns(wrapper):
        level.below(call, operator, values)
        return wrapper
    twin = functional_form(operator)
    if twin is None:
        raise RuntimeError(
            f"{operator.name} cannot be functionalized in glasstorch, where a storage does not say which functional "
            f"tensor it is of; make a new tensor, or set this one to a tensor"
        )
    view = View(twin, tuple(rest), None, inverse_of(twin), level.views)
    step(wrapper, level.below(view.make, values[0]), view)
    return wrapper


def _write(level: Level, operator: Operator, arguments: Sequence[Any]) -> Any:
    """Values that an operator would write become the new values of the functional tensors it would write to."""
    parameters = operator.schema.arguments
    places = [i for i, parameter in enumerate(parameters) if parameter.type.is_write]
    targets = _tensors([arguments[i] for i in places])
    values = map_tensors(level.value, arguments)
    if not all(map(level.owns, targets)):
        if any(map(level.owns, _tensors(arguments))):
            raise RuntimeError(
                "mutating a non-functional tensor with a functional tensor is not allowed. Please ensure that all of "
                "your inputs are wrapped inside of a functionalize() call."
            )
        return level.below(call, operator, values)
    twin = functional_form(operator)
    if twin is None:
        for i in places:
            values[i] = level.below(_clones, values[i])
        result = level.below(call, operator, values)
        written = _tensors([values[i] for i in places])
    else:
        kept = range(len(values)) if operator.schema.is_inplace else [i for i in range(len(values)) if i not in places]
        result = level.below(call, twin, [values[i] for i in kept])
        written = _tensors([result])
    for target, value in zip(targets, written, strict=True):
        if not operator.schema.is_out:
            _check_fits(target, value)
        level.below(replace, target, value)
        commit_update(target)
        level.below(sync, target)
    return _returned(level, operator, arguments, result)


def _clones(value: Any) -> Any:
    return map_result(lambda tensor: tensor.clone(), value)


def _check_fits(target: TensorImpl, value: TensorImpl) -> None:
    """Refuse what the operator would refuse to write in place."""
    if value._shape != target._shape:
        raise RuntimeError(
            f"output with shape {list(target._shape)} doesn't match the broadcast shape {list(value._shape)}"
        )
    if not can_cast(value.dtype, target.dtype):
        raise RuntimeError(
            f"result type {value.dtype.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        )


def _returned(level: Level, operator: Operator, arguments: Sequence[Any], result: Any) -> Any:
    """What the operator returns: an argument that it writes to is returned as it was given."""
    schema = operator.schema
    by_alias = {a.type.alias: value for a, value in zip(schema.arguments, arguments, strict=True) if a.type.is_write}
    if not schema.returns:
        return None
    several = len(schema.returns) > 1
    results = [
        by_alias[returned.type.alias] if returned.type.is_write else level.wrapped(result[i] if several else result)
        for i, returned in enumerate(schema.returns)
    ]
    return (
        type(result)(tuple(results))
        if several and isinstance(result, tuple)
        else tuple(results)
        if several
        else results[0]
    )


# What an operator's declaration tells -----------------------------------------------------------------------------


@cache
def functional_form(operator: Operator) -> Operator | None:
    """The operator that computes what this one writes, and returns it: `add.Tensor` of `add_.Tensor` and `add.out`."""
    schema = operator.schema
    kept = [a for a in schema.arguments if not (a.keyword_only and a.type.is_write)]
    wanted = [_declared(argument) for argument in kept]
    for other in registry.overloads(
        operator.namespace, schema.name.removesuffix("_") if schema.is_inplace else schema.name
    ):
        writes = any(argument.type.is_write for argument in other.schema.arguments)
        if not writes and [_declared(argument) for argument in other.schema.arguments] == wanted:
            return other
    return None


def _declared(argument: Argument) -> tuple[Any, ...]:
    kind = argument.type
    return argument.name, kind.base, kind.is_list, kind.is_optional


def register_functionalization() -> None:
    """Register the key's fallback for every operator; no call's key set has the key without a functional tensor."""
    key = DispatchKey.Functionalize
    registry.fallbacks[key] = Kernel(functionalized, key, caller(0), takes_keys=True)
    registry.changed()
