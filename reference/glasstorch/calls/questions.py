"""Which operators ask where and how a tensor's elements lie, and when is its class asked in its place?

Mirrors: aten/src/ATen/native/native_functions.yaml (size, sym_size, stride ...), torch/csrc/jit/runtime/
    register_prim_ops.cpp (aten::size, prim::device, prim::layout), torch/csrc/PyInterpreter.cpp (sym_sizes, strides,
    is_contiguous, device, layout)
Differs: these operators have no rows, as each is a method or property of the tensor, and nothing computes; they are
    here to be called by name, and to be compared with what a handler is given. The library itself never asks a class.

# Note [A class that is asked for its sizes]
A class with a `__torch_dispatch__` may say that it answers for the strides of its instances, for their sizes and
strides, their device or their layout. The methods and properties that tell these are then put into the class: they pass
`aten::sym_size` and so on to its handler, and tell what the tensor has itself where that returns None. The number of
dimensions, the device and the layout must be told: there, None is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple
from weakref import WeakSet

from glasstorch.core.device import device as Device
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.geometry import Size
from glasstorch.core.keys import DispatchKey
from glasstorch.core.layout import contiguous_format
from glasstorch.core.layout import layout as Layout
from glasstorch.dispatch import mode_stack, python_fallback
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel
from glasstorch.dispatch.overload import OpOverload

COMPOSITE: Final = DispatchKey.CompositeImplicitAutograd

# Each question: its schema, its tags, and what answers it.
ROWS: Final[tuple[tuple[str, str, Callable[..., Any]], ...]] = (
    ("aten::size.int(Tensor self, int dim) -> int", "", lambda x, dim: x.size(dim)),
    ("aten::size(Tensor self) -> int[]", "", lambda x: [*x.size()]),
    ("aten::sym_size.int(Tensor self, int dim) -> SymInt", "core", lambda x, dim: x.size(dim)),
    ("aten::sym_size(Tensor self) -> SymInt[]", "", lambda x: [*x.size()]),
    ("aten::stride.int(Tensor self, int dim) -> int", "", lambda x, dim: x.stride(dim)),
    ("aten::stride(Tensor self) -> int[]", "", lambda x: [*x.stride()]),
    ("aten::sym_stride.int(Tensor self, int dim) -> SymInt", "core", lambda x, dim: x.stride(dim)),
    ("aten::sym_stride(Tensor self) -> SymInt[]", "", lambda x: [*x.stride()]),
    ("aten::dim(Tensor self) -> int", "", lambda x: x.dim()),
    ("aten::numel(Tensor self) -> int", "", lambda x: x.numel()),
    ("aten::sym_numel(Tensor self) -> SymInt", "core", lambda x: x.numel()),
    ("aten::is_contiguous(Tensor self) -> bool", "", lambda x: x.is_contiguous()),
    (
        "aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool",
        "",
        lambda x, memory_format: x.is_contiguous(memory_format=memory_format),
    ),
    ("aten::storage_offset(Tensor self) -> int", "", lambda x: x.storage_offset()),
    ("aten::sym_storage_offset(Tensor self) -> SymInt", "core", lambda x: x.storage_offset()),
    ("aten::is_nonzero(Tensor self) -> bool", "", bool),
    ("prim::device(Tensor a) -> Device", "", lambda x: x.device),
    ("prim::layout(Tensor a) -> Layout", "", lambda x: x.layout),
)


def _operators() -> dict[str, list[OpOverload]]:
    found: dict[str, list[OpOverload]] = {}
    here = caller(0)
    for text, words, function in ROWS:
        name = text.partition("(")[0]
        operator = OpOverload(name, text, here, words.split(), family="questions")
        operator.kernels[COMPOSITE] = [Kernel(function, COMPOSITE, here)]
        found.setdefault(name.partition(".")[0], []).append(operator)
    return found


_by_name: Final = _operators()


def overloads(namespace: str, name: str) -> list[OpOverload]:
    """The overloads of a question by its name; none for any other operator."""
    return _by_name.get(f"{namespace}::{name}", [])


def fitting(operators: Sequence[OpOverload], count: int) -> OpOverload:
    """Of the overloads of a question that with so many arguments, or else the last, which refuses them."""
    return next((o for o in operators if len(o.schema.arguments) == count), operators[-1])


# The class is asked --------------------------------------------------------------------------------------------------

STRIDES, SIZES, DEVICE, LAYOUT = 1, 2, 4, 8
POLICIES: Final = {None: 0, "strides": STRIDES, "sizes": SIZES}


class _Asked(NamedTuple):
    """A method or property that asks: for which of the above, which question, and what it makes of the answer."""

    of: int
    question: str
    read: Callable[..., Any]
    expected: type | None = None  # what alone is an answer; without, None is one: what the tensor has itself


def _sizes(answer: Any, dim: int | None = None) -> Any:
    return Size(answer) if dim is None else answer[dim]


def _steps(answer: Any, dim: int | None = None) -> Any:
    return tuple(answer) if dim is None else answer[dim]


def _as_it_is(answer: Any, **ignored: Any) -> Any:
    return answer


METHODS: Final = {
    "size": _Asked(SIZES, "aten::sym_size", _sizes),
    "dim": _Asked(SIZES, "aten::dim", _as_it_is, int),
    "ndimension": _Asked(SIZES, "aten::dim", _as_it_is, int),
    "numel": _Asked(SIZES, "aten::sym_numel", _as_it_is),
    "nelement": _Asked(SIZES, "aten::sym_numel", _as_it_is),
    "stride": _Asked(SIZES | STRIDES, "aten::sym_stride", _steps),
    "is_contiguous": _Asked(SIZES | STRIDES, "aten::is_contiguous", _as_it_is),
    "storage_offset": _Asked(SIZES, "aten::sym_storage_offset", _as_it_is),
}
PROPERTIES: Final = {
    "shape": _Asked(SIZES, "aten::sym_size", _sizes),
    "ndim": _Asked(SIZES, "aten::dim", _as_it_is, int),
    "device": _Asked(DEVICE, "prim::device", _as_it_is, Device),
    "is_cpu": _Asked(DEVICE, "prim::device", lambda answer: answer.type == "cpu", Device),
    "is_cuda": _Asked(DEVICE, "prim::device", lambda answer: answer.type == "cuda", Device),
    "is_meta": _Asked(DEVICE, "prim::device", lambda answer: answer.type == "meta", Device),
    "layout": _Asked(LAYOUT, "prim::layout", _as_it_is, Layout),
}
_lock: Final = Lock()  # classes are changed under it
_asking: Final[WeakSet[Any]] = WeakSet()  # the methods that ask, which a derived class inherits


def let_class_answer(made: Any, policy: str | None, on: bool, layout: bool) -> None:
    """Let the class of a new tensor be asked for what it said; see Note [A class that is asked for its sizes]."""
    if policy not in POLICIES:
        raise ValueError(f"Unknown sizes_strides_policy: {policy}; expected 'strides' or 'sizes'")
    asked = POLICIES[policy] | DEVICE * on | LAYOUT * layout
    if not asked:
        return
    kind = type(made)
    with _lock:
        for name, row in METHODS.items():
            method = getattr(kind, name)
            if row.of & asked and method not in _asking:
                setattr(kind, name, _asking_method(method, row))
        for name, row in PROPERTIES.items():
            attribute = getattr(kind, name)
            if row.of & asked and getattr(attribute, "fget", None) not in _asking:
                setattr(kind, name, property(_asking_method(attribute.__get__, row)))
    made.__dict__["_asked"] = asked


def _asking_method(inherited: Callable[..., Any], row: _Asked) -> Callable[..., Any]:
    def asks(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.__dict__.get("_asked", 0) & row.of:
            return inherited(self, *args, **kwargs)
        order = kwargs.get("memory_format", contiguous_format)
        answer = _answer(self, row.question, *(() if order is contiguous_format else (order,)))
        if row.expected is not None and not isinstance(answer, row.expected):
            asked_for, wanted = (
                row.question.partition("::")[2],
                fitting(_by_name[row.question], 1).schema.returns[0].type,
            )
            raise ArgumentError(f"{asked_for} returned invalid type {type(answer).__name__}, expected {wanted}")
        return inherited(self, *args, **kwargs) if answer is None else row.read(answer, *args, **kwargs)

    _asking.add(asks)
    return asks


def _answer(tensor: Any, question: str, *more: Any) -> Any:
    """What the innermost mode, or the class of a tensor, answers."""
    operator, args = fitting(_by_name[question], 1 + len(more)), (tensor, *more)
    stack, types = mode_stack.modes.get(), (type(tensor),)
    answer = python_fallback._ask_mode(stack, operator, types, args, {}) if stack else NotImplemented
    if answer is NotImplemented:
        answer = python_fallback.ask_subclasses((tensor,), operator, types, args, {})
    if answer is NotImplemented:
        raise ArgumentTypeError(python_fallback.refused(f"ops.{question.replace('::', '.')}", stack, types))
    return answer
