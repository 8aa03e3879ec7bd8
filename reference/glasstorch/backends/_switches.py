"""How is a switch of a library that is not here accepted, checked and read back?

PyTorch calls cuDNN, cuBLAS, oneDNN and others, and programs set how. This library computes without them: a switch keeps
what it is given, refuses what PyTorch refuses, and changes nothing else. Whatever is set, products and convolutions are
computed in the dtype of their tensors, and in the same way each time.

Mirrors: torch/backends/__init__.py (ContextProp, PropModule, _FP32Precision), aten/src/ATen/Context.cpp
Differs: precisions may be set through the old switches (`allow_tf32`) and the new ones (`fp32_precision`) in turn;
    PyTorch refuses to read the old ones then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

PRECISIONS: Final = {
    "generic": ("ieee", "tf32", "bf16", "none"),
    "cuda": ("ieee", "tf32", "none"),
    "mkldnn": ("ieee", "tf32", "bf16", "none"),
}
# (library, operator) -> precision of float32; "none" asks the row of all its operators, and that the generic one.
precisions: Final = {
    (library, operator): "tf32" if library == "cuda" and operator in ("conv", "rnn") else "none"
    for library in PRECISIONS
    for operator in ("all", "matmul", "conv", "rnn")
}


def precision_of(library: str, operator: str) -> str:
    """The precision that a product of float32 is allowed: the operator's own, else its library's, else the generic."""
    rows = (library, operator), (library, "all"), ("generic", "all")
    found = next((precisions[row] for row in rows if precisions[row] != "none"), "none")
    return found if found in PRECISIONS[library] else "none"


def set_precision(library: str, operator: str, precision: str) -> None:
    """Set a row of the table; a precision that the library does not have is refused."""
    if precision not in PRECISIONS["generic"]:
        raise RuntimeError(f"Unknown precision: {precision}")
    if precision not in PRECISIONS[library]:
        raise RuntimeError(f"backend '{library}' does not support precision '{precision}'")
    precisions[library, operator] = precision


class Switch:
    """A switch of a module or an object, which accepts values of one type; `name` is what its error calls it."""

    def __init__(self, default: Any, name: str, accepts: type = bool) -> None:
        self.value, self.called, self.accepts = default, name, accepts

    def __get__(self, instance: object, owner: type) -> Any:
        return self.value

    def __set__(self, instance: object, value: Any) -> None:
        if not isinstance(value, self.accepts) or (self.accepts is int and isinstance(value, bool)):
            raise RuntimeError(f"{self.called} expects a {self.accepts.__name__}, but got {type(value).__name__}")
        self.value = value


class Reduction:
    """A switch of cuBLAS that takes a bool, or one and whether a long sum may be split; the first is read back."""

    def __init__(self, name: str) -> None:
        self.value, self.called = True, name

    def __get__(self, instance: object, owner: type) -> bool:
        return self.value

    def __set__(self, instance: object, value: Any) -> None:
        given = value if isinstance(value, list | tuple) else (value,)
        if not 1 <= len(given) <= 2 or not all(isinstance(one, bool) for one in given):
            raise TypeError(f"{self.called} expects a bool or a tuple/list of bools, but got {value!r}")
        self.value = given[0]


class Precision:
    """The switch `fp32_precision` of a library's operators."""

    def __init__(self, library: str, operator: str = "all") -> None:
        self.row = library, operator

    def __get__(self, instance: object, owner: type) -> str:
        return precision_of(*self.row)

    def __set__(self, instance: object, value: str) -> None:
        set_precision(*self.row, value)


class AllowTF32:
    """The older switch of some operators of CUDA: on where all of them have the precision tf32."""

    def __init__(self, name: str, *operators: str, off: str = "none") -> None:
        self.called, self.operators, self.off = name, operators, off

    def __get__(self, instance: object, owner: type) -> bool:
        return all(precision_of("cuda", operator) == "tf32" for operator in self.operators)

    def __set__(self, instance: object, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"{self.called} expects a bool, but got {type(value).__name__}")
        for operator in self.operators:
            set_precision("cuda", operator, "tf32" if value else self.off)


class OfOperator:
    """The switches of one operator in a library: `fp32_precision` alone."""

    def __init_subclass__(cls, *, library: str, operator: str) -> None:
        cls.fp32_precision = Precision(library, operator)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "fp32_precision":
            raise AttributeError(f"Unknown attribute {name}")
        super().__setattr__(name, value)

    fp32_precision: Any


def of_operator(library: str, operator: str) -> Any:
    """The object with the switches of one operator, as `torch.backends.mkldnn.conv`."""
    return type(f"_{operator}", (OfOperator,), {}, library=library, operator=operator)()


def switchable(module: str, **switches: Any) -> None:
    """Let assignments to these names of a module reach their switches."""
    sys.modules[module].__class__ = type("SwitchableModule", (ModuleType,), switches)


Setter = Callable[..., tuple[Any, ...]]


def setter(module: str, **parameters: tuple[str, Any]) -> Setter:
    """`set_flags` of a module: sets what is not None, and returns what all were.

    `parameters` gives for each its switch and its default.
    """
    names = list(parameters)

    def set_flags(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        if len(args) > len(names) or not kwargs.keys() <= set(names[len(args) :]):
            raise TypeError(f"set_flags() takes the arguments {', '.join(names)}; got {args} and {kwargs}")
        given = {name: default for name, (_, default) in parameters.items()} | dict(zip(names, args, strict=False))
        given |= kwargs
        found = sys.modules[module]
        before = tuple(getattr(found, switch) for switch, _ in parameters.values())
        try:
            for name, (switch, _) in parameters.items():
                if given[name] is not None:
                    setattr(found, switch, given[name])
        except Exception:
            restore(module, parameters, before)
            raise
        return before

    return set_flags


def restore(module: str, parameters: dict[str, tuple[str, Any]], before: tuple[Any, ...]) -> None:
    """Set switches to what they were."""
    for (switch, _), value in zip(parameters.values(), before, strict=True):
        if value is not None:
            setattr(sys.modules[module], switch, value)


@contextmanager
def as_set(set_flags: Setter, *values: Any) -> Iterator[None]:
    """Switches as given inside a `with` block, and after it as they were."""
    before = set_flags(*values)
    try:
        yield
    finally:
        set_flags(*before)
