"""What do data pipes promise, and how is that checked?

Mirrors: torch/utils/data/datapipes/_decorator.py, torch/utils/data/datapipes/_typing.py
Differs: the type of a pipe's samples is what its class says: `class Texts(IterDataPipe[str])`. Types are compared as
    far as classes, unions and the parameters of lists, tuples and dicts go; of any other, every value is one.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Union, get_args, get_origin, get_type_hints

from glasstorch.data.datapipes import IterDataPipe

__all__ = [
    "argument_validation",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
]

UNIONS = (Union, types.UnionType)
_determinism = False
_runtime_validation_enabled = True


class guaranteed_datapipes_determinism:
    """A `with` block in which pipes that are decorated by `non_deterministic` are refused."""

    def __init__(self) -> None:
        global _determinism
        self.prev = _determinism
        _determinism = True

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        global _determinism
        _determinism = self.prev


class non_deterministic:
    """A decorator of a class of pipes whose order is not fixed.

    With a function, `@non_deterministic(function)`, it depends on the arguments: the function returns whether the pipe
    that they make is not deterministic.
    """

    def __init__(self, arg: Any) -> None:
        self.cls: Any = None
        self.deterministic_fn: Callable[..., bool] | None = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is None:
            (kind,) = args
            if not (isinstance(kind, type) and issubclass(kind, IterDataPipe)):
                raise TypeError(f"Only `IterDataPipe` can be decorated, but {kind.__name__} is found")
            self.cls = kind
            return self
        condition = ""
        if self.deterministic_fn is not None:
            varies = self.deterministic_fn(*args, **kwargs)
            if not isinstance(varies, bool):
                raise TypeError(
                    f"deterministic_fn of `non_deterministic` decorator is required to return a boolean value, but "
                    f"{type(varies)} is found"
                )
            if not varies:
                return self.cls(*args, **kwargs)
            condition = " with the inputs"
        if _determinism:
            raise TypeError(
                f"{self.cls.__name__} is non-deterministic{condition}, but you set 'guaranteed_datapipes_determinism'. "
                f"You can turn off determinism for this DataPipe if that is acceptable for your application"
            )
        return self.cls(*args, **kwargs)


def argument_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: arguments that are declared as pipes must be pipes, of samples of the declared type."""
    signature, hints = inspect.signature(f), get_type_hints(f)

    @wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            hint = hints.get(name)
            if not _is_pipe(get_origin(hint) or hint):
                continue
            if not isinstance(value, IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
            wanted, found = (get_args(hint) or (Any,))[0], sample_type(type(value))
            if not _is_subtype(found, wanted):
                raise TypeError(f"Expected type of argument '{name}' as a subtype of hint {wanted}, but found {found}")
        return f(*args, **kwargs)

    return wrapper


class runtime_validation_disabled:
    """A `with` block in which `runtime_validation` checks nothing."""

    def __init__(self) -> None:
        global _runtime_validation_enabled
        self.prev = _runtime_validation_enabled
        _runtime_validation_enabled = False

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        global _runtime_validation_enabled
        _runtime_validation_enabled = self.prev


def runtime_validation(f: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """A decorator of a pipe's `__iter__`: each sample must be of the type that the class says."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @wraps(f)
    def wrapper(self: Any) -> Iterator[Any]:
        declared = sample_type(type(self))
        for sample in f(self):
            if _runtime_validation_enabled and not _is_of(sample, declared):
                raise RuntimeError(f"Expected an instance as subtype of {declared}, but found {sample}({type(sample)})")
            yield sample

    return wrapper


# Types ----------------------------------------------------------------------------------------------------------------


def _is_pipe(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, IterDataPipe)


def sample_type(pipe: type[IterDataPipe[Any]]) -> Any:
    """The type of samples that a class of pipes declares; Any where it declares none."""
    for kind in pipe.__mro__:
        for base in vars(kind).get("__orig_bases__", ()):
            if _is_pipe(get_origin(base)):
                return get_args(base)[0]
    return Any


def _is_of(value: object, hint: Any) -> bool:
    """Whether a value is of a type, with its parts."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in UNIONS:
        return any(_is_of(value, part) for part in parts)
    kind = type(None) if hint is None else origin or hint
    if kind is Any or not isinstance(kind, type):
        return True
    if not isinstance(value, kind):
        return False
    if isinstance(value, tuple) and parts:
        if parts[-1] is Ellipsis:
            parts = parts[:1] * len(value)
        return len(parts) == len(value) and all(map(_is_of, value, parts))
    if isinstance(value, dict) and parts:
        return all(_is_of(key, parts[0]) and _is_of(item, parts[1]) for key, item in value.items())
    return not parts or not isinstance(value, list | set) or all(_is_of(item, parts[0]) for item in value)


def _is_subtype(found: Any, wanted: Any) -> bool:
    """Whether each value of a type is of another, as far as can be told."""
    if wanted is Any or found == wanted:
        return True
    if get_origin(found) in UNIONS:
        return all(_is_subtype(part, wanted) for part in get_args(found))
    if get_origin(wanted) in UNIONS:
        return any(_is_subtype(found, part) for part in get_args(wanted))
    mine, others = get_origin(found) or found, get_origin(wanted) or wanted
    if not (isinstance(mine, type) and isinstance(others, type) and issubclass(mine, others)):
        return False
    return not get_args(wanted) or all(map(_is_subtype, get_args(found) or (Any,), get_args(wanted)))
