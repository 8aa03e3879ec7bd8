"""How do nested transforms take turns?

Mirrors: aten/src/ATen/functorch/DynamicLayer.cpp (dynamicLayerFront, dynamicLayerBack), Interpreter.h
Differs: an interpreter is an object whose method handles a call.

# Note [Levels of transforms]
Each transform that is running has an interpreter on a stack, and its place there is its level. While the stack is not
empty, the key FuncTorchDynamicLayerFrontMode is included, so that every operator comes here first and is handed to the
interpreter on top. That of vmap works out what the operator does to a whole batch, with operators that go to the next
interpreter. That of grad lets autograd record the call at its level: its keys are on, the front key is off, and the
key FuncTorchDynamicLayerBackMode, below autograd, is included. There the call comes back here, and goes on to the next
interpreter with the values inside. Below the last one, a call runs as it would without transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, NoReturn, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.tangents import level as dual_level
from glasstorch.core.keys import FUNCTIONALITY_BIT, TRANSFORMED, WRAPPED, DispatchKey
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, keys_of, registry
from glasstorch.func.wrapped import wrapping

FRONT = TRANSFORMED
BACK = FUNCTIONALITY_BIT["FuncTorchDynamicLayerBackMode"]

Keys = tuple[int, int]  # the keys that are included, and those that are allowed


class Interpreter:
    """One running transform."""

    level = 0

    def process(self, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        """Handle a call; `rest` is where it goes on."""
        raise NotImplementedError

    def come_back(self, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        """Handle a call that autograd has recorded at this level."""
        raise AssertionError(f"{type(self).__name__} has no keys of autograd")


Running = TypeVar("Running", bound=Interpreter)


class Frame(NamedTuple):
    """An interpreter on the stack, and where the call goes on that it handles."""

    interpreter: Interpreter
    rest: Rest | None = None


stack: ContextVar[tuple[Frame, ...]] = ContextVar("transforms", default=())


def current() -> Interpreter | None:
    """The innermost transform that is running."""
    frames = stack.get()
    return frames[-1].interpreter if frames else None


class Rest:
    """The interpreters below one, and with what a call goes on to them: its keys, and its level of forward mode."""

    __slots__ = ("duals", "frames", "keys")

    keys: Keys

    def __init__(self, frames: tuple[Frame, ...]) -> None:
        included, allowed = active_keys.get()
        included &= ~BACK
        self.frames, self.duals = frames, dual_level.get()
        self.keys = (included | FRONT, allowed | FRONT | BACK) if frames else (included & ~FRONT, allowed)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function there."""
        stack_token, keys_token = stack.set(self.frames), active_keys.set(self.keys)
        duals_token = dual_level.set(self.duals)
        try:
            return function(*arguments)
        finally:
            dual_level.reset(duals_token)
            active_keys.reset(keys_token)
            stack.reset(stack_token)


@contextmanager
def running(interpreter: Running) -> Iterator[Running]:
    """Put an interpreter on the stack. Its level is its place there, counted from 1."""
    frames = stack.get()
    interpreter.level = len(frames) + 1
    included, allowed = active_keys.get()
    stack_token = stack.set((*frames, Frame(interpreter)))
    keys_token = active_keys.set((included | FRONT, allowed | FRONT | BACK))
    try:
        yield interpreter
    finally:
        active_keys.reset(keys_token)
        stack.reset(stack_token)


def front(operator: Operator, keys: int, *arguments: Any) -> Any:
    """Hand a call to the innermost transform."""
    frames = stack.get()
    below, interpreter = frames[:-1], frames[-1].interpreter
    for argument in arguments:
        if isinstance(argument, TensorImpl):
            if not argument.key_set & WRAPPED or wrapping(argument).owner is interpreter:
                continue
        elif not isinstance(argument, (list, tuple)):
            continue
        arguments = tuple(map_tensors(alive, arguments))
        break
    rest = Rest(below)
    stack_token = stack.set((*below, Frame(interpreter, rest)))
    try:
        return interpreter.process(operator, arguments, rest)
    finally:
        stack.reset(stack_token)


def back(operator: Operator, keys: int, *arguments: Any) -> Any:
    """Take a call on to the next transform, once autograd has recorded it."""
    interpreter, rest = stack.get()[-1]
    assert rest is not None
    return interpreter.come_back(operator, arguments, rest)


def alive(tensor: Tensor) -> Tensor:
    """The tensor, without the wrappings of transforms that have ended; that of vmap stays, and is refused."""
    while tensor.key_set & WRAPPED:
        inside = wrapping(tensor)
        if inside.bdim is not None:
            return tensor
        for frame in stack.get():
            if frame.interpreter is inside.owner:
                return tensor
        tensor = inside.value
    return tensor


def outside(operator: Operator, keys: int, *arguments: Any) -> Any:
    """Run an operator on tensors of transforms that have ended: on their values."""
    values = map_tensors(lambda tensor: wrapping(tensor).value if tensor.key_set & WRAPPED else tensor, arguments)
    return call(operator, values)


def escaped(operator: Operator, keys: int, *arguments: Any) -> NoReturn:
    """Refuse a tensor of a vmap that has ended: it hides a dimension that no rule takes care of any more."""
    raise RuntimeError(
        "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
        "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
        "`gen_vmap_plumbing` Please file an issue if it looks like the latter"
    )


def map_tensors(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """The arguments of an operator, each tensor replaced by the function's result; those in lists too."""
    return [
        function(value)
        if isinstance(value, TensorImpl)
        else map_tensors(function, value)
        if isinstance(value, (list, tuple)) and any(isinstance(one, TensorImpl) for one in value)
        else value
        for value in values
    ]


def map_result(function: Callable[[Any], Any], result: Any) -> Any:
    """A result, each tensor of which is replaced by the function's."""
    if isinstance(result, (list, tuple)):
        return rebuilt(result, [map_result(function, one) for one in result])
    return function(result) if isinstance(result, TensorImpl) else result


def rebuilt(like: Any, values: Iterable[Any]) -> Any:
    """A list or tuple, or a result with named fields, of other values."""
    return list(values) if isinstance(like, list) else type(like)(tuple(values))


def call(operator: Operator, arguments: Sequence[Any]) -> Any:
    """Call an operator with all arguments of its schema."""
    included, allowed = active_keys.get()
    keys = (keys_of(arguments) | included) & allowed
    return operator.table[keys](keys, *arguments)


def register_transforms() -> None:
    """Register the fallbacks of the transforms' keys for every operator; a fallback is called with it first."""
    for name, function in (
        ("FuncTorchDynamicLayerFrontMode", front),
        ("FuncTorchDynamicLayerBackMode", back),
        ("FuncTorchGradWrapper", outside),
        ("FuncTorchBatched", escaped),
    ):
        key = DispatchKey[name]
        registry.fallbacks[key] = Kernel(function, key, caller(0), takes_keys=True)
    registry.changed()
