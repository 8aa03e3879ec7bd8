"""What does a record say about the arguments of a call?

Mirrors: torch/csrc/profiler/collection.cpp (InputOutputEncoder), torch/csrc/profiler/util.cpp (inputTypes)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from glasstorch.core.device import device
from glasstorch.core.dtype import Number, bool_, complex128, dtype, float64, int64
from glasstorch.core.geometry import contiguous_strides
from glasstorch.core.layout import channels_last, channels_last_3d, contiguous_format, layout, memory_format
from glasstorch.core.tensor_impl import TensorImpl

# PyTorch's names for the types of elements, which are those of C++.
CPP_NAMES: Final = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int",
    "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long int", "float16": "c10::Half",
    "float32": "float", "float64": "double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
    "bfloat16": "c10::BFloat16",
}  # fmt: skip
FORMATS: Final = {contiguous_format: 0, channels_last: 2, channels_last_3d: 3}


class Inputs(NamedTuple):
    """The arguments of a call, one entry for each: sizes, strides, type, and the value if it is no tensor.

    A list of tensors has lists of sizes and of strides.
    """

    sizes: list[Any]
    strides: list[Any]
    types: list[str]
    values: list[Any]

    def shapes(self) -> list[list[int]]:
        """The sizes of tensors alone; those in lists are left out, as in the table's column."""
        return [[] if kind == "TensorList" else sizes for kind, sizes in zip(self.types, self.sizes, strict=True)]


NOTHING: Final = Inputs([], [], [], [])


class Kept(NamedTuple):
    """What is kept of a tensor among the arguments: its sizes, strides (None if row-major) and dtype."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: dtype


def capture(arguments: Sequence[Any]) -> list[Any]:
    """What is kept of a call's arguments while the program runs: no tensor."""
    return [
        _new(Kept, (one._shape, one._strides, one.dtype if one._number is None else dtype_of(one._number)))
        if isinstance(one, TensorImpl)
        else capture(one)
        if isinstance(one, list | tuple)
        else one
        for one in arguments
    ]


def dtype_of(number: Number) -> dtype:
    """The dtype of a tensor that wraps a Python number, as PyTorch sees it: of the same width as Python's."""
    return WIDEST[type(number)]


WIDEST: Final = {bool: bool_, int: int64, float: float64, complex: complex128}
_new: Final = tuple.__new__  # a third of what the class's own way costs


def described(kept: Sequence[Any]) -> Inputs:
    """What is shown of the arguments that `capture` kept."""
    inputs = Inputs([], [], [], [])
    for argument in kept:
        sizes, strides, kind, value = _described(argument)
        inputs.sizes.append(sizes)
        inputs.strides.append(strides)
        inputs.types.append(kind)
        inputs.values.append(value)
    return inputs


def _described(argument: Any) -> tuple[Any, Any, str, Any]:
    if isinstance(argument, Kept):
        return list(argument.sizes), _strides(argument), cpp_name(argument.dtype), None
    if isinstance(argument, list):
        tensors = [one for one in argument if isinstance(one, Kept)]
        if tensors:
            return [list(one.sizes) for one in tensors], [_strides(one) for one in tensors], "TensorList", None
        return [], [], "ScalarList", [plain(value) for value in argument]
    if argument is None or isinstance(argument, device | str):
        return [], [], "", None
    return [], [], "Scalar", plain(argument)


def _strides(kept: Kept) -> list[int]:
    return list(contiguous_strides(kept.sizes) if kept.strides is None else kept.strides)


def cpp_name(of: dtype) -> str:
    return CPP_NAMES.get(of.name, of.name)


def plain(value: Any) -> Any:
    """A value as a number or a truth value; a dtype, a layout and a format are numbers to PyTorch."""
    if isinstance(value, dtype):
        return value.scalar_type
    if isinstance(value, layout):
        return 0
    if isinstance(value, memory_format):
        return FORMATS.get(value, 1)
    return value if isinstance(value, bool | int | float | str) else str(value)
