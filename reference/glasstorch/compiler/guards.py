"""When may a graph be used again, and if not, why?

Mirrors: torch/_dynamo/guards.py
Differs: guards are Python expressions, which are compiled into one function; PyTorch's are a tree of C++ objects.

A graph was captured for one call. A guard is a fact that the capture used: that a tensor has these sizes, that a number
is 3, that a name leads to this function. All guards of a graph are checked at each call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.amp.settings import lower_precision
from glasstorch.autograd.modes import grad_mode, is_grad_enabled
from glasstorch.calls.overloaded import mode_stack
from glasstorch.core.device import chosen, chosen_device
from glasstorch.core.dtype import get_default_dtype
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.kernels.creation.known_memory import determinism


class Guard(NamedTuple):
    """One fact: its kind, where it is looked up, and the expression that is true while it holds."""

    kind: str
    source: str
    expression: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.expression}"


# What a guard of an object's identity is called, by the object's class.
BY_CLASS: Final = {"MODULE_MATCH": ModuleType, "CLOSURE_MATCH": FunctionType, "BUILTIN_MATCH": BuiltinFunctionType}


def asked_modes() -> tuple[Any, ...]:
    """The modes that are asked by each call of a function; those of default devices are there to be seen only."""
    return tuple(mode for mode in mode_stack.get() if not getattr(mode, "is_shown_only", False))


def is_empty(cell: CellType) -> bool:
    """Whether a variable of an outer function is not set."""
    try:
        cell.cell_contents  # noqa: B018  # it raises if there is none
    except ValueError:
        return True
    return False


def distinct(*objects: object) -> bool:
    """Whether all are different objects."""
    return len(set(map(id, objects))) == len(objects)


def are_alike(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether equal keys have the same classes, and so have their parts."""
    return all(
        type(one) is type(other) and (type(one) is not tuple or are_alike(one, other))
        for one, other in zip(some, others, strict=True)
    )


def lacks(value: Any, name: str) -> bool:
    """Whether no class of an object defines a name."""
    return not any(name in vars(kind) for kind in type(value).__mro__)


class Guards:
    """The guards of one graph, each once, with the objects that their expressions name."""

    def __init__(self) -> None:
        self.all: dict[Guard, str] = {}  # with the lines of the program that were being executed
        self.lines: Callable[[], str] = str
        self.names: dict[str, Any] = {
            "grad_enabled": grad_mode.get,
            "is_empty": is_empty,
            "distinct": distinct,
            "are_alike": are_alike,
            "lacks": lacks,
            "keys": active_keys.get,
            "autocast": lower_precision.get,
            "default_dtype": get_default_dtype,
            "determinism": determinism,
            "chosen": chosen,
            "chosen_device": chosen_device,
            "modes": mode_stack.get,
            "asked_modes": asked_modes,
            "math": math,
        }
        self._name_of: dict[int, str] = {}

    def name_of(self, value: Any) -> str:
        """A name for an object, which the expressions can use; the object is kept alive."""
        if id(value) not in self._name_of:
            name = self._name_of[id(value)] = f"k{len(self._name_of)}"
            self.names[name] = value
        return self._name_of[id(value)]

    def add(self, kind: str, source: str, expression: str) -> None:
        """Add a guard."""
        self.all.setdefault(Guard(kind, source, expression), self.lines())

    def same_object(self, source: str, value: Any) -> None:
        """The source leads to this very object."""
        kind = next((kind for kind, classes in BY_CLASS.items() if isinstance(value, classes)), "ID_MATCH")
        fact = f"{source} is {self.name_of(value)}"
        if isinstance(value, FunctionType):
            fact += f" and {source}.__code__ is {self.name_of(value.__code__)}"
        self.add(kind, source, fact)

    def builtin(self, name: str, table: dict[str, Any]) -> None:
        """The name is no global one, and leads to this function of Python's own."""
        place = f"G['__builtins_dict__'][{name!r}]"
        expression = f"{name!r} not in G and {self.name_of(table)}[{name!r}] is {self.name_of(table[name])}"
        self.add("BUILTIN_MATCH", place, expression)

    def same_type(self, source: str, value: Any) -> None:
        """The source leads to an object of this one's class."""
        self.add("TYPE_MATCH", source, f"type({source}) is {self.name_of(type(value))}")

    def equal(self, source: str, value: Any) -> None:
        """The source leads to an equal object of the same class."""
        if value is None or isinstance(value, bool):
            self.add("CONSTANT_MATCH", source, f"{source} is {value!r}")
            return
        self.same_type(source, value)
        if isinstance(value, float | complex):  # a zero has a sign, and NaN equals nothing
            self.add("EQUALS_MATCH", source, f"repr({source}) == {repr(value)!r}")
            return
        text = repr(value) if type(value) in (int, str) else self.name_of(value)
        self.add("EQUALS_MATCH", source, f"{source} == {text}")

    def length(self, source: str, value: Any) -> None:
        """The source leads to a container of this one's class and length."""
        self.same_type(source, value)
        self.add("SEQUENCE_LENGTH", source, f"len({source}) == {len(value)}")

    def keys(self, source: str, value: dict[Any, Any]) -> None:
        """The source leads to a dict with these keys in this order."""
        self.same_type(source, value)
        keys = self.name_of(list(value))
        fact = f"list({source}) == {keys}"
        if any(type(key) is not str for key in value):  # 1, 1.0 and True are equal
            fact += f" and are_alike({source}, {keys})"
        self.add("DICT_KEYS_MATCH", source, fact)

    def tensor(self, source: str, value: Tensor, with_sizes: bool = True) -> None:
        """The source leads to a tensor that is like this one in all but its elements.

        Without sizes it has as many dimensions; guards of the kind SHAPE_ENV say what must be true of them.
        """
        kind, dtype = self.name_of(type(value)), self.name_of(value.dtype)
        facts = (
            f"type({source}) is {kind}",
            f"{source}.dtype is {dtype}",
            f"{source}.device == {self.name_of(value.device)}",
            f"{source}.requires_grad is {value.requires_grad}",
            f"{source}.key_set == {value.key_set}",
            *(
                (f"{source}.shape == {tuple(value.shape)}", f"{source}.stride() == {tuple(value.stride())}")
                if with_sizes
                else (f"{source}.ndim == {value.ndim}",)
            ),
        )
        self.add("TENSOR_MATCH", source, " and ".join(facts))

    def no_aliasing(self, sources: list[str]) -> None:
        """The sources lead to tensors of which no two are the same one."""
        if len(sources) > 1:
            pair, many = " is not ".join(sources), f"distinct({', '.join(sources)})"
            self.add("NO_TENSOR_ALIASING", "", pair if len(sources) == 2 else many)

    def grad_mode(self) -> None:
        """Gradients are recorded, or not, as they are now."""
        self.add("GRAD_MODE", "", f"grad_enabled() is {is_grad_enabled()}")
        self.global_state()

    def global_state(self) -> None:  # hot path: benchmarks/compile.py
        """What else decides what operators give: keys, autocast, settings, the default dtype and device, and modes.

        No graph is captured while a mode is asked by each call of a function.
        """
        autocast, device = self.name_of(lower_precision.get()), chosen_device()
        facts = (
            f"keys() == {active_keys.get()}",
            f"(autocast() is {autocast} or autocast() == {autocast})",
            f"default_dtype() is {self.name_of(get_default_dtype())}",
            f"determinism.asked is {determinism.asked}",
            f"determinism.warn_only is {determinism.warn_only}",
            "(not chosen.ever or chosen_device() is None)" if device is None else
            f"chosen_device() == {self.name_of(device)}",
            "(not modes() or not asked_modes())",
        )  # fmt: skip
        self.add("GLOBAL_STATE", "", " and ".join(facts))

    def compiled(self) -> Callable[[dict[str, Any], dict[str, Any]], bool]:
        """A function of arguments and globals that says whether all guards hold."""
        names = self.names.copy()
        body = " and ".join(f"({guard.expression})" for guard in self.all) or "True"
        exec(f"def check(L, G):\n    return {body}", names)
        check: Callable[[dict[str, Any], dict[str, Any]], bool] = names["check"]
        return check

    def first_failure(self, arguments: dict[str, Any], names: dict[str, Any]) -> Guard | None:
        """The first guard that does not hold, or that cannot be looked up; None if all hold."""
        for guard in self.all:
            try:
                holds = eval(guard.expression, self.names, {"L": arguments, "G": names})
            except (AttributeError, KeyError, IndexError, TypeError):
                holds = False
            if not holds:
                return guard
        return None
