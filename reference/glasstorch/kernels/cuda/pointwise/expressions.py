"""How does an expression become the kernel of a pointwise operator on a CUDA device?

The expressions are those of `kernels/pointwise/formulas.py`, and some more in the other files of this folder.

Mirrors: aten/src/ATen/native/cuda/Loops.cuh (gpu_kernel, gpu_kernel_with_scalars), CUDALoops.cuh, JitLoops.cuh
Differs: every operator is compiled at its first call, as PyTorch's jiterator does for some. See pointwise.cu.

# Note [An operand that is one number]
A Python number, or a 0-dim tensor on the CPU, is not copied to the device: the kernel gets its value. PyTorch's kernels
round it to the common dtype where their functor takes elements, and keep the compute precision where it takes the wider
type (opmath_t): `Row.exact` lists the operands of the latter kind. Where a kernel takes no numbers, such a tensor is
refused as being on another device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, bool_, dtype, float32, float64, int64
from glasstorch.core.errors import DeviceError, not_implemented_for
from glasstorch.core.geometry import Shape
from glasstorch.devices import modules
from glasstorch.devices.driver import Kernel as Compiled
from glasstorch.devices.launch import grid_for, launch
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.cuda.tensors import (
    CODE,
    COMPUTED,
    CUDA_TYPE,
    broadcast_strides,
    collapsed,
    common_device,
    geometry,
    is_number,
    output,
)
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.pointwise.cuda_text import cuda_text
from glasstorch.kernels.pointwise.formulas import Formula
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import add_structured
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CUDA = KernelTable("CUDA")
Kernel = Callable[..., Tensor]

ALL: Final = frozenset(COMPUTED)
NOT_BOOL: Final = ALL - {bool_}
FLOATING: Final = frozenset(d for d in COMPUTED if d.is_floating_point)
INTEGRAL_OR_BOOL: Final = ALL - FLOATING

SMALL_BLOCK: Final = 128  # threads; each takes VECTOR elements at a time where it can
VECTOR: Final = 4  # elements that a thread reads or writes at once
MOST_BLOCKS: Final = 2048  # they fill any GPU; for more elements, threads loop
NUMBER: Final = -1  # in place of a dtype, as in elements.cuh

# struct Operands of pointwise.cu, for each compute dtype
OPERANDS: Final = {
    compute: np.dtype(
        [
            ("types", np.int32, (4,)),
            ("common", np.int32),
            ("inputs", compute.numpy, (3,)),
            ("numbers", compute.numpy, (3,)),
        ],
        align=True,
    )
    for compute in (float32, float64, int64)
}


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """An expression of the operands a, b, c and the numbers p, q, r in C++, and for which dtypes it is compiled.

    `accepts` are the dtypes that PyTorch's kernel supports; `label` is the kernel's name in the error for others.
    `common` gives the compute dtype. `numbers` are the operands, counted from 0, that may be numbers, and `exact` those
    of them that are not rounded: see Note [An operand that is one number].
    """

    expression: str
    inputs: int
    accepts: frozenset[dtype] = ALL
    label: str = ""
    common: Callable[..., dtype] = result_type
    numbers: frozenset[int] = frozenset()
    exact: frozenset[int] = frozenset()

    @classmethod
    def of(cls, formula: Formula) -> Row:
        """The row for a line of the table of formulas that is for CUDA too."""
        own = formula.cuda
        assert own is not None, f"{formula.expression} is for CUDA"
        return cls(
            cuda_text(own.expression or formula.expression),
            formula.tensors,
            (formula.accepts | own.accepts) & ALL,
            own.label,
            formula.common,
            own.numbers,
            own.exact,
        )

    def check(self, common: dtype) -> None:
        """Refuse a dtype that the operator accepts but the kernel does not support."""
        if common not in self.accepts:
            raise not_implemented_for(self.label, common)


def computed_in(common: dtype) -> dtype:
    """The compute dtype for elements of a common dtype: float32, float64 or int64."""
    return op_math(common) if common.is_floating_point else int64


# Compiling ------------------------------------------------------------------------------------------------------


@cache
def source_of(row: Row, compute: dtype) -> tuple[str, str, tuple[str, ...]]:
    """The kernel of a row for a compute dtype, as `modules.kernel` takes it."""
    return (
        "pointwise.cu",
        "pointwise",
        (f"COMPUTE={CUDA_TYPE[compute]}", f"INPUTS={row.inputs}", f"EXPRESSION={row.expression}"),
    )


def compiled(row: Row, compute: dtype) -> Compiled:
    """The kernel of a row for a compute dtype."""
    return modules.kernel(*source_of(row, compute))


def kernels_of(rows: Iterable[Row]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that rows may launch, as `modules.kernel` takes it."""
    for row in rows:
        for compute in OPERANDS:
            if any(computed_in(dtype) is compute for dtype in row.accepts):
                yield source_of(row, compute)


# Running --------------------------------------------------------------------------------------------------------


def run(
    row: Row,
    result: Result | None,
    inputs: tuple[Tensor, ...],
    out: Tensor | None,
    numbers: tuple[Number, ...] = (),
    common: dtype | None = None,
) -> Tensor:
    """Compute into `out`, or into a fresh tensor for `result`, and return it.

    `numbers` are p, q and r; `common` is the compute dtype where the row's rule gives none.
    """
    on = device_of(row, inputs, out)
    common = common or row.common(*inputs)
    row.check(common)
    if out is None:
        assert result is not None, "a kernel without out= is given the result's shape"
        out = output(result, on)
    count = out.numel()
    if count:
        compute = computed_in(common)
        operands = describe(row, common, compute, inputs, out, numbers)
        shape = out._shape
        strides = (out.strides(), *(broadcast_strides(tensor, shape) for tensor in inputs))
        fours = count // VECTOR if lie_side_by_side(shape, strides, (out, *inputs)) else 0
        addresses = [0 if is_number(tensor) else tensor for tensor in inputs] + [0] * (3 - len(inputs))
        arguments = (
            (out, *addresses)
            + (operands, geometry(shape, *strides, any_order=True))
            + (np.int64(count), np.int64(fours))
        )
        blocks = min(grid_for(fours + count - VECTOR * fours, SMALL_BLOCK), MOST_BLOCKS)
        launch(compiled(row, compute), blocks, SMALL_BLOCK, arguments)
    return out


def device_of(row: Row, inputs: tuple[Tensor, ...], out: Tensor | None) -> device:
    """The device that all tensors are on; see Note [An operand that is one number] for what may be on the CPU."""
    on = common_device(out, *inputs)
    for position, tensor in enumerate((out, *inputs), -1):
        if tensor is not None and tensor.device is not on and position not in row.numbers:
            raise DeviceError(
                f"Expected all tensors to be on the same device, but found at least two devices, {on} and "
                f"{tensor.device}!"
            )
    return on


def describe(
    row: Row, common: dtype, compute: dtype, inputs: tuple[Tensor, ...], out: Tensor, numbers: tuple[Number, ...]
) -> Any:
    """The `struct Operands` of a launch, as a NumPy scalar."""
    types, values = [CODE[out.dtype], 0, 0, 0], [0, 0, 0]
    for i, tensor in enumerate(inputs):
        if is_number(tensor):
            types[i + 1] = NUMBER
            values[i] = value_of(tensor, common, compute, i in row.exact)
        else:
            types[i + 1] = CODE[tensor.dtype]
    given = (*numbers, 0, 0, 0)[:3]
    return np.array((types, CODE[common], values, given), OPERANDS[compute])[()]


def value_of(tensor: Tensor, common: dtype, compute: dtype, exact: bool) -> Any:
    """The value of an operand that is one number, as the kernel reads it."""
    if not common.is_floating_point:
        return tensor.array().astype(common.numpy).astype(compute.numpy)[()]
    number = np.asarray(tensor.array() if tensor._number is None else tensor._number)
    return quietly(number.astype, (compute if exact else common).numpy).astype(compute.numpy)[()]


def lie_side_by_side(shape: Shape, strides: tuple[Shape, ...], tensors: tuple[Tensor, ...]) -> bool:
    """Whether tensors can be read and written as vectors: all are contiguous and aligned."""
    sizes, steps = collapsed(shape, strides, True)
    return len(sizes) <= 1 and all(
        is_number(tensor) or (step in ((), (1,)) and tensor.data_ptr() % min(VECTOR * tensor.dtype.itemsize, 16) == 0)
        for tensor, step in zip(tensors, steps, strict=True)
    )


# From a row to a kernel -----------------------------------------------------------------------------------------


def kernel_of(shape: Callable[..., Result], row: Row, numbers: int = 0) -> Kernel:
    """The kernel of an operator of tensors, followed by p, q and r; an alpha that is left out is 1."""

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        result = shape(*arguments) if out is None else None
        tensors = tuple(argument for argument in arguments if isinstance(argument, Tensor))
        if not numbers:
            return run(row, result, tensors, out)
        common = row.common(*tensors)
        row.check(common)
        given = arguments[len(tensors) :] or (1,)
        return run(row, result, tensors, out, tuple(number_as(number, op_math(common)) for number in given), common)

    return kernel


def register(name: str, kernel: Kernel) -> Kernel:
    """Register a kernel for an operator and its forms, under the operator's name."""
    kernel.__name__ = kernel.__qualname__ = name.partition(".")[0]
    add_structured(CUDA, name, kernel, caller(1))
    return kernel
