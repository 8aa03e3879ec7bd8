"""How does a `with` block set a mode of the library while a function is captured?

The mode is set for the capture too, since it decides what operators give, and calls in the graph set it in each run.

Mirrors: torch/_dynamo/variables/ctx_manager.py
Differs: the modes of gradients, inference and autocast; other context managers of the library are refused.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.amp.autocast_mode import _enter_autocast, _exit_autocast, autocast
from glasstorch.autograd.grad_mode import _enter_inference_mode, _exit_inference_mode
from glasstorch.autograd.modes import (
    _GradModeGuard,
    _set_grad_enabled,
    enable_grad,
    grad_mode,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from glasstorch.compiler.bytecode.raising import evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Context, Method, Value, known

UNDERSTOOD: Final = (no_grad, enable_grad, set_grad_enabled, inference_mode, autocast)
NONE: Final = Constant(None)


def make_context(recorder: Recorder, kind: type[Any], args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What a call of one of the classes above gives."""
    given, named = list(map(known, args)), {key: known(value) for key, value in kwargs.items()}
    if kind in (no_grad, enable_grad):
        if given or named:
            raise Unsupported(f"{kind.__name__} as a decorator")
        return Context(kind, (kind is enable_grad,))
    if kind is set_grad_enabled:
        before = is_grad_enabled()
        (mode,) = (*given, *named.values()) or (None,)
        if not isinstance(mode, bool):
            raise Unsupported("set_grad_enabled of what is no truth value")
        set_mode(recorder, mode)
        return Context(kind, (mode, before))
    if kind is inference_mode:
        (mode,) = (*given, *named.values()) or (True,)
        if not isinstance(mode, bool):
            raise Unsupported("inference_mode as a decorator")
        return Context(kind, (mode,))
    made = evaluated(autocast, *given, **named)
    settings = dict(zip(("device_type", "dtype", "enabled", "cache_enabled"), given, strict=False)) | named
    return Context(
        kind, (made.device, settings.get("dtype"), settings.get("enabled", True), settings.get("cache_enabled"))
    )


def context_of(recorder: Recorder, obj: Any, source: Source) -> Context | None:
    """The value of a mode that the program has made outside."""
    where, guards = source.expression, recorder.guards
    kind = type(obj)
    if kind not in UNDERSTOOD:
        return None
    guards.same_type(where, obj)
    names = ("device", "fast_dtype", "_enabled", "_cache_enabled") if kind is autocast else ("mode",)
    for name in names:
        guards.equal(f"{where}.{name}", getattr(obj, name))
    if kind is set_grad_enabled:
        guards.equal(f"{where}._at_construction", obj._at_construction)
        return Context(kind, (obj.mode, obj._at_construction), source=source)
    return Context(kind, tuple(getattr(obj, name) for name in names), source=source)


def context_attribute(value: Context, name: str) -> Value:
    """A method of a mode."""
    if name not in ("__enter__", "__exit__", "clone"):
        raise Unsupported(f"{name} of {value.kind.__name__}")
    return Method(value, name)


def context_method(recorder: Recorder, value: Context, name: str) -> Value:
    """Begin or end a block, or make another mode with the same settings."""
    if name == "clone":
        if value.kind is set_grad_enabled:
            before = is_grad_enabled()
            set_mode(recorder, value.settings[0])
            return Context(value.kind, (value.settings[0], before))
        return Context(value.kind, value.settings)
    if name == "__enter__":
        value.entered.append(_begin(recorder, value))
        recorder.open_contexts.append(value)
    else:
        if not value.entered:
            raise Unsupported(f"the end of a block of {value.kind.__name__} that began outside")
        recorder.open_contexts.remove(value)
        _end(recorder, value, value.entered.pop())
    return NONE if value.kind is not autocast or name != "__enter__" else value


def set_mode(recorder: Recorder, mode: bool) -> None:
    """Record gradients from here on, or do not; the graph says so where that changes anything."""
    if mode is not is_grad_enabled():
        recorder.effect(_set_grad_enabled, (mode,))
        grad_mode.set(mode)


def _begin(recorder: Recorder, value: Context) -> Any:
    if issubclass(value.kind, _GradModeGuard):
        before = value.settings[-1] if value.kind is set_grad_enabled else is_grad_enabled()
        set_mode(recorder, value.settings[0])
        return before
    is_autocast = value.kind is autocast
    node = recorder.effect(_enter_autocast if is_autocast else _enter_inference_mode, value.settings)
    block: Any = autocast(*value.settings) if is_autocast else inference_mode(*value.settings)
    block.__enter__()
    return node, block


def _end(recorder: Recorder, value: Context, begun: Any) -> None:
    if issubclass(value.kind, _GradModeGuard):
        set_mode(recorder, begun)
        return
    node, block = begun
    recorder.effect(_exit_autocast if value.kind is autocast else _exit_inference_mode, (node,))
    block.__exit__(None, None, None)


def leave_all(recorder: Recorder) -> None:
    """Set the modes as they were before the capture, which has ended, perhaps within blocks."""
    for value in reversed(recorder.open_contexts):
        begun = value.entered.pop()
        if not issubclass(value.kind, _GradModeGuard):
            begun[1].__exit__(None, None, None)
    recorder.open_contexts.clear()
    grad_mode.set(recorder.grad_enabled)
