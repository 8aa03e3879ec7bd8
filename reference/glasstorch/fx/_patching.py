"""How does a tracer see calls that never reach a proxy, such as `len(x)` or `math.sqrt(x)`?

Mirrors: torch/fx/_symbolic_trace.py (_Patcher, wrap, _autowrap_check)

While a program is traced, names in its modules, and methods of classes, lead to other functions, which record a call if
a proxy is among its arguments. At the end they lead to the original ones again.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple, Self, TypeVar

from glasstorch.fx.node import map_aggregate
from glasstorch.fx.proxy import Proxy

Wrapped = TypeVar("Wrapped", bound="Callable[..., Any] | str")

# The names that `wrap` was called with, by the globals in which they stand.
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []

MARK = "__fx_already_patched"


class Patch(NamedTuple):
    """One name that leads elsewhere for a while."""

    set: Callable[[Any], None]
    unset: Callable[[], None]
    new: Callable[..., Any]

    def patch(self) -> None:
        """Let the name lead to the new function."""
        self.set(self.new)

    def revert(self) -> None:
        """Let the name lead to what it led to before."""
        self.unset()


class Patcher:
    """The names that are patched during one trace. Leaving it restores them, in reverse order."""

    def __init__(self) -> None:
        self.patches_made: list[Patch] = []
        self.visited: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        while self.patches_made:
            self.patches_made.pop().revert()
        self.visited.clear()

    def patch(
        self, frame_dict: dict[str, Any], name: str, new_fn: Callable[..., Any], deduplicate: bool = True
    ) -> None:
        """Let a global name lead to another function; a builtin's name is put into the globals for the while."""
        setattr(new_fn, MARK, deduplicate)
        if name not in frame_dict and hasattr(builtins, name):
            self._make(lambda value: frame_dict.__setitem__(name, value), lambda: frame_dict.__delitem__(name), new_fn)
        elif not getattr(original := frame_dict[name], MARK, False):
            self._make(
                lambda value: frame_dict.__setitem__(name, value),
                lambda: frame_dict.__setitem__(name, original),
                new_fn,
            )

    def patch_method(self, cls: type, name: str, new_fn: Callable[..., Any], deduplicate: bool = True) -> None:
        """Let a method of a class be another function."""
        setattr(new_fn, MARK, deduplicate)
        original = getattr(cls, name)
        if not getattr(original, MARK, False):
            self._make(lambda value: setattr(cls, name, value), lambda: setattr(cls, name, original), new_fn)

    def _make(self, set_: Callable[[Any], None], unset: Callable[[], None], new: Callable[..., Any]) -> None:
        self.patches_made.append(Patch(set_, unset, new))
        self.patches_made[-1].patch()

    def visit_once(self, thing: object) -> bool:
        """Whether this is the first call with an object."""
        if id(thing) in self.visited:
            return False
        self.visited.add(id(thing))
        return True

    def revert_all_patches(self) -> list[Patch]:
        """Restore all names for a while."""
        for patch in self.patches_made:
            patch.revert()
        return self.patches_made

    def reapply_all_patches(self) -> list[Patch]:
        """Patch all names again."""
        for patch in self.patches_made:
            patch.patch()
        return self.patches_made

    def patch_wrapped(self) -> None:
        """Patch all names of which `wrap` was told."""
        for (_, name), frame_dict in list(_wrapped_fns_to_patch.items()):
            original = frame_dict[name] if name in frame_dict else getattr(builtins, name)
            self.patch(frame_dict, name, recording_calls_of(original))
        for cls, name in _wrapped_methods_to_patch:
            self.patch_method(cls, name, _recording_calls_of_method(cls, name))

    def patch_functions_of(self, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
        """Patch all global names that lead to certain functions, such as those of `math`."""
        if self.visit_once(frame_dict):
            for name, value in list(frame_dict.items()):
                if not name.startswith("_") and callable(value) and id(value) in function_ids:
                    self.patch(frame_dict, name, recording_calls_of(value))


CURRENT_PATCHER: Patcher | None = None


@contextmanager
def new_patcher() -> Iterator[Patcher]:
    """A patcher for one trace, which restores all names at the end."""
    global CURRENT_PATCHER
    before = CURRENT_PATCHER
    try:
        with Patcher() as CURRENT_PATCHER:
            yield CURRENT_PATCHER
    finally:
        CURRENT_PATCHER = before


@contextmanager
def maybe_revert_all_patches() -> Iterator[None]:
    """Restore all names for the while, if a trace is going on."""
    patcher = CURRENT_PATCHER
    removed = None if patcher is None else list(patcher.revert_all_patches())
    try:
        yield
    finally:
        made = None if patcher is None else list(patcher.reapply_all_patches())
        if made != removed:
            raise AssertionError("CURRENT_PATCHER was changed during a revert_all_patches")


def find_proxy(*objects_to_search: Any) -> Proxy | None:
    """A proxy in nested containers, the last one; None if there is none."""
    found: list[Proxy] = []

    def note(value: Any) -> Any:
        if isinstance(value, Proxy):
            found.append(value)
        return value

    map_aggregate(objects_to_search, note)
    return found[-1] if found else None


def recording_calls_of(orig_fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that records a call of another one if an argument is a proxy, and calls it otherwise."""

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        recorded = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        recorded.node.meta["is_wrapped"] = True
        return recorded

    return wrapped


def _recording_calls_of_method(cls: type, name: str) -> Callable[..., Any]:
    original = getattr(cls, name)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def wrap(fn_or_name: Wrapped) -> Wrapped:
    """Let calls of a function be one node each, instead of being traced through.

    Called at the top level of the module that calls the function, with its name there, or as a decorator of it.
    RuntimeError is raised for anything but a function or a name, NotImplementedError inside a function.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    caller = frame.f_back
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(caller.f_globals), name)] = caller.f_globals
    return fn_or_name


def with_plain_parameters(fn: FunctionType, count: int) -> FunctionType:
    """A function whose `*args`, `**kwargs` and keyword-only parameters are ordinary ones, `count` in all.

    A proxy can be passed for each of them, which Python would try to unpack otherwise.
    """
    flags = fn.__code__.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = fn.__code__.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
