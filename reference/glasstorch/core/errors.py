"""Which errors does the library raise, and what does each mean?

Mirrors: c10/util/Exception.h (TORCH_CHECK, TORCH_CHECK_INDEX, TORCH_CHECK_TYPE, TORCH_CHECK_NOT_IMPLEMENTED),
    torch/headeronly/core/Dispatch.h (THO_DISPATCH_SWITCH_TMPL),
    torch/csrc/Exceptions.cpp (AcceleratorError, OutOfMemoryError), torch/cuda/_sanitizer.py (UnsynchronizedAccessError)
Differs: PyTorch raises Python's builtins; each class here derives from the builtin that PyTorch raises in that
    case, so `except RuntimeError` written for torch still works and a reader can see which rule was broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

# What a caller did wrong ----------------------------------------------------------------------------------------


class ShapeError(RuntimeError):
    """Sizes do not fit together, or do not fit the operator."""


class DimensionError(IndexError):
    """A dimension or an index is out of range for the tensor."""


class IndexValueError(RuntimeError):
    """An element of an index tensor is out of range for its dimension, where PyTorch raises RuntimeError for that."""


class DtypeError(RuntimeError):
    """The operator does not accept the dtype, or the result cannot be cast to the one that was given."""


class DtypeNotImplementedError(NotImplementedError):
    """The kernel exists, but not for this dtype."""


class Dtype(Protocol):
    """A dtype, as far as a message names it."""

    @property
    def scalar_name(self) -> str: ...


def not_implemented_for(kernel: str, dtype: Dtype) -> DtypeNotImplementedError:
    """The error of a kernel that is not implemented for a dtype, in PyTorch's words (THO_DISPATCH_SWITCH_TMPL)."""
    return DtypeNotImplementedError(f"\"{kernel}\" not implemented for '{dtype.scalar_name}'")


class DeviceError(RuntimeError):
    """Tensors are on different devices, or a device does not exist."""


class OverlapError(RuntimeError):
    """Writing would touch one memory location twice, or change an input while it is being read."""


class ArgumentTypeError(TypeError):
    """An argument has a type that no overload of the function accepts."""


class ArgumentValueError(ValueError):
    """An argument has the right type and a value that the function cannot use."""


class ArgumentError(RuntimeError):
    """An argument has a value that the operator cannot use, where PyTorch raises RuntimeError and not ValueError."""


class IntegerDivisionError(RuntimeError):
    """An integer was divided by zero; integers have no infinity and no NaN."""


class AutogradError(RuntimeError):
    """The gradient asked for does not exist, or can no longer be computed."""


def no_gradient(form: str) -> AutogradError:
    """The error of writing a differentiable result to out= (VariableTypeUtils.h, throw_error_out_requires_grad)."""
    return AutogradError(
        f"{form.partition('.')[0]}(): functions with out=... arguments don't support automatic "
        f"differentiation, but one of the arguments requires grad."
    )


class InplaceError(RuntimeError):
    """An in-place operation would make a gradient wrong."""


class NoDataError(NotImplementedError):
    """The elements of a tensor on the meta device were asked for; it has none."""


def needs_data(name: str, shape: Iterable[int]) -> NoDataError:
    """The error of an operator whose output size depends on the data of an input of this shape, on meta."""
    return NoDataError(f"{name}: the sizes of its result depend on the data, and {list(shape)} on meta has none")


class StorageError(RuntimeError):
    """A storage is too small for the geometry, or cannot be resized."""


class HostMemoryError(StorageError, MemoryError):
    """Main memory has no room for an allocation: PyTorch's RuntimeError, and Python's own error for it."""


class FileError(OSError, RuntimeError):
    """A file cannot be opened: PyTorch's RuntimeError, and Python's own error for it."""


class MissingFileError(FileError, FileNotFoundError):
    """The file that was named does not exist."""


# What an accelerator reports ------------------------------------------------------------------------------------


class LinAlgError(RuntimeError):
    """A matrix has no inverse, no solution or no decomposition of the kind that was asked for."""


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


class SchemaError(ValueError):
    """A schema, or a line of a declaration file, cannot be parsed."""


class RegistrationError(RuntimeError):
    """An operator or a kernel is registered twice, or for something that does not exist."""


class MissingKernelError(NotImplementedError):
    """No kernel is registered for the dispatch key of the arguments."""
