"""What does the key Python do: how does a call reach `__torch_dispatch__`?

Mirrors: aten/src/ATen/core/PythonFallbackKernel.cpp (pythonFallback), torch/csrc/PyInterpreter.cpp (dispatch, detach),
    torch/csrc/utils/python_arg_parser.cpp (handle_torch_function_no_python_arg_parser, append_overloaded_arg),
    torch/csrc/utils.cpp (pushPyOutToStack)
Differs: PythonTLSSnapshot is a fallthrough, since autograd's kernels switch no keys off.

# Note [Who is asked]
A call is passed to the innermost mode. If that returns NotImplemented, or there is none, the tensors among the
arguments are asked whose classes have a `__torch_dispatch__`: each class once, from left to right, a subclass before
its bases. All are given the operator itself, the classes that would be asked, and the arguments as a Python program
would write them: those that equal their defaults left out, numbers as numbers. While a handler runs, all keys above
Python are off; the mode that runs is off the stack, and a subclass must unwrap its arguments to end the recursion.

# Note [The options of a factory]
PyTorch's functions in Python, and its methods `new_...`, tell a factory on which device, and that the memory is not
pinned, where their caller has said nothing; an operator that is called by itself is told what it was given. Here the
functions leave both out, as no kernel needs them, and so they are filled in for the modes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

from glasstorch.core import return_types
from glasstorch.core.device import CPU, chosen, chosen_device
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    BELOW_ADINPLACEORVIEW,
    DUAL,
    FUNCTIONALITY_BIT,
    FUNCTIONALIZE,
    PYTHON,
    RECORDED,
    below,
)
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.mode_stack import included_for, modes
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.record import recorder
from glasstorch.dispatch.schema import Type

SNAPSHOT = FUNCTIONALITY_BIT["PythonTLSSnapshot"]
OF_SUBCLASSES = PYTHON | SNAPSHOT  # the keys of a tensor whose class has a `__torch_dispatch__`
BELOW_PYTHON = below("Python")
ALLOWED_INSIDE = BELOW_PYTHON | PYTHON | RECORDED | DUAL

_REQUIRED = object()


class _Form:
    """What the fallback asks about an operator's schema at each call."""

    __slots__ = (
        "defaults",
        "lists",
        "names",
        "named",
        "needs",
        "one_tensor",
        "options",
        "positional",
        "returns",
        "scalars",
        "tensors",
        "written",
    )

    def __init__(self, operator: Operator) -> None:
        schema = operator.schema
        parameters = schema.arguments
        self.positional = len(schema.positional)
        self.names = tuple(a.name for a in parameters)
        self.defaults = tuple(_REQUIRED if a.default is None else a.default_value for a in parameters)
        self.scalars = tuple(a.type.base == "Scalar" for a in parameters)
        self.tensors = tuple(i for i, a in enumerate(parameters) if a.type.is_tensor_like)
        self.lists = tuple(i for i, a in enumerate(parameters) if a.type.is_list)
        self.options = _options_of(operator)
        # Positional arguments up to this one are always given.
        self.needs = max((i + 1 for i in range(self.positional) if self.defaults[i] is _REQUIRED), default=0)
        self.returns = schema.returns
        kind = schema.returns[0].type if len(schema.returns) == 1 else None
        # Whatever a handler returns, an operator that writes to its arguments returns those.
        names = {r.type.alias for r in schema.returns if r.type.is_write}
        whole = len(schema.returns) == sum(r.type.is_write for r in schema.returns)
        written = tuple(i for i, a in enumerate(parameters) if whole and a.type.alias in names and not a.type.is_list)
        self.written = written if len(written) == len(schema.returns) else ()
        # The type with names in which a Python function returns several results.
        named = getattr(return_types, operator.name.partition("::")[2].partition(".")[0], None)
        self.named = (
            named if len(schema.returns) > 1 and len(getattr(named, "fields", ())) == len(schema.returns) else None
        )
        self.one_tensor = kind is not None and kind.is_tensor_like and not (kind.is_list or kind.is_optional)

    def is_default(self, i: int, value: Any) -> bool:
        """Whether an argument equals its default, and so is left out."""
        default = self.defaults[i]
        if value is default:
            return True
        if default is _REQUIRED or value is None or default is None or isinstance(value, TensorImpl):
            return False
        if type(value) in (list, tuple) or isinstance(default, list | tuple):
            return isinstance(value, list | tuple) and isinstance(default, list | tuple) and [*value] == [*default]
        return bool(value == default) and (not self.scalars[i] or type(value) is type(default))


_forms: dict[Operator, _Form] = {}


def python_fallback(operator: Operator, keys: int, *arguments: Any) -> Any:  # hot path: benchmarks/library.py
    """Pass a call of any operator to modes and subclasses; see Note [Who is asked]."""
    form = _forms.get(operator)
    if form is None:
        form = _forms[operator] = _Form(operator)
    asked: tuple[Any, ...] = ()
    given = list(arguments)
    for i in form.tensors:
        value = arguments[i]
        if isinstance(value, TensorImpl):
            if value.key_set & PYTHON:
                asked = with_its_class(asked, value)
            elif value._number is not None:
                given[i] = value._number
        elif value is not None:
            for element in value:
                if element is not None and element.key_set & PYTHON:
                    asked = with_its_class(asked, element)
    stack = modes.get()
    if not (stack or asked):  # the key was put into the set without a mode
        return operator.redispatch(keys & BELOW_PYTHON, *arguments)
    for i in form.lists:
        if isinstance(given[i], tuple):
            given[i] = list(given[i])
    if form.options and not _is_called_by_itself():
        for i, value in form.options:
            if given[i] is None:
                given[i] = (chosen_device() or CPU) if value is CPU and chosen.ever else value
    named, defaults = {}, form.defaults
    for i in range(form.positional, len(given)):
        if given[i] is not defaults[i] and not form.is_default(i, given[i]):
            named[form.names[i]] = given[i]
    count, needs = form.positional, form.needs
    while count > needs and (given[count - 1] is defaults[count - 1] or form.is_default(count - 1, given[count - 1])):
        count -= 1
    args = tuple(given[:count])
    types = tuple(map(type, asked))
    result: Any = NotImplemented
    if stack:
        result = _ask_mode(stack, operator, types, args, named)
    if result is NotImplemented and asked:
        result = ask_subclasses(asked, operator, types, args, named)
    if result is NotImplemented:
        raise ArgumentTypeError(refused(operator, stack, types))
    if not form.one_tensor:
        _check_result(operator, result)
    elif not isinstance(result, TensorImpl):
        raise ArgumentError(f"Unable to cast {result} to Tensor")
    if form.one_tensor:
        return arguments[form.written[0]] if form.written else result
    if form.written:
        result = tuple(arguments[i] for i in form.written)
    if isinstance(result, list | tuple):
        return tuple(result) if form.named is None else form.named(result)
    return result


def _options_of(operator: Operator) -> tuple[tuple[int, Any], ...]:
    """The places of the options that are always given, and what they are; see Note [The options of a factory]."""
    names = [a.name for a in operator.schema.arguments]
    if not {"dtype", "layout", "device", "pin_memory"}.issubset(names) or "non_blocking" in names:
        return ()  # a conversion keeps what it is not told
    dtype = operator.schema.arguments[names.index("dtype")].default_value  # of indices it is int64, which goes unsaid
    options = {"dtype": dtype, "device": CPU, "pin_memory": False}
    if operator.schema.arguments[0].type.is_tensor_like:  # it is made where that is
        del options["device"]
    return tuple((names.index(name), value) for name, value in options.items() if value is not None)


def _is_called_by_itself() -> bool:
    """Whether a factory is called as `torch.ops.aten.ones`: up to that call there is no function, and no program."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code not in CALLS:
        module = frame.f_globals["__name__"]
        if module == FUNCTIONS or not module.startswith(LIBRARY):
            return False
        frame = frame.f_back
    return frame is not None


# The code of what calls an operator by itself; calls/ops.py adds that of packets.
CALLS: Final = {Operator.__call__.__code__, OpOverload.__call__.__code__}
LIBRARY: Final = "glasstorch."
FUNCTIONS: Final = "glasstorch.operators.generated.functions"


def _ask_mode(stack: Any, operator: Operator, types: tuple[type, ...], args: Any, named: Any) -> Any:
    """What the innermost mode answers, with that mode and all keys above Python switched off."""
    outer = stack[:-1]
    included, allowed = active_keys.get()
    keys_token = active_keys.set((included_for(outer, included), allowed & ALLOWED_INSIDE))
    modes_token = modes.set(outer)
    profiled = recorder.get()
    begun = None if profiled is None else profiled.begin("PythonDispatchMode")
    try:
        rules = operator.__dict__.get("torch_dispatch_rules")  # of torch.library.register_torch_dispatch
        if rules is not None and (rule := rules.get(type(stack[-1]))) is not None:
            return rule(stack[-1], operator, types, args, named)
        return stack[-1].__torch_dispatch__(operator, types, args, named)
    finally:
        modes.reset(modes_token)
        active_keys.reset(keys_token)
        if profiled is not None and begun is not None:
            profiled.end(begun)


def ask_subclasses(asked: Sequence[Any], operator: Operator, types: tuple[type, ...], args: Any, named: Any) -> Any:
    """What the first of the tensors answers that does not refuse, with all keys above Python switched off."""
    included, allowed = active_keys.get()
    keys_token = active_keys.set((included, allowed & ALLOWED_INSIDE))
    profiled = recorder.get()
    begun = None if profiled is None else profiled.begin("PythonSubclass")
    try:
        rules = operator.__dict__.get("torch_dispatch_rules")
        for tensor in asked:
            if rules is not None and (rule := rules.get(type(tensor))) is not None:
                result = rule(type(tensor), operator, types, args, named)
            else:
                result = tensor.__torch_dispatch__(operator, types, args, named)
            if result is not NotImplemented:
                return result
        return NotImplemented
    finally:
        active_keys.reset(keys_token)
        if profiled is not None and begun is not None:
            profiled.end(begun)


def with_its_class(asked: tuple[Any, ...], tensor: TensorImpl) -> tuple[Any, ...]:
    """The tensors to ask, and one more if its class is not among theirs: before the first that it is a subclass of."""
    kind, place = type(tensor), len(asked)
    for i, other in enumerate(asked):
        if type(other) is kind:
            return asked
        if place == len(asked) and issubclass(kind, type(other)):
            place = i
    return (*asked[:place], tensor, *asked[place:]) if overrides_dispatch(kind) else asked


def overrides_dispatch(kind: type) -> bool:
    """Whether a class of tensors has a `__torch_dispatch__` that is not the one which every tensor has."""
    return getattr(kind, "__torch_dispatch__", _disabled_torch_dispatch_impl) is not _disabled_torch_dispatch_impl


def is_taken_apart(kind: type) -> bool:
    """Whether a class of tensors says how they are taken apart into others and put together again."""
    return hasattr(kind, "__tensor_flatten__") and hasattr(kind, "__tensor_unflatten__")


def keys_of_class(kind: type, keys: int) -> int:
    """The key set of a tensor as an instance of a class: with Python where that has a `__torch_dispatch__`."""
    return keys | OF_SUBCLASSES if overrides_dispatch(kind) else keys & ~OF_SUBCLASSES


def _disabled_torch_dispatch_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run a call below Python: no mode and no subclass is asked. What `super().__torch_dispatch__` leads to."""
    included, allowed = active_keys.get()
    token = active_keys.set((included, allowed & BELOW_PYTHON))
    try:
        result = func(*args, **(kwargs or {}))
    finally:
        active_keys.reset(token)
    for made in result if isinstance(result, list | tuple) else (result,):
        if isinstance(made, TensorImpl) and made.key_set & PYTHON:  # a plain view has its base's keys
            made.key_set = keys_of_class(type(made), made.key_set)
    return result


def is_seen(tensor: TensorImpl) -> bool:
    """Whether a mode or the tensor's class sees what is done to a tensor now."""
    included, allowed = active_keys.get()
    return bool((tensor.key_set | included) & allowed & PYTHON)


def detached(tensor: TensorImpl) -> Any:
    """What a mode or the tensor's class takes for the tensor without its history; they share a version counter.

    Where writes are being removed, they see the call that this makes of it.
    """
    detach = registry.find("aten::detach")
    included, allowed = active_keys.get()
    keys = (tensor.key_set | included) & allowed
    if keys & FUNCTIONALIZE:
        made = detach.table[keys & BELOW_ADINPLACEORVIEW](keys & BELOW_ADINPLACEORVIEW, tensor)
        made._version_counter = tensor.version_counter() if tensor.key_set & ADINPLACEORVIEW else None
        return made
    stack, types = modes.get(), (type(tensor),)
    made = _ask_mode(stack, detach, types, (tensor,), {}) if stack else NotImplemented
    if made is NotImplemented and overrides_dispatch(type(tensor)):
        made = ask_subclasses((tensor,), detach, types, (tensor,), {})
    if not isinstance(made, TensorImpl):
        raise ArgumentTypeError(refused(detach, stack, types))
    made._version_counter = tensor.version_counter() if tensor.key_set & ADINPLACEORVIEW else None
    return made


def refused(operator: Operator | str, stack: Sequence[Any], types: Sequence[type]) -> str:
    """What is said where a mode, or the tensors of these classes, did not answer."""
    handlers = [*(f"  - mode object {mode!r}" for mode in stack[-1:]), *(f"  - tensor subclass {k!r}" for k in types)]
    name = operator if isinstance(operator, str) else f"_ops.{operator}"
    return (
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_dispatch__ handlers returned "
        f"NotImplemented:\n\n{chr(10).join(handlers)}\n\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )


def _check_result(operator: Operator, result: Any) -> None:
    """Refuse a result that does not fit the schema: autograd above could not handle it."""
    returns = operator.schema.returns
    if len(returns) == 1:
        _check_one(returns[0].type, result)
    elif returns:
        if not isinstance(result, list | tuple) or len(result) != len(returns):
            raise ArgumentError(f"Unable to cast {result!r} to the {len(returns)} results of {operator.name}")
        for returned, value in zip(returns, result, strict=True):
            if value is not None:  # a gradient that was not asked for, as convolution_backward leaves out
                _check_one(returned.type, value)


def _check_one(kind: Type, value: Any) -> None:
    if not kind.is_tensor_like or (value is None and kind.is_optional):
        return
    if kind.is_list:
        fits = isinstance(value, list | tuple) and all(isinstance(element, TensorImpl) for element in value)
    else:
        fits = isinstance(value, TensorImpl)
    if not fits:
        raise ArgumentError(f"Unable to cast {value!r} to {kind.base}{'[]' if kind.is_list else ''}")
