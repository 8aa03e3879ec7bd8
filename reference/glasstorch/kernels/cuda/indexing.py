"""How are elements gathered and written by tensors of indices on a CUDA device?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (make_info, restride_src, restride_indices), IndexingUtils.h
    (expandTensors), cuda/IndexKernel.cu, cuda/ScatterGatherKernel.cu, cuda/Indexing.cu, cuda/Nonzero.cu
Differs: see indexing.cu. int32 indices are cast to int64 first. An out-of-range index is a device-side assert, as in
    PyTorch; the simulator prints the index. Where an index repeats, as in `x[[0, 0]] = value` and in scatter, two
    threads write to one element and either value may remain: the simulator's check mode reports a race on global
    memory, even where the values are the same. Accumulation does not race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, empty, from_array, make_view
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import Number, int32, int64, uint8
from glasstorch.core.errors import DeviceError, DimensionError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape, broadcast_shapes, contiguous_strides, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.devices.launch import BLOCK, grid_for, launch
from glasstorch.devices.modules import kernel
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import clone, contiguous, copy_elements
from glasstorch.kernels.cuda.tensors import CUDA_TYPE, MAX_DIMS, broadcast_strides, common_device, geometry, output
from glasstorch.kernels.cuda.units import ELEMENT, NUMBER, UNIT, bits
from glasstorch.kernels.indexing import look_before_put, warn_of_bytes
from glasstorch.kernels.structured import check_no_overlap, check_writable, resize_output, structured
from glasstorch.operators.shapes.indexing import advanced as shapes
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CUDA = KernelTable("CUDA")

Indices = Sequence[Tensor | None]

COUNTS: Final = 1024  # blocks of nonzero: one block sums their counts, with a thread for each

ZERO: Final = from_array(np.zeros((), np.int64), int64)

DIMENSION = np.dtype(  # struct Dimension of indexing.cu
    [("size", np.int64), ("stride", np.int64), ("least", np.int64), ("number", np.int32)], align=True
)
SIZES = np.dtype([("ndim", np.int32), ("of", np.int64, (MAX_DIMS,))], align=True)  # struct Sizes of indexing.cu

# The dtypes with atomic addition; see Note [Adding to one element] in indexing.cu.
ADDED: Final = tuple(dtype for dtype in CUDA_TYPE if dtype.itemsize > 1)

MOVING = ("pick", "place", "place_number", "count_nonzero", "write_nonzero")  # kernels compiled for a unit


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    for name in ("combine", "sum_counts"):
        yield "indexing.cu", name, ()
    for name in MOVING:
        for size in ELEMENT:
            yield "indexing.cu", f"{name}<{UNIT[size]}>", ()
    for name in ("pick", "place"):  # complex128 too
        yield "indexing.cu", f"{name}<{UNIT[16]}>", ()
    for dtype in ADDED:
        yield "indexing.cu", f"accumulate<{CUDA_TYPE[dtype]}>", ()


def moving(name: str, tensor: Tensor) -> Any:
    """A kernel that moves elements of the tensor's size."""
    return kernel("indexing.cu", f"{name}<{UNIT[tensor.dtype.itemsize]}>")


def adding(tensor: Tensor) -> Any:
    """The kernel that adds elements of the tensor's dtype, one of ADDED."""
    return kernel("indexing.cu", f"accumulate<{CUDA_TYPE[tensor.dtype]}>")


def over(count: int, made: Any, *arguments: Any) -> None:
    """Launch a kernel with a thread for each of `count` elements; do nothing for none."""
    if count:
        launch(made, grid_for(count, BLOCK), BLOCK, arguments)


def dimension(size: int, stride: int, least: int, number: int) -> Any:
    """A `struct Dimension` of indexing.cu as a NumPy scalar."""
    return np.array((size, stride, least, number), DIMENSION)[()]


# index, index_put -----------------------------------------------------------------------------------------------


class Picks(NamedTuple):
    """The indexed elements as a kernel reads them; see Note [Offsets by index] in indexing.cu."""

    shape: Shape  # of the result, and of the iteration
    strides: Shape  # of the indexed tensor for that iteration: 0 where an index decides
    chosen: Tensor  # the int64 indices
    chosen_strides: Shape  # of the indices for that iteration
    dimension: Any


@CUDA.impl("index.Tensor")
def index(keys: int, self: Tensor, indices: Indices) -> Tensor:
    """The selected elements, as a fresh tensor."""
    if not any(tensor is not None for tensor in indices):
        raise DimensionError("at least one index must be provided")
    at = without_masks(self, indices)
    picks = picked(self, at)
    strides = shapes.indexed_strides(self, at, shapes.plan_of(self._shape, at))
    result = output(Result(picks.shape, self.dtype, strides), self.device)
    over(
        result.numel(),
        moving("pick", self),
        self.data_ptr(),
        picks.chosen,
        result.data_ptr(),
        geometry(picks.shape, result.strides(), picks.strides, picks.chosen_strides),
        np.int64(result.numel()),
        picks.dimension,
    )
    return result


@CUDA.impl("index_put_")
def index_put_(keys: int, self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Tensor:
    """Write or accumulate the values at the indexed elements."""
    look_before_put(self, indices, values, accumulate)
    put(self, indices, values, accumulate)
    return self


@CUDA.impl("index_put")
def index_put(keys: int, self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Tensor:
    """A copy with the values written."""
    result = clone(keys, self, None)
    put(result, indices, values, accumulate)
    return result


def put(target: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> None:
    """Write or accumulate values at the indexed elements. Where an index repeats, any of the values may remain."""
    fills_mask = shapes.fills_mask(indices, values, accumulate)
    at = without_masks(target, indices)
    on = target.device
    if values._shape:
        common_device(target, values, numbers=False)
    # Masks have become indices by now; the case of one value for a mask was handled before.
    same = values
    if fills_mask:
        shapes.check_mask_to_fill(indices)
        one = cast(values, target.dtype, on)
        same = make_view(one, (), (), one._offset)
    shapes.index_put(target, at, same, accumulate)
    if accumulate and target.dtype not in ADDED:
        wide = cast(target, int32, on)
        put(wide, at, cast(values, int32, on), accumulate)
        copy_elements(target, wide)
        return
    source = apart(cast(same, target.dtype, on), target)
    picks = picked(target, [None if tensor is None else apart(tensor, target) for tensor in at])
    count = prod(picks.shape)
    made = adding(target) if accumulate else moving("place", target)
    walk = geometry(picks.shape, picks.strides, broadcast_strides(source, picks.shape), picks.chosen_strides)
    addresses = (source.data_ptr(), picks.chosen, target.data_ptr())
    over(count, made, *addresses, walk, np.int64(count), picks.dimension)


def without_masks(self: Tensor, indices: Indices) -> list[Tensor | None]:
    """The indices on the tensor's device, with each mask replaced by its true elements' indices, one per dimension.

    Mirrors: expandTensors in aten/src/ATen/native/IndexingUtils.h
    """
    if self.device is CPU:
        raise DeviceError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    at: list[Tensor | None] = []
    for tensor in indices:
        if tensor is None:
            at.append(None)
        elif tensor.dtype in shapes.MASKS:
            if tensor.dtype is uint8:
                warn_of_bytes()
            shapes.check_mask(self._shape, len(at), tensor)
            at += columns(nonzero(0, cast(tensor, tensor.dtype, self.device)))
        elif tensor.dtype in shapes.INTEGERS:
            at.append(cast(tensor, int64, self.device))
        else:
            raise DimensionError("tensors used as indices must be long, int, byte or bool tensors")
    return at


def columns(rows: Tensor) -> list[Tensor]:
    """The columns of the result of nonzero."""
    found, ndim = rows._shape
    return [make_view(rows, (found,), (1,), rows._offset + dim * found) for dim in range(ndim)]


def cast(tensor: Tensor, dtype: Any, on: device) -> Tensor:
    """The tensor itself where it has the dtype and is on the device, else a copy."""
    if tensor.dtype is dtype and tensor.device is on:
        return tensor
    return copy_elements(empty(tensor._shape, dtype, on), tensor)


def apart(tensor: Tensor, target: Tensor) -> Tensor:
    """The tensor itself, or a copy where it shares memory with the target."""
    if tensor.untyped_storage() is not target.untyped_storage():
        return tensor
    return copy_elements(empty(tensor._shape, tensor.dtype, tensor.device), tensor)


def picked(self: Tensor, indices: Indices) -> Picks:
    """The iteration over the elements selected by int64 tensors, where None keeps a whole dimension."""
    sizes, strides = self._shape, self.strides()
    given = [(dim, tensor) for dim, tensor in enumerate(indices) if tensor is not None]
    if not given:  # all elements, at the one offset 0
        zero = copy_elements(empty((), int64, self.device), ZERO)
        return Picks(sizes, strides, zero, (0,) * len(sizes), dimension(1, 0, 0, 0))
    shape = shapes.plan_of(sizes, indices).shape
    together = broadcast_shapes(*(tensor._shape for _, tensor in given))
    dims = [dim for dim, _ in given]
    at = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0
    rest = [strides[dim] for dim in range(len(sizes)) if dim not in dims]
    if len(given) == 1:
        ((dim, chosen),) = given
        of_index = dimension(sizes[dim], strides[dim], -sizes[dim], dim)
    else:
        chosen = empty(together, int64, self.device)
        steps = contiguous_strides(together)
        for i, (dim, tensor) in enumerate(given):
            over(
                chosen.numel(),
                kernel("indexing.cu", "combine"),
                tensor,
                chosen,
                geometry(together, steps, broadcast_strides(tensor, together)),
                np.int64(chosen.numel()),
                dimension(sizes[dim], strides[dim], -sizes[dim], dim),
                np.bool_(i == 0),
            )
        reach = 1 + sum((sizes[dim] - 1) * strides[dim] for dim in dims)
        of_index = dimension(reach, 1, 0, dims[0])
    return Picks(
        shape,
        (*rest[:at], *[0] * len(together), *rest[at:]),
        chosen,
        (*[0] * at, *broadcast_strides(chosen, together), *[0] * (len(rest) - at)),
        of_index,
    )


# gather, scatter ------------------------------------------------------------------------------------------------


@structured(CUDA, "gather")
def gather(keys: int, self: Tensor, dim: int, index: Tensor, sparse_grad: bool, out: Tensor | None = None) -> Tensor:
    """result[i][j] = self[index[i][j]][j], for dim 0."""
    result = shapes.gather(self, dim, index, sparse_grad)
    common_device(self, index, out, numbers=False)
    if out is not None:
        check_no_overlap(out, (self, index))
    target = output(result, self.device) if out is None else out
    if not index.numel():  # its rank may be another
        return target
    at, sizes = cast(index, int64, index.device), index._shape or (1,)
    strides, of_index = along(self, dim)
    over(
        at.numel(),
        moving("pick", self),
        self.data_ptr(),
        at,
        target.data_ptr(),
        geometry(sizes, at_least_one(target), strides, at_least_one(at)),
        np.int64(at.numel()),
        of_index,
    )
    return target


def at_least_one(tensor: Tensor) -> Shape:
    """The strides of a tensor; a 0-dim tensor gets one."""
    return tensor.strides() or (1,)


def along(tensor: Tensor, dim: int) -> tuple[Shape, Any]:
    """A tensor's strides with 0 for `dim`, which an index decides, and that dimension's `struct Dimension`."""
    sizes, strides = tensor._shape or (1,), at_least_one(tensor)
    dim = wrap_dim(dim, len(sizes))
    return (*strides[:dim], 0, *strides[dim + 1 :]), dimension(sizes[dim], strides[dim], 0, dim)


@structured(CUDA, "scatter.src")
def scatter_src(keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] = src[i][j], for dim 0; where an index repeats, any of the values may remain."""
    shapes.scatter_src(self, dim, index, src)
    return _scattered(self, dim, index, src, out, add=False)


@structured(CUDA, "scatter_add")
def scatter_add(keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] += src[i][j], for dim 0."""
    shapes.scatter_src(self, dim, index, src)
    return _scattered(self, dim, index, src, out, add=True)


def _scattered(self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None, *, add: bool) -> Tensor:
    common_device(self, index, src, out, numbers=False)
    if add and self.dtype not in ADDED:
        if out is not None:
            check_no_overlap(out, (index, src))
        wide = _scattered(cast(self, int32, self.device), dim, index, cast(src, int32, src.device), None, add=add)
        return cast(wide, self.dtype, self.device) if out is None else copy_elements(out, wide)
    target = _scatter_target(self, out, (index, src))
    if not index.numel():
        return target
    at, sizes = cast(index, int64, index.device), index._shape or (1,)
    strides, of_index = along(target, dim)
    over(
        at.numel(),
        adding(target) if add else moving("place", target),
        src.data_ptr(),
        at,
        target.data_ptr(),
        geometry(sizes, strides, at_least_one(src), at_least_one(at)),
        np.int64(at.numel()),
        of_index,
    )
    return target


@structured(CUDA, "scatter.value")
def scatter_value(keys: int, self: Tensor, dim: int, index: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] = value, for dim 0."""
    shapes.scatter_value(self, dim, index, value)
    if self.dtype.itemsize not in NUMBER:  # a kernel takes a number of 8 bytes at most: refused
        CUDA_TYPE.refusing_others(self.dtype)
    common_device(self, index, out, numbers=False)
    number = np.array(number_as(value, self.dtype), self.dtype.numpy)
    target = _scatter_target(self, out, (index,))
    if not index.numel():
        return target
    at, sizes = cast(index, int64, index.device), index._shape or (1,)
    strides, of_index = along(target, dim)
    over(
        at.numel(),
        moving("place_number", target),
        bits(number),
        at,
        target.data_ptr(),
        geometry(sizes, strides, at_least_one(at)),
        np.int64(at.numel()),
        of_index,
    )
    return target


def _scatter_target(self: Tensor, out: Tensor | None, read: Sequence[Tensor]) -> Tensor:
    """`out`, or a fresh tensor, holding the elements of `self`."""
    if out is None:
        return clone(0, self, contiguous_format)
    if out is not self:
        copy_elements(out, self)
    check_no_overlap(out, read)
    return out


# index_select, nonzero ------------------------------------------------------------------------------------------


@CUDA.impl("index_select")
def index_select(keys: int, self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of one dimension that a vector selects; no index may be negative."""
    result = shapes.index_select(self, dim, index)
    on = common_device(self, index, numbers=False)
    target, at = output(result, on), cast(index, int64, on)
    strides, of_index = along(self, dim)
    dim = wrap_dim(dim, len(strides))
    step = at.strides()[0] if at._shape else 0
    over(
        target.numel(),
        moving("pick", self),
        self.data_ptr(),
        at,
        target.data_ptr(),
        geometry(
            result.shape or (1,),
            at_least_one(target),
            strides,
            tuple(step if d == dim else 0 for d in range(len(strides))),
        ),
        np.int64(target.numel()),
        of_index,
    )
    return target


@CUDA.impl("index_select.out")
def index_select_out(keys: int, self: Tensor, dim: int, index: Tensor, out: Tensor) -> Tensor:
    """As `index_select`, written to a tensor; PyTorch checks for overlap before it resizes it."""
    result = shapes.index_select(self, dim, index)
    common_device(self, index, out, numbers=False)
    result.check_out(self.dtype, out.dtype)
    check_no_overlap(out, (self, index))
    resize_output(out, result.shape)
    return copy_elements(out, index_select(keys, self, dim, index))


@CUDA.impl("nonzero")
def nonzero(keys: int, self: Tensor) -> Tensor:
    """One row of indices for each nonzero element; as in PyTorch the columns are contiguous.

    The host waits for the device to learn their number. See Note [Compaction] in indexing.cu.
    """
    ndim, size = len(self._shape), self.numel()
    if self.dtype.is_complex:  # refused: an element is nonzero if either part is
        CUDA_TYPE.refusing_others(self.dtype)
    if ndim > MAX_DIMS:
        raise ShapeError(f"nonzero: a tensor of {ndim} dimensions; at most {MAX_DIMS} are supported on CUDA")
    values, on = contiguous(self), self.device
    blocks = max(1, min(COUNTS, -(-size // BLOCK)))
    chunk = np.int64(-(-size // blocks))
    number = NUMBER[self.dtype.itemsize]
    highest = np.iinfo(number).max
    mask = number(highest >> 1 if self.dtype.is_floating_point else highest)
    counts = empty((blocks + 1,), int64, on)
    launch(
        moving("count_nonzero", self),
        blocks,
        BLOCK,
        (values.data_ptr(), counts, np.int64(size), chunk, mask),
    )
    launch(kernel("indexing.cu", "sum_counts"), 1, -(-blocks // 32) * 32, (counts, np.int32(blocks)))
    found: Any = make_view(counts, (), (), blocks).item()
    rows = empty((ndim, found), int64, on)
    sizes: Any = np.zeros((), SIZES)
    sizes["ndim"], sizes["of"][:ndim] = ndim, self._shape
    if ndim and found:
        launch(
            moving("write_nonzero", self),
            blocks,
            BLOCK,
            (values.data_ptr(), counts, rows, np.int64(size), chunk, np.int64(found), sizes[()], mask),
        )
    return make_view(rows, (found, ndim), (1, max(1, found)), 0)


@CUDA.impl("nonzero.out")
def nonzero_out(keys: int, self: Tensor, out: Tensor) -> Tensor:
    """As `nonzero`, written to a tensor."""
    if out.dtype is not int64:
        raise DtypeError(
            f"nonzero: Expected out tensor to have scalar type Long but got scalar type{out.dtype.scalar_name}"
        )
    common_device(self, out, numbers=False)
    rows = nonzero(keys, self)
    resize_output(out, rows._shape)
    check_writable(out, (self,))
    return copy_elements(out, rows)
