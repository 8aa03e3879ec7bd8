"""How are new tensors with known contents composed of `empty` and operators that fill it?

Mirrors: aten/src/ATen/native/TensorFactories.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from glasstorch.core import private_use
from glasstorch.core.device import CPU
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import (
    BOOL,
    STORED_ONLY,
    Number,
    dtype_of_number,
    float64,
    get_default_complex_dtype,
    get_default_dtype,
)
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import row_major, strides_like
from glasstorch.core.keys import BELOW_ADINPLACEORVIEW, KEYS_OF_DEVICE, SPARSE, SPARSE_COO, SPARSE_CSR
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import memory_format as MemoryFormat
from glasstorch.core.layout import preserve_format, sparse_coo, strided
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.composite.pointwise import number_in
from glasstorch.operators.direct import factory
from glasstorch.operators.generated.registry import table
from glasstorch.operators.shapes.result import C_NAMES
from glasstorch.operators.shapes.scalars import number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

empty = factory("empty.memory_format")
empty_strided = factory("empty_strided")
arange = factory("arange.start_step")
zeros_operator = factory("zeros")
ones_operator = factory("ones")
full_operator = factory("full")
linspace_operator = factory("linspace")
logspace_operator = factory("logspace")

EMPTY_LIKE = table("empty_like")
EMPTY, EMPTY_STRIDED, ARANGE = table("empty.memory_format"), table("empty_strided"), table("arange.start_step")
FILL_, ZERO_ = table("fill_.Scalar"), table("zero_")
EYE_OUT, LINSPACE_OUT, LOGSPACE_OUT = table("eye.m_out"), table("linspace.out"), table("logspace.out")


def _zeroed(tensor: Tensor) -> Tensor:
    """A fresh tensor set to 0; as it is fresh, neither autograd nor its version counter is involved."""
    keys = tensor.key_set & BELOW_ADINPLACEORVIEW
    return ZERO_[keys](keys, tensor)  # type: ignore[no-any-return]


def _filled(tensor: Tensor, value: Number) -> Tensor:
    """As `_zeroed`, set to a number."""
    keys = tensor.key_set & BELOW_ADINPLACEORVIEW
    return FILL_[keys](keys, tensor, value)  # type: ignore[no-any-return]


# Of a given size ------------------------------------------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory, in this order.


def zeros(keys: int, size: Sequence[int], *options: Any) -> Tensor:  # hot path: benchmarks/eager.py
    """A tensor of 0."""
    return _zeroed(EMPTY[keys](keys, size, *options, None))


def ones(keys: int, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    if options[1] is sparse_coo:
        raise without_zeros()
    return _filled(EMPTY[keys](keys, size, *options, None), 1)


def full(keys: int, size: Sequence[int], fill_value: Number, dtype: Dtype | None, *options: Any) -> Tensor:
    """A tensor of one value, in the value's dtype unless another is given."""
    if options[0] is sparse_coo:
        raise without_zeros()
    dtype = dtype_of_number(fill_value) if dtype is None else dtype
    return _filled(EMPTY[keys](keys, size, dtype, *options, None), fill_value)


def without_zeros() -> ArgumentError:
    """The error of a value for all elements where a layout keeps only some."""
    return ArgumentError("full(...) is not implemented for sparse layout")


def scalar_tensor(keys: int, s: Number, *options: Any) -> Tensor:
    """A 0-dim tensor of one number, in the default dtype unless another is given."""
    return _filled(EMPTY[keys](keys, (), *options, None), s)


def arange_end(keys: int, end: Number, *options: Any) -> Tensor:
    """The numbers from 0 up to, but not including, `end`."""
    return ARANGE[keys](keys, 0, end, 1, *options)  # type: ignore[no-any-return]


def arange_start(keys: int, start: Number, end: Number, *options: Any) -> Tensor:
    """The numbers from `start` up to, but not including, `end`."""
    return ARANGE[keys](keys, start, end, 1, *options)  # type: ignore[no-any-return]


def eye(keys: int, n: int, *options: Any) -> Tensor:
    """A square matrix with ones on its diagonal."""
    return eye_m(keys, n, n, *options)


def eye_m(keys: int, n: int, m: int, *options: Any) -> Tensor:
    """A matrix of n rows and m columns with ones on its diagonal."""
    return _written(EYE_OUT, EMPTY[keys](keys, (0,), *options, None), n, m)


def empty_permuted(keys: int, size: Sequence[int], physical_layout: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor whose dimensions lie in memory in the order of `physical_layout`, the slowest first."""
    rank = len(physical_layout)
    if rank != len(size):
        raise ShapeError(
            f"Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(size)} is not equal to len(physical_layout) = {rank}"
        )
    for i, dim in enumerate(physical_layout):
        if not 0 <= dim < rank:
            raise ShapeError(
                f"Dimension out of range (expected to be between 0 and {rank - 1}, but got {dim} at index {i}).  NB: "
                f"negative dims are not supported here"
            )
    if len(set(physical_layout)) != rank:
        raise ShapeError(f"Duplicate dim not allowed; got the physical_layout {list(physical_layout)}")
    steps = row_major(tuple(size[dim] for dim in physical_layout))
    strides = dict(zip(physical_layout, steps, strict=True))
    made: Tensor = EMPTY_STRIDED[keys](keys, size, tuple(strides[dim] for dim in range(rank)), *options)
    return made


# Ranges that include their end ----------------------------------------------------------------------------------


def range_(keys: int, start: Number, end: Number, *options: Any) -> Tensor:
    """The numbers from `start` up to and including `end`."""
    return range_step(keys, start, end, 1, *options)


def range_step(keys: int, start: Number, end: Number, step: Number, dtype: Dtype | None, *options: Any) -> Tensor:
    """As `arange`, but including the end if a step reaches it; in the default dtype even for integers."""
    dtype = get_default_dtype() if dtype is None else dtype
    count = range_length(start, end, step, dtype)
    if not dtype.is_floating_point:
        start, step = int(real(start)), int(real(step))
        end = start + count * step
    else:
        end = real(start) + (count - 0.5) * real(step)
    made: Tensor = ARANGE[keys](keys, start, end, step, dtype, *options)
    return made


def range_length(start: Number, end: Number, step: Number, dtype: Dtype) -> int:
    """How many numbers there are from `start` up to and including `end`."""
    if dtype.category == BOOL or dtype in STORED_ONLY or dtype.is_complex:
        raise not_implemented_for("range_cpu", dtype)
    low, high, pace = checked_bounds(start, end, step)
    if not dtype.is_floating_point and not int(pace):
        raise ArgumentValueError(f"step must be nonzero; a step of {step} is 0 in {dtype.name}")
    return int((high - low) / pace) + 1


def checked_bounds(start: Number, end: Number, step: Number) -> tuple[float, float, float]:
    """Start, end and step as floats; refused if the steps do not lead from start to end."""
    low, high, pace = real(start), real(end), real(step)
    if pace == 0:
        raise ShapeError("step must be nonzero")
    if not (isfinite(low) and isfinite(high)):
        raise ShapeError(f"unsupported range: {low:g} -> {high:g}")
    if (pace > 0 and high < low) or (pace < 0 and high > low):
        raise ShapeError("upper bound and lower bound inconsistent with step sign")
    return low, high, pace


def real(number: Number) -> float:
    """A number as a float; a complex one with an imaginary part is refused."""
    return float(number) if isinstance(number, int | float) else float(number_as(number, float64).real)


# Spaced numbers --------------------------------------------------------------------------------------------


def linspace(keys: int, start: Number, end: Number, steps: int, dtype: Dtype | None, *options: Any) -> Tensor:
    """`steps` evenly spaced numbers from `start` to `end`."""
    return _spaced("linspace", LINSPACE_OUT, keys, start, end, steps, (), dtype, *options)


def logspace(
    keys: int, start: Number, end: Number, steps: int, base: float, dtype: Dtype | None, *options: Any
) -> Tensor:
    """`steps` numbers from `base ** start` to `base ** end`, at a constant ratio."""
    return _spaced("logspace", LOGSPACE_OUT, keys, start, end, steps, (base,), dtype, *options)


def _spaced(
    name: str,
    out_table: Any,
    keys: int,
    start: Number,
    end: Number,
    steps: int,
    base: tuple[float, ...],
    dtype: Dtype | None,
    *options: Any,
) -> Tensor:
    if steps < 0:
        raise ShapeError("number of steps must be non-negative")
    if dtype is None or isinstance(start, complex) or isinstance(end, complex):
        dtype = _spaced_dtype(name, start, end, dtype)
    out = EMPTY[keys](keys, (steps,), dtype, *options, None)
    return _written(out_table, out, start, end, steps, *base)


def _spaced_dtype(name: str, start: Number, end: Number, wanted: Dtype | None) -> Dtype:
    """The default dtype; if an end is complex, the complex default, and a real dtype is refused.

    Mirrors: linspace_logspace_infer_options in aten/src/ATen/native/TensorFactories.cpp
    """
    if not (isinstance(start, complex) or isinstance(end, complex)):
        return get_default_dtype() if wanted is None else wanted
    inferred = get_default_complex_dtype()
    if wanted is not None and not wanted.is_complex:
        raise DtypeError(
            f"torch.{name}(): inferred dtype {C_NAMES[inferred.name]} can't be safely cast to passed dtype "
            f"{wanted.scalar_name}"
        )
    return inferred if wanted is None else wanted


def linspace_tensors(keys: int, start: Tensor | Number, end: Tensor | Number, *rest: Any) -> Tensor:
    """As `linspace`; a start or end that is a 0-dim tensor is read as a number."""
    return linspace_operator(*ends("linspace", start, end, _is_meta(rest)), *rest)


def logspace_tensors(keys: int, start: Tensor | Number, end: Tensor | Number, *rest: Any) -> Tensor:
    """As `logspace`; a start or end that is a 0-dim tensor is read as a number."""
    return logspace_operator(*ends("logspace", start, end, _is_meta(rest)), *rest)


def _is_meta(rest: Sequence[Any]) -> bool:
    """Whether the device that follows dtype and layout is meta."""
    place: Device | None = rest[-2]
    return place is not None and place.type == "meta"


def ends(name: str, start: Tensor | Number, end: Tensor | Number, nowhere: bool) -> tuple[Number, Number]:
    """Start and end as numbers; a tensor with dimensions is refused. `nowhere`: the result has no data."""
    given = [(word, value) for word, value in (("start", start), ("end", end)) if isinstance(value, TensorImpl)]
    if any(value._shape for _, value in given):
        dims = " and ".join(f"{word} with {value.dim()} dimension(s)" for word, value in given)
        raise ShapeError(f"{name} only supports 0-dimensional start and end tensors, but got {dims}.")
    first, last = (number_in(value, nowhere) if isinstance(value, TensorImpl) else value for value in (start, end))
    return first, last


def _written(out_table: Any, out: Tensor, *arguments: Any) -> Tensor:
    """A fresh tensor filled by an out= operator; neither autograd nor its version counter is involved."""
    keys = out.key_set & BELOW_ADINPLACEORVIEW
    return out_table[keys](keys, *arguments, out)  # type: ignore[no-any-return]


# Like another tensor --------------------------------------------------------------------------------------------
# `options` are those of empty_like: dtype, layout, device, pin_memory and memory_format. The new tensor's device
# decides the dispatch keys, as in BackendSelect.


def empty_like(
    keys: int,
    self: Tensor,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    """An uninitialised tensor of the same shape, by default also with the same order of dimensions in memory."""
    if self.key_set & SPARSE or not (layout is None or layout is strided):
        below = keys & BELOW_ADINPLACEORVIEW | bit_of(self.layout if self.key_set & SPARSE else layout)
        sparse: Tensor = EMPTY_LIKE[below](below, self, dtype, layout, device, pin_memory, memory_format)
        return sparse
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    if device is not CPU:
        device = private_use.with_index(device)
    below = KEYS_OF_DEVICE[device.type] & BELOW_ADINPLACEORVIEW
    if memory_format is preserve_format:
        memory_format = None
    if memory_format is None and self._strides is not None:
        strides = strides_like(self._shape, self._strides)
        in_order: Tensor = EMPTY_STRIDED[below](below, self._shape, strides, dtype, layout, device, pin_memory)
        return in_order
    result: Tensor = EMPTY[below](below, self._shape, dtype, layout, device, pin_memory, memory_format)
    return result


def bit_of(layout: Layout | None) -> int:
    """The functionality of a sparse layout."""
    return SPARSE_COO if layout is sparse_coo else SPARSE_CSR


def zeros_like(keys: int, self: Tensor, *options: Any) -> Tensor:
    """A tensor of 0."""
    return _zeroed(empty_like(keys, self, *options))


def ones_like(keys: int, self: Tensor, *options: Any) -> Tensor:
    """A tensor of 1."""
    return _filled(empty_like(keys, self, *options), 1)


def full_like(keys: int, self: Tensor, fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    return _filled(empty_like(keys, self, *options), fill_value)


# Of this tensor's dtype and device, in another size -------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory; where none is given, dtype and device are this tensor's.


def _like(
    self: Tensor, dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> tuple[Dtype, Layout | None, Device, bool | None]:
    return (
        self.dtype if dtype is None else dtype,
        self.layout if layout is None and self.key_set & SPARSE else layout,
        self.device if device is None else device,
        pin_memory,
    )


def new_empty(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor."""
    return empty(size, *_like(self, *options), None)


def new_empty_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor of the given strides."""
    return empty_strided(size, stride, *_like(self, *options))


def new_zeros(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 0."""
    return zeros_operator(size, *_like(self, *options))


def new_ones(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    return new_full(self, size, 1, *options) if self.is_sparse else ones_operator(size, *_like(self, *options))


def new_full(self: Tensor, size: Sequence[int], fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    like = _like(self, *options)
    if like[1] is sparse_coo:
        return new_empty(self, size, *options).fill_(fill_value)
    return full_operator(size, fill_value, *like)
