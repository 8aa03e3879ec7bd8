"""How is an operator called by its own name, as `ops.aten.add.Tensor`?

Mirrors: torch/_ops.py (_Ops, _OpNamespace, OpOverloadPacket, OpOverload)
Differs: an overload is the Operator itself. Operators of higher order are not here: each takes functions that PyTorch's
    compiler has captured. Their namespace says so.

`ops.aten.add` is a packet of overloads and resolves calls; `ops.aten.add.Tensor` is one operator. Operators of a user's
Library appear here as soon as they are defined.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from operator import index as operator_index
from types import ModuleType
from typing import Any, NoReturn

from glasstorch.calls import questions
from glasstorch.calls.arguments import REFUSED, converter
from glasstorch.calls.overloaded import UNASKED, answer_of, ask, to_be_asked
from glasstorch.calls.parser import PythonFunction
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.plain_types import SILENT
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.unknown_names import nearest
from glasstorch.dispatch import python_fallback, undeclared
from glasstorch.dispatch.library import on_removal
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.runtime_schema import FunctionSchema
from glasstorch.dispatch.tags import Tag

# Set by the facade: runs what a library registers that was compiled against our headers (utils/_cpp/loading.py).
_start_library: Callable[[ctypes.CDLL, str], object]


def set_library_starter(function: Callable[[ctypes.CDLL, str], object]) -> None:
    """Called once by the facade, with what starts a loaded library."""
    global _start_library
    _start_library = function


class OpOverloadPacket:
    """All overloads of one name."""

    __file__ = "torch.ops"

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = name
        self._qualified_op_name = f"{namespace}::{name}"
        self._function: PythonFunction
        self._alone: Operator | None = None
        self._generation = -1

    def overloads(self) -> list[str]:
        """The overloads' names; the one without a name is `default`."""
        return [o.overload_name or "default" for o in self.op_overloads()]

    def op_overloads(self) -> list[Operator]:
        """The overloads themselves; TorchScript's are the last."""
        return [*self._operators(), *self._of_torchscript()]

    @property
    def op(self) -> Any:
        """What calls it."""
        return self.__call__

    @property
    def _overload_names(self) -> list[str]:
        return [o.overload_name for o in self.op_overloads()]

    @property
    def _schemas(self) -> dict[str, FunctionSchema]:
        return {o.overload_name: o._schema for o in self.op_overloads()}

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __deepcopy__(self, memo: object = None) -> OpOverloadPacket:
        return self

    def __getattr__(self, overload: str) -> Operator:
        if overload == "__qualname__":
            return self._qualified_op_name  # type: ignore[return-value]
        if overload.startswith("__"):
            raise AttributeError(f"'{self}' can't have an overload name beginning with '__'; it was asked {overload}")
        for find in (self._operators, self.op_overloads):  # TorchScript's are made when one is asked for
            for operator in find():
                if (operator.overload_name or "default") == overload:
                    vars(self)[overload] = operator  # until it is removed
                    return operator
        raise AttributeError(
            f"The underlying op of '{self}' has no overload name '{overload}'; it has {', '.join(self.overloads())}"
        )

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._generation != registry.generation:
            operators = self._operators()
            plain = [o.qualified_overload for o in operators if not o.schema.is_out]
            outs = [o.qualified_overload for o in operators if o.schema.is_out]
            self._function = PythonFunction(self.__name__, plain, outs, self._namespace)
            self._alone = operators[0] if len(operators) == 1 and not operators[0].family else None
            self._generation = registry.generation
        if not SILENT.issuperset(map(type, args)):
            answer = ask(self, f"torch.ops.{self}", args, kwargs)
            if answer is not UNASKED:
                return answer
        if asking := questions.overloads(self._namespace, self.__name__):
            if None not in (misfits := self._misfits(args, kwargs)):
                raise _fits_none(misfits)
            return questions.fitting(asking, len(args) + len(kwargs))(*args, **kwargs)
        if self._alone is not None:  # a user's operator, which checks its arguments itself
            return self._alone(*args, **kwargs)
        try:
            return self._function(*args, **kwargs)
        except ArgumentTypeError as error:
            refused = error
        misfits = self._misfits(args, kwargs)
        if None in misfits:  # one does take the arguments: its kernel refused them
            raise refused
        for overload in self._of_torchscript():
            try:
                taken = overload.taken(args, kwargs)
            except ArgumentError as error:
                misfits.append(str(error))
            else:
                return overload.compute(taken)
        raise _fits_none(misfits) from refused

    def _operators(self) -> list[Operator]:
        # Those that take out= are tried last, as PyTorch lists them.
        found = sorted(registry.overloads(self._namespace, self.__name__), key=lambda operator: operator.schema.is_out)
        return found or [*questions.overloads(self._namespace, self.__name__)]

    def _misfits(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str | None]:
        return [_misfit(operator, args, kwargs) for operator in self._operators()]

    def _of_torchscript(self) -> Sequence[Any]:
        # Their module is loaded when they are first asked for, which most programs do not.
        module = importlib.import_module("glasstorch.calls.of_torchscript")
        return module.overloads(self._namespace, self.__name__)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def _fits_none(misfits: Sequence[str | None]) -> ArgumentError:
    """What PyTorch says where no overload takes the arguments."""
    reasons = [reason for reason in misfits if reason is not None]
    if len(reasons) == 1:
        return ArgumentError(reasons[0])
    header = "Overloaded torch operator invoked from Python failed to match any schema:\n"
    return ArgumentError(header + "\n\n".join(reasons))


WORDS = {"Scalar": "number", "SymInt": "int", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int"}


def _misfit(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why an overload does not take the arguments; None if it does."""
    try:
        _converted(operator, operator.bind(args, kwargs), args)  # type: ignore[arg-type]
    except ArgumentError as error:
        return str(error)
    return None


def _to_tensor(value: Any) -> Any:
    return value if isinstance(value, TensorImpl) else REFUSED


def _to_int(value: Any) -> Any:
    """An int of 64 bits; a bool is one, and so is a tensor or a NumPy number that is an index."""
    try:
        number = int(operator_index(value))
    except TypeError:
        return REFUSED
    return number if -(1 << 63) <= number < 1 << 63 else REFUSED


def _to_bool(value: Any) -> Any:
    return bool(value) if isinstance(value, bool | int) else REFUSED


def _to_device(value: Any) -> Any:
    return device_from(value) if isinstance(value, str | Device) else REFUSED


# How an argument of a user's operator is read, where PyTorch's functions in Python read more, or less.
_READ: dict[str, Callable[[Any], Any]] = {
    "Tensor": _to_tensor,
    "int": _to_int,
    "bool": _to_bool,
    "Device": _to_device,
}


def _converted(operator: OpOverload, bound: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The arguments of a call in the types of the schema; `args` are those that were given by position."""
    made = []
    no_numbers = bool(operator.family) and Tag.numbers_as_tensors not in operator.tags
    for i, (parameter, value) in enumerate(zip(operator.schema.arguments, bound, strict=True)):
        converted = converter(parameter.type, False)(value)
        if no_numbers and isinstance(value, TensorImpl) and value._number is not None:
            value, converted = value._number, REFUSED
        if not operator.family and (read := _READ.get(str(parameter.type).removesuffix("?"))) and value is not None:
            converted = read(value)
        if converted is not REFUSED:
            made.append(converted)
            continue
        kind = WORDS.get(parameter.type.base, parameter.type.base)
        kind = f"List[{kind}]" if parameter.type.is_list else kind
        kind = f"Optional[{kind}]" if parameter.type.is_optional else kind
        position = f"Position: {i}\n" if i < len(args) else ""
        raise ArgumentError(
            f"{operator.name.partition('.')[0]}() Expected a value of type '{kind}' for argument '{parameter.name}' "
            f"but instead found type '{type(value).__name__}'.\n{position}Value: {value!r}\n"
            f"Declaration: {operator.schema}"
        )
    return made


class _OpNamespace(ModuleType):
    __file__ = "torch.ops"

    def __init__(self, namespace: str) -> None:
        super().__init__(f"torch.ops.{namespace}")
        self.name = namespace
        self._packets: dict[str, OpOverloadPacket] = {}

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or not (registry.overloads(self.name, name) or questions.overloads(self.name, name)):
            error = AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
            error.add_note(self._advice(name))  # Python prints it below the message
            raise error
        packet = vars(self)[name] = self._packets.setdefault(name, OpOverloadPacket(self.name, name))
        return packet

    def _advice(self, name: str) -> str:
        known = dir(self)
        if undeclared.find(f"{self.name}::{name}") is not None:
            return f"It has kernels, but is not declared; Library('{self.name}', 'FRAGMENT').define(schema) does that."
        if not known:
            return "No operator is defined in this namespace; dir(torch.ops) lists those that have one."
        match = nearest(name, known)
        suggestion = f"The nearest name is '{match}'; " if match else ""
        return f"{suggestion}dir(torch.ops.{self.name}) lists what there is."

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self))

    def __dir__(self) -> list[str]:
        start = self.name + "::"
        return sorted({n.removeprefix(start).partition(".")[0] for n in registry.operators if n.startswith(start)})


class _HigherOrderNamespace(ModuleType):
    __file__ = "torch.ops"

    def __init__(self) -> None:
        super().__init__("torch.ops.higher_order")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"'_HigherOrderNamespace' 'torch.ops.higher_order' object has no attribute '{name}': operators that take "
            f"functions, as cond and while_loop do, are missing in glasstorch",
            name=name,
        )


class _Ops(ModuleType):
    """The namespaces of operators, as attributes: `ops.aten`."""

    __file__ = "_ops.py"

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self._namespaces: dict[str, _OpNamespace] = {}
        self.higher_order = _HigherOrderNamespace()
        self.loaded_libraries: set[str] = set()

    def import_module(self, module: str) -> None:
        """Import a module that registers operators."""
        importlib.import_module(module)

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Load a compiled library into the process; OSError says why it cannot be.

        Its operators and kernels are registered, if it was compiled against the headers in
        `torch.utils.cpp_extension.include_paths()`. One that needs PyTorch's C++ library is refused by the system's
        loader, as there is none here.
        """
        path = os.path.realpath(path)
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            raise OSError(f"Could not load this library: {path}") from error
        _start_library(library, path)
        self.loaded_libraries.add(path)

    def __getattr__(self, namespace: str) -> _OpNamespace:
        if namespace.startswith("__"):
            raise AttributeError(namespace)
        found = vars(self)[namespace] = self._namespaces.setdefault(namespace, _OpNamespace(namespace))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self))

    def __dir__(self) -> list[str]:
        return sorted({name.partition("::")[0] for name in registry.operators})


ops = _Ops()


def _forget(operator: Operator) -> None:
    """Let an operator that was removed be looked for again."""
    namespace = vars(ops).get(operator.namespace)
    name = operator.qualified_overload.partition(".")[0]
    if namespace is not None and (packet := vars(namespace).pop(name, None)) is not None:
        vars(packet).pop(operator.overload_name or "default", None)


on_removal.append(_forget)


def _packet_of(operator: OpOverload) -> OpOverloadPacket:
    packet: OpOverloadPacket = getattr(
        getattr(ops, operator.namespace), operator.name.partition("::")[2].partition(".")[0]
    )
    return packet


def _answer(operator: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The answer of a mode or an argument to a call of an overload; NotImplemented if there is nobody to ask."""
    asked = to_be_asked(args, kwargs)
    if asked is None:
        return NotImplemented
    return answer_of(asked, operator, f"torch.ops.{operator.namespace}.{operator._opname}", args, kwargs)


python_fallback.CALLS.add(OpOverloadPacket.__call__.__code__)
OpOverload.packet_of = _packet_of
OpOverload.answer = _answer
OpOverload.converted = _converted
