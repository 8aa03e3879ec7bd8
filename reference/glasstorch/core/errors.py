"""Which errors does the library raise, and what does each mean?

Mirrors: c10/util/Exception.h (TORCH_CHECK, TORCH_CHECK_INDEX, TORCH_CHECK_TYPE, TORCH_CHECK_NOT_IMPLEMENTED),
    torch/headeronly/core/Dispatch.h (THO_DISPATCH_SWITCH_TMPL),
    torch/csrc/Exceptions.cpp (AcceleratorError, OutOfMemoryError), torch/cuda/_sanitizer.py (UnsynchronizedAccessError)
Differs: PyTorch raises Python's builtins. Each class here derives from the builtin that PyTorch raises in that case and
    is shown under its name, so that programs and tracebacks read as they do there; the class, and its name in `rule`,
    say which rule was broken.
"""

from __future__ import annotations

import builtins
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rule:
    """A rule that a caller broke: an error with a class of its own that is shown as the builtin PyTorch raises.

    A subclass derives from that builtin too, and is shown under the name of the first builtin among its bases, or of
    the one in `seen_as`. The name that it has in the source is kept in `rule`; an error is pickled by that name.
    """

    __slots__ = ()
    rule: ClassVar[str]
    _defined_in: ClassVar[str]

    def __init_subclass__(cls, *, seen_as: type[Exception] | None = None) -> None:
        super().__init_subclass__()
        cls.rule, cls._defined_in = cls.__name__, cls.__module__
        shown = seen_as or next(base for base in cls.__mro__[1:] if vars(builtins).get(base.__name__) is base)
        cls.__name__ = cls.__qualname__ = shown.__name__
        cls.__module__ = shown.__module__

    def __reduce__(self) -> tuple[Any, ...]:
        made_from = _broken, (self._defined_in, self.rule, getattr(self, "args", ()))
        return (*made_from, vars(self)) if vars(self) else made_from


def _broken(module: str, rule: str, args: tuple[Any, ...]) -> Any:
    """The error of this rule with these arguments; how a pickled one is made again."""
    return getattr(import_module(module), rule)(*args)


# What a caller did wrong ----------------------------------------------------------------------------------------


class ShapeError(Rule, RuntimeError):
    """Sizes do not fit together, or do not fit the operator."""


class DimensionError(Rule, IndexError):
    """A dimension or an index is out of range for the tensor."""


class IndexValueError(Rule, RuntimeError):
    """An element of an index tensor is out of range for its dimension, where PyTorch raises RuntimeError for that."""


class DtypeError(Rule, RuntimeError):
    """The operator does not accept the dtype, or the result cannot be cast to the one that was given."""


class DtypeNotImplementedError(Rule, NotImplementedError):
    """The kernel exists, but not for this dtype."""


class Dtype(Protocol):
    """A dtype, as far as a message names it."""

    @property
    def scalar_name(self) -> str: ...


def not_implemented_for(kernel: str, dtype: Dtype) -> DtypeNotImplementedError:
    """The error of a kernel that is not implemented for a dtype, in PyTorch's words (THO_DISPATCH_SWITCH_TMPL)."""
    return DtypeNotImplementedError(f"\"{kernel}\" not implemented for '{dtype.scalar_name}'")


class DeviceError(Rule, RuntimeError):
    """Tensors are on different devices, or a device does not exist."""


class OverlapError(Rule, RuntimeError):
    """Writing would touch one memory location twice, or change an input while it is being read."""


class ArgumentTypeError(Rule, TypeError):
    """An argument has a type that no overload of the function accepts."""


class ArgumentValueError(Rule, ValueError):
    """An argument has the right type and a value that the function cannot use."""


class ArgumentError(Rule, RuntimeError):
    """An argument has a value that the operator cannot use, where PyTorch raises RuntimeError and not ValueError."""


class IntegerDivisionError(Rule, RuntimeError):
    """An integer was divided by zero; integers have no infinity and no NaN."""


class AutogradError(Rule, RuntimeError):
    """The gradient asked for does not exist, or can no longer be computed."""


def no_gradient(form: str) -> AutogradError:
    """The error of writing a differentiable result to out= (VariableTypeUtils.h, throw_error_out_requires_grad)."""
    return AutogradError(
        f"{form.partition('.')[0]}(): functions with out=... arguments don't support automatic "
        f"differentiation, but one of the arguments requires grad."
    )


class InplaceError(Rule, RuntimeError):
    """An in-place operation would make a gradient wrong."""


class NoDataError(Rule, NotImplementedError):
    """The elements of a tensor on the meta device were asked for; it has none."""


def needs_data(name: str, shape: Iterable[int]) -> NoDataError:
    """The error of an operator whose output size depends on the data of an input of this shape, on meta."""
    return NoDataError(f"{name}: the sizes of its result depend on the data, and {list(shape)} on meta has none")


class StorageError(Rule, RuntimeError):
    """A storage is too small for the geometry, or cannot be resized."""


class HostMemoryError(StorageError, MemoryError, seen_as=RuntimeError):
    """Main memory has no room for an allocation: PyTorch's RuntimeError, and Python's own error for it."""


class FileError(Rule, OSError, RuntimeError, seen_as=RuntimeError):
    """A file cannot be opened: PyTorch's RuntimeError, and Python's own error for it."""

    def __str__(self) -> str:
        """The message; with the number of the error where it names the file, as Python's own errors do."""
        return str(self.strerror) if self.filename is None and self.strerror else super().__str__()


class MissingFileError(FileError, FileNotFoundError, seen_as=RuntimeError):
    """The file that was named does not exist."""


# What an accelerator reports ------------------------------------------------------------------------------------


class _LinAlgError(RuntimeError):
    """A matrix has no inverse, no solution or no decomposition of the kind that was asked for."""


LinAlgError = _LinAlgError  # PyTorch's class has the underscore in its name, and users catch it without


class AcceleratorError(RuntimeError):
    """A CUDA call or kernel failed; `code` is CUDA's number and `code_name` its name, as in cudaError_t."""

    def __init__(self, message: str, code: int, code_name: str) -> None:
        super().__init__(message)
        self.code = code
        self.code_name = code_name

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.code, self.code_name)


class OutOfMemoryError(RuntimeError):
    """A device does not have enough free memory for an allocation."""


class UnsynchronizedAccessError(RuntimeError):
    """Two streams use the same memory, one of them writes, and no event orders the two accesses."""


# What a registration did wrong ----------------------------------------------------------------------------------


class SchemaError(Rule, RuntimeError):
    """A schema, or a line of a declaration file, cannot be parsed."""


class SchemaTextError(Rule, RuntimeError):
    """A schema that a program gives cannot be read; the message marks the place."""


class RegistrationError(Rule, RuntimeError):
    """An operator or a kernel is registered twice, or for something that does not exist."""


class MissingKernelError(Rule, NotImplementedError):
    """No kernel is registered for the dispatch key of the arguments."""
