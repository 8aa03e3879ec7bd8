"""How are sums, means, extrema, all and any computed on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/Reduce.cuh (setReduceConfig), ReduceSumProdKernel.cu, ReduceMomentKernel.cu,
    ReduceMinValuesKernel.cu, ReduceLogicKernel.cu, ReduceArgMaxKernel.cu, aten/src/ATen/native/ReduceOps.cpp
Differs: one kernel serves all. Where blocks share a line, a second launch combines their partial results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, empty
from glasstorch.core.device import device
from glasstorch.core.dtype import FLOATING, dtype, float32, float64, int32, int64
from glasstorch.core.geometry import Shape
from glasstorch.core.return_types import named_result
from glasstorch.devices.launch import launch
from glasstorch.devices.modules import kernel
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import copy_elements
from glasstorch.kernels.cuda.lines import Block, address, multiprocessors, nearest
from glasstorch.kernels.cuda.tensors import COMPUTED, CUDA_TYPE, geometry, output
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes.reductions import sums as shapes
from glasstorch.operators.shapes.result import Result

CUDA = KernelTable("CUDA")

FILE = "reductions.cu"
ROWS, COLUMNS, PARTIALS = "reduce_rows", "reduce_columns", "reduce_partials"


# Operations and launches
# -----------------------------------------------------------------------------------------------


class Operation(NamedTuple):
    """An operation of reductions.cu, and the structure that configures it."""

    name: str  # Sum, Extremum or Truth
    argument: Any  # a NumPy scalar


def operation(name: str, field: Any) -> Operation:
    """The operation whose structure has this NumPy scalar as its one field."""
    return Operation(name, np.array((field,), [("field", field.dtype)])[()])


@lru_cache(maxsize=4096)
def sum_by(divisor: int, computed: dtype) -> Operation:
    """The sum divided by a number."""
    return operation("Sum", computed.numpy.type(divisor))


def computed_in(element: dtype) -> dtype:
    """The compute dtype of elements: Computed in lines.cuh."""
    if element.category != FLOATING:
        return int64
    return float64 if element is float64 else float32


def no_states(operation: Operation, element: dtype, count: int, on: device) -> Tensor:
    """Memory for this many of an operation's states."""
    if operation.name == "Extremum":
        return empty((count, 2), int64, on)  # Found: 16 bytes
    return empty((count,), computed_in(element) if operation.name == "Sum" else int32, on)


def options(name: str, element: dtype) -> tuple[str, ...]:
    """The compiler options for reductions.cu."""
    return (f"ELEMENT={CUDA_TYPE[element]}", f"OPERATION={name}")


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines."""
    for element in COMPUTED:
        for name in ("Sum", "Extremum", "Truth"):
            for expression in (ROWS, COLUMNS, PARTIALS):
                yield FILE, expression, options(name, element)


class Plan(NamedTuple):
    """Which elements make a line, and which threads reduce it."""

    block: Block
    parts: int  # into which each line is split
    lines: int
    length: int
    between: Any  # struct Geometry: from line to line in the input, the results and the indices
    along: Any  # struct Geometry: along a line


@lru_cache(maxsize=4096)
def plan(shape: Shape, strides: Shape, dims: Shape, results: Shape | None, indices: Shape | None, cores: int) -> Plan:
    """How to reduce dimensions of an input on a device with `cores` multiprocessors.

    `results` and `indices` are the strides of values and indices over the kept dimensions; None where absent.
    """
    kept = [d for d in range(len(shape)) if d not in dims]
    kept_shape, kept_strides = tuple(shape[d] for d in kept), tuple(strides[d] for d in kept)
    line_shape, line_strides = tuple(shape[d] for d in dims), tuple(strides[d] for d in dims)
    lines, length = math.prod(kept_shape), math.prod(line_shape)
    nothing = (0,) * len(kept)
    between = geometry(kept_shape, kept_strides, results or nothing, indices or nothing, any_order=True)
    along = geometry(line_shape, line_strides, any_order=indices is None)  # indices count in row-major order
    rows = lines == 1 or nearest(line_shape, line_strides) <= nearest(kept_shape, kept_strides)
    block = Block.of(rows, lines, length)
    return Plan(block, block.parts(lines, length, cores), lines, length, between, along)


def reduce(
    operation: Operation,
    input: Tensor,
    dims: Shape,
    keepdim: bool,
    results: Tensor | None,
    indices: Tensor | None = None,
) -> None:
    """Reduce dimensions into `results` (values), `indices` (indices in a line) or both, of any strides."""
    if 0 in (results if results is not None else indices)._shape:  # type: ignore[union-attr]
        return
    on = input.device

    def at_kept(tensor: Tensor | None) -> Shape | None:
        if tensor is None or not keepdim:
            return None if tensor is None else tensor.strides()
        return tuple(step for d, step in enumerate(tensor.strides()) if d not in dims)

    block, parts, lines, length, between, along = plan(
        input._shape, input.strides(), dims, at_kept(results), at_kept(indices), multiprocessors(on)
    )
    defines = options(operation.name, input.dtype)
    to = address(results), address(indices)
    partials = no_states(operation, input.dtype, lines * parts, on) if parts > 1 else None
    first = (input, *to, address(partials), between, along, np.int64(lines), np.int64(length), operation.argument)
    run = kernel(FILE, ROWS if block.rows else COLUMNS, defines)
    launch(run, (block.count(lines), parts), block.threads(), first)
    if partials is not None:
        block = Block.of(True, lines, parts)
        second = (partials, *to, between, np.int64(lines), np.int32(parts), operation.argument)
        launch(kernel(FILE, PARTIALS, defines), block.count(lines), block.threads(), second)


def converted(tensor: Tensor, to: dtype) -> Tensor:
    """The tensor converted to a dtype, or itself if it has that dtype."""
    return tensor if tensor.dtype is to else copy_elements(empty(tensor._shape, to, tensor.device), tensor)


def target(result: Result, on: device, out: Tensor | None) -> Tensor:
    """The tensor to compute a result in: `out` if it has the result's dtype, else a fresh one."""
    return out if out is not None and out.dtype is result.dtype else output(result, on)


def delivered(result: Tensor, out: Tensor | None) -> Tensor:
    """The result, or `out` with the result copied into it."""
    return result if out is None or out is result else copy_elements(out, result)


# Sums -----------------------------------------------------------------------------------------------------------


@structured(CUDA, "sum")
def sum_all(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    return sum_dim(keys, self, None, False, dtype)


@structured(CUDA, "sum.dim_IntList")
def sum_dim(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The sum over dimensions; the dtype of an out= tensor is the compute dtype."""
    result = shapes.sum_dim(self, dim, keepdim, dtype)
    if out is not None:
        result = result._replace(dtype=out.dtype)
    return add(self, dim, keepdim, result, 1, out)


@structured(CUDA, "mean")
def mean_all(keys: int, self: Tensor, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
    return mean_dim(keys, self, None, False, dtype, out)


@structured(CUDA, "mean.dim")
def mean_dim(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The mean over dimensions; NaN for no elements."""
    result = shapes.mean_dim(self, dim, keepdim, dtype)
    count = math.prod(self._shape[d] for d in shapes.reduced_dims(dim, len(self._shape)))
    return add(self, dim, keepdim, result, count, out)


def add(
    self: Tensor, dim: Sequence[int] | None, keepdim: bool, result: Result, divisor: int, out: Tensor | None
) -> Tensor:
    """The sum over dimensions in the dtype of the result, divided by a number."""
    to = target(result, self.device, out)
    dims = shapes.reduced_dims(dim, len(self._shape))
    reduce(sum_by(divisor, computed_in(result.dtype)), converted(self, result.dtype), dims, keepdim, to)
    return delivered(to, out)


# Extrema --------------------------------------------------------------------------------------------------------


def register_extremum(name: str, least: bool) -> None:
    """Register max, max.dim, amax and argmax, or the same for min."""
    shape, shape_dim = shape_function(name), shape_function(f"{name}.dim")
    shape_dims, shape_position = shape_function(f"a{name}"), shape_function(f"arg{name}")
    operator_dim = f"{name}.dim"
    found = operation("Extremum", np.bool_(least))

    def every_dim(tensor: Tensor) -> Shape:
        return tuple(range(len(tensor._shape)))

    @structured(CUDA, name)
    def extremum(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        to = target(shape(self), self.device, out)
        reduce(found, self, every_dim(self), False, to)
        return delivered(to, out)

    @structured(CUDA, operator_dim)
    def extremum_dim(
        keys: int, self: Tensor, dim: int, keepdim: bool, out: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, ...]:
        results = shape_dim(self, dim, keepdim)
        values, indices = out if out is not None else (output(result, self.device) for result in results)
        reduce(found, self, shapes.reduced_dims([dim], len(self._shape)), keepdim, values, indices)
        return named_result(operator_dim, (values, indices))

    @structured(CUDA, f"a{name}")
    def extremum_dims(keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, out: Tensor | None = None) -> Tensor:
        to = target(shape_dims(self, dim, keepdim), self.device, out)
        reduce(found, self, shapes.reduced_dims(dim, len(self._shape)), keepdim, to)
        return to

    @structured(CUDA, f"arg{name}")
    def position_of_extremum(
        keys: int, self: Tensor, dim: int | None, keepdim: bool, out: Tensor | None = None
    ) -> Tensor:
        to = target(shape_position(self, dim, keepdim), self.device, out)
        dims = every_dim(self) if dim is None else shapes.reduced_dims([dim], len(self._shape))
        reduce(found, self, dims, keepdim, None, to)
        return to


# all and any ----------------------------------------------------------------------------------------------------


def register_truth(name: str, every: bool) -> None:
    """Register all, all.dim and all.dims, or the same for any. Nonzero elements are true, NaN included."""
    shape_dims = shape_function(f"{name}.dims")
    found = operation("Truth", np.bool_(every))

    @structured(CUDA, f"{name}.dims")
    def truth_dims(
        keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, out: Tensor | None = None
    ) -> Tensor:
        to = output(shape_dims(self, dim, keepdim), self.device) if out is None else out  # bool and uint8: one byte
        dims = () if dim is not None and not dim else shapes.reduced_dims(dim, len(self._shape))
        reduce(found, self, dims, keepdim, to)
        return to

    @structured(CUDA, f"{name}.dim")
    def truth_dim(keys: int, self: Tensor, dim: int, keepdim: bool, out: Tensor | None = None) -> Tensor:
        return truth_dims(keys, self, [dim], keepdim, out)

    @structured(CUDA, name)
    def truth(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        return truth_dims(keys, self, None, False, out)


register_extremum("max", least=False)
register_extremum("min", least=True)
register_truth("all", every=True)
register_truth("any", every=False)
