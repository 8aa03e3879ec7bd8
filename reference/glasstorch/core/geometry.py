"""How do sizes, strides and an offset determine where each element lies?

Mirrors: c10/core/TensorImpl.h (sizes_and_strides_), aten/src/ATen/TensorUtils.cpp (computeStride),
    aten/src/ATen/ExpandUtils.h, aten/src/ATen/InferSize.h, c10/core/WrapDimMinimal.h, aten/src/ATen/MemoryOverlap.cpp,
    aten/src/ATen/TensorIterator.cpp (reorder_dimensions, coalesce_dimensions)

Strides and offsets count elements, as in PyTorch (NumPy's strides count bytes). To which shape several broadcast is
decided here too, by `broadcast_shapes`.
Everything here is arithmetic on tuples of ints; no tensor and no array is touched.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, SupportsIndex, overload

from glasstorch.core.errors import DimensionError, ShapeError
from glasstorch.core.symbols import is_symbol

Shape = tuple[int, ...]
MOST_INDEX = 2**63 - 1  # as the end of a slice it means: to the end


class Size(tuple[int, ...]):
    """The sizes of a tensor: a tuple that prints as PyTorch's and knows its number of elements.

    >>> Size((2, 3)).numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: SupportsIndex | slice) -> int | Size:
        if isinstance(index, slice):
            return Size(tuple.__getitem__(self, index))
        return tuple.__getitem__(self, index)

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size((*self, *other))

    def __radd__(self, other: object) -> Size:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[object, ...]:
        return Size, (tuple(self),)


# Layout in memory -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def contiguous_strides(shape: Shape) -> Shape:
    """Row-major strides: that of the last dimension is 1; a size of 0 counts as 1.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size or 1
    return tuple(reversed(strides))


def lesser(a: Any, b: Any) -> Any:
    """The smaller of two sizes; of symbols the expression for it, which no guard decides."""
    if type(a) is int and type(b) is int:
        return min(a, b)
    return a.__sym_min__(b) if is_symbol(a) else b.__sym_min__(a)


def at_least_0(a: Any) -> Any:
    """A size, or 0 where the number is negative."""
    return max(a, 0) if type(a) is int else a.__sym_max__(0)


def row_major(shape: Shape) -> Shape:
    """As `contiguous_strides`, for sizes among which symbols may be: one that may be 0 counts as at least 1.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    if {int}.issuperset(map(type, shape)):
        return contiguous_strides(shape)
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= _at_least_1(size)
    return tuple(reversed(strides))


def _at_least_1(size: Any) -> Any:
    if is_symbol(size) and size.node.is_symbolic():  # no guard says that it is not 0
        return size.__sym_max__(1)
    return size or 1


def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Whether elements in row-major order lie next to each other; dimensions of size 1 do not matter.

    >>> is_contiguous((2, 1, 3), (3, 99, 1))
    True
    """
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1:
            if stride != step:
                return 0 in shape
            step *= size
    return True


def is_non_overlapping_and_dense(shape: Shape, strides: Shape) -> bool:
    """Whether the elements fill a block without gaps, each location used once, in any order of dimensions."""
    if 0 in shape or is_contiguous(shape, strides):  # first, so that no guard says which stride is larger
        return True
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def has_internal_overlap(shape: Shape, strides: Shape) -> bool:
    """Whether two indices certainly name one location: a dimension of two or more elements has stride 0."""
    return 0 not in shape and any(size > 1 and stride == 0 for size, stride in zip(shape, strides, strict=True))


def may_overlap(shape: Shape, strides: Shape) -> bool:
    """Whether two indices may name one location; False only where each stride exceeds the span of all smaller ones.

    Mirrors: _maybe_overlapping_memory in torch/csrc/autograd/FunctionsManual.cpp.

    >>> may_overlap((3, 2), (1, 1))
    True
    """
    reach = 0
    for stride, size in sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


class Extent(NamedTuple):
    """Where a tensor's elements lie in its storage, counted in elements."""

    shape: Shape
    strides: Shape
    offset: int = 0


class Overlap(enum.Enum):
    """What two tensors on one storage have in common; Mirrors: MemOverlapStatus in aten/src/ATen/MemoryOverlap.h."""

    FULL = "the same elements in the same places"
    PARTIAL = "some elements, or all of them in other places"
    NO = "nothing"
    TOO_HARD = "unknown: one of them has gaps or overlaps itself"


def overlap_status(a: Extent, b: Extent) -> Overlap:
    """What two tensors on one storage, with elements of the same size, have in common.

    Only tensors whose elements fill a block without gaps are judged: for them it is a question of where the blocks
    begin and end. One tensor and itself, which is FULL whatever its layout, is for the caller to notice.
    Mirrors: get_overlap_status in aten/src/ATen/MemoryOverlap.cpp.

    >>> overlap_status(Extent((3,), (1,), 0), Extent((3,), (1,), 2))
    <Overlap.PARTIAL: 'some elements, or all of them in other places'>
    """
    count_a, count_b = math.prod(a.shape), math.prod(b.shape)
    if not count_a or not count_b:
        return Overlap.NO
    if not (is_non_overlapping_and_dense(a.shape, a.strides) and is_non_overlapping_and_dense(b.shape, b.strides)):
        return Overlap.TOO_HARD
    end_a, end_b = a.offset + count_a, b.offset + count_b
    if a.offset == b.offset and end_a == end_b:
        return Overlap.FULL if a.strides == b.strides else Overlap.PARTIAL
    return Overlap.PARTIAL if a.offset < end_b and b.offset < end_a else Overlap.NO


def strides_like(shape: Shape, strides: Shape) -> Shape:
    """Strides of a dense tensor that keeps another's order of dimensions in memory (`torch.preserve_format`).

    A tensor that overlaps itself or has gaps gives no more than an order: the result is dense all the same.

    >>> strides_like((2, 3), (1, 2))
    (1, 2)
    """
    if is_non_overlapping_and_dense(shape, strides):
        return strides
    return strides_in_order(shape, memory_order([strides], shape))


def memory_order(all_strides: Sequence[Shape], shape: Shape) -> list[int]:
    """Dimensions from the one that moves fastest through memory to the slowest, judged by several tensors at once.

    The first tensor that prefers one of two dimensions decides; stride 0 (a broadcast dimension) has no preference.
    Mirrors: TensorIteratorBase::reorder_dimensions.
    """
    ndim = len(shape)
    order = list(range(ndim - 1, -1, -1))  # row-major unless a tensor prefers another order

    def prefers(a: int, b: int) -> int:
        """1 if dimension `a` should come after (be slower than) `b`, -1 if before, 0 if no tensor has a preference."""
        for strides in all_strides:
            left, right = strides[a], strides[b]
            if left == 0 or right == 0:
                continue
            if left != right:
                return -1 if left < right else 1
            if shape[a] > shape[b]:
                return 1
        return 0

    for i in range(1, ndim):  # insertion sort: `prefers` is not a total order, so the walk itself is the rule
        at = i
        for j in range(i - 1, -1, -1):
            wish = prefers(order[j], order[at])
            if wish > 0:
                order[j], order[at] = order[at], order[j]
                at = j
            elif wish < 0:
                break
    return order


def coalesce_dimensions(shape: Shape, strides: Sequence[Shape]) -> tuple[Shape, tuple[Shape, ...]]:
    """The same walk over several tensors in the fewest dimensions: its sizes, and the strides of each tensor.

    Dimensions of size 1 are dropped. Two neighbours become one if, in every tensor, a step of the outer one equals a
    whole pass over the inner one. The order of the dimensions stays: `memory_order` decides that.
    Mirrors: TensorIteratorBase::coalesce_dimensions, which leaves one dimension of size 1 where there is no other.

    >>> coalesce_dimensions((2, 3, 4), [(12, 4, 1), (0, 4, 1)])
    ((2, 12), ((12, 1), (0, 1)))
    """
    sizes: list[int] = []
    steps: list[list[int]] = []  # for each dimension so far, the stride of each tensor
    for size, *own in zip(shape, *strides, strict=True):
        if size == 1:
            continue
        if sizes and steps[-1] == [size * stride for stride in own]:
            sizes[-1] *= size
            steps[-1] = own
        else:
            sizes.append(size)
            steps.append(own)
    return tuple(sizes), tuple(zip(*steps, strict=True)) or ((),) * len(strides)


def strides_in_order(shape: Shape, order: Sequence[int]) -> Shape:
    """Dense strides for a shape, its dimensions laid out in the given order, fastest first."""
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim] or 1
    return tuple(strides)


def iterated_strides(shape: Shape, order: Sequence[int]) -> Shape:
    """As `strides_in_order`, but a size of 0 makes the strides after it 0 too.

    Mirrors: compatible_stride in aten/src/ATen/TensorIterator.cpp

    >>> iterated_strides((2, 0, 3), [2, 1, 0]), strides_in_order((2, 0, 3), [2, 1, 0])
    ((0, 3, 1), (3, 3, 1))
    """
    if 0 not in shape:
        return strides_in_order(shape, order)
    return tuple(math.prod(shape[d] for d in order[: order.index(dim)]) for dim in range(len(shape)))


def span(shape: Shape, strides: Shape) -> int:
    """How many elements of storage there are from the first element to the last, inclusive; 0 for an empty tensor."""
    reach = 1
    for size, stride in zip(shape, strides, strict=True):
        if not size:
            return 0
        reach += (size - 1) * stride
    return reach


# Dimensions -----------------------------------------------------------------------------------------------------


def wrap_dim(dim: int, ndim: int) -> int:
    """A non-negative dimension; a negative one counts from the back. For a 0-dim tensor, 0 and -1 are valid."""
    limit = ndim or 1
    if -limit <= dim < limit:
        return dim + limit if dim < 0 else dim
    raise DimensionError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")


def existing_dim(dim: int, ndim: int) -> int:
    """As `wrap_dim`, but a 0-dim tensor is refused, as it has no dimension with a size."""
    if not ndim:
        raise DimensionError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)


def wrap_dims(dims: Iterable[int], ndim: int) -> Shape:
    """Several dimensions, each wrapped; naming one twice is refused."""
    wrapped: list[int] = []
    for dim in dims:  # one after the other: the first that is wrong decides which error it is
        dim = wrap_dim(dim, ndim)
        if dim in wrapped:
            raise ShapeError(f"dim {dim} appears multiple times in the list of dims")
        wrapped.append(dim)
    return tuple(wrapped)


def slice_bounds(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """The first index of a slice of a dimension of that size, and the one after its last."""
    try:
        return _bounds_of_ints(size, start, end)
    except TypeError:  # a symbol has no hash to look it up by
        return symbolic_bounds(size, start, end)


@lru_cache(maxsize=1024)
def _bounds_of_ints(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    first = 0 if start is None else start + size if start < 0 else start
    last = size if end is None else end + size if end < 0 else end
    first = min(max(first, 0), size)
    return first, min(max(last, first), size)


def symbolic_bounds(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """As `slice_bounds`, for symbols: guards say on which side of the dimension's ends the indices are."""
    first = 0 if start is None else start + size if start < 0 else start
    if end is None or (type(end) is int and end == MOST_INDEX):
        last = size
    else:
        last = end + size if end < 0 else end
        last = size if last is not size and last > size else last
    if type(first) is not int or first:
        first = min(first, size)
        first = max(first, 0)
        last = max(last, first)
    elif last < 0:
        last = 0
    return first, last


def permutation(dims: Shape, ndim: int) -> Shape:
    """A permutation of the dimensions, checked to name each once; negative ones become non-negative."""
    if len(dims) != ndim:
        raise ShapeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = tuple([wrap_dim(dim, ndim) for dim in dims])
    if len(set(order)) != ndim:
        raise ShapeError("permute(): duplicate dims are not allowed.")
    return order


@lru_cache(maxsize=1024)
def moved_order(source: Shape, destination: Shape, ndim: int) -> Shape:
    """The permutation that moves dimensions `source` to positions `destination` and keeps the order of the rest."""
    if len(source) != len(destination):
        raise ShapeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
            f"of dims as destination ({list(destination)} dims)"
        )
    taken, moved = [wrap_dim(d, ndim) for d in source], [wrap_dim(d, ndim) for d in destination]
    for name, dims, given in (("source", taken, source), ("destination", moved, destination)):
        if len(set(dims)) != len(dims):
            raise ShapeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    order = dict(zip(moved, taken, strict=True))
    rest = iter(d for d in range(ndim) if d not in taken)
    return tuple(order[d] if d in order else next(rest) for d in range(ndim))


# Broadcasting ---------------------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all are expanded to: sizes are matched from the right and must be equal or 1.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    result: Shape = ()
    for shape in shapes:
        result = _broadcast_two(result, shape)
    return result


def _broadcast_two(a: Shape, b: Shape) -> Shape:
    if len(a) == len(b) and a == b:
        return a
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    result = tuple([right if left == 1 else left for left, right in zip(a, b, strict=True)])
    for dim in range(ndim - 1, -1, -1):
        if b[dim] not in (1, result[dim]):
            raise ShapeError(
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) "
                f"at non-singleton dimension {dim}"
            )
    return result


def expand_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    """Strides that read `shape` as `target` without copying: repeated dimensions get stride 0.

    A new dimension of size 1 gets the stride of one whole step of what follows, as `unsqueeze` gives it.
    Mirrors: inferExpandGeometry in aten/src/ATen/ExpandUtils.cpp.

    >>> expand_strides((2, 1), (1, 1), (1, 2, 3))
    (2, 1, 0)
    """
    added = len(target) - len(shape)
    result = [0] * len(target)
    for dim in range(len(target) - 1, -1, -1):
        if dim >= added:
            size, step = shape[dim - added], strides[dim - added]
        else:
            size, step = 1, target[dim + 1] * result[dim + 1] if shape else 0
        if size == target[dim]:
            result[dim] = step
        elif size != 1 or target[dim] < 0:
            raise ShapeError(
                f"The expanded size of the tensor ({target[dim]}) must match the existing size ({size}) at "
                f"non-singleton dimension {dim}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )
    return tuple(result)


def is_expandable_to(shape: Shape, target: Shape) -> bool:
    """Whether `shape` can be expanded to `target`."""
    added = len(target) - len(shape)
    return added >= 0 and (
        target[added:] == shape or all(size in (1, wanted) for size, wanted in zip(shape, target[added:], strict=True))
    )


# Views ----------------------------------------------------------------------------------------------------------


def infer_size(shape: Sequence[int], numel: int) -> Shape:
    """A shape with its one -1 replaced so that the number of elements is `numel`.

    >>> infer_size((2, -1), 12)
    (2, 6)
    """
    known, unknown = 1, None
    for dim, size in enumerate(shape):
        if size == -1:
            if unknown is not None:
                raise ShapeError("only one dimension can be inferred")
            unknown = dim
        elif size < 0:
            raise ShapeError(f"invalid shape dimension {size}")
        else:
            known *= size
    if known == numel and unknown is None:
        return tuple(shape)
    if unknown is None or known == 0 or numel % known:
        if unknown is not None and known == 0 and numel == 0:
            raise ShapeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension "
                f"size -1 can be any value and is ambiguous"
            )
        raise ShapeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return (*shape[:unknown], numel // known, *shape[unknown + 1 :])


def view_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """Strides under which the same storage reads as `target`, or None where only a copy can.

    Neighbouring dimensions form one run while a step of the outer one equals a whole pass over the inner one. A run
    may be split into new dimensions at will; two runs can never be merged.
    Mirrors: computeStride in aten/src/ATen/TensorUtils.cpp.

    >>> view_strides((4, 3), (1, 4), (2, 2, 3))
    (2, 1, 4)
    >>> view_strides((4, 3), (1, 4), (12,)) is None
    True
    """
    if 0 in shape:
        return strides if shape == target else row_major(target)
    if not shape:
        return (1,) * len(target)
    result = [0] * len(target)
    view_dim = len(target) - 1
    base_stride = strides[-1]  # of the run being collected
    run = taken = 1  # elements in the run, and in the new dimensions split from it
    for dim in range(len(shape) - 1, -1, -1):
        run *= shape[dim]
        run_ends = dim == 0 or (shape[dim - 1] != 1 and strides[dim - 1] != run * base_stride)
        if not run_ends:
            continue
        while view_dim >= 0 and (taken < run or target[view_dim] == 1):
            result[view_dim] = taken * base_stride
            taken *= target[view_dim]
            view_dim -= 1
        if taken != run:
            return None
        if dim > 0:
            base_stride = strides[dim - 1]
            run = taken = 1
    return tuple(result) if view_dim == -1 else None


# Memory formats -------------------------------------------------------------------------------------------------


def channels_last_strides(shape: Shape) -> Shape:
    """Strides for (n, c, h, w) or (n, c, d, h, w) with the channels next to each other.

    >>> channels_last_strides((2, 3, 4, 5))
    (60, 1, 15, 3)
    """
    strides = [0] * len(shape)
    step = 1
    for dim in _channels_last_order(shape):
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def _channels_last_order(shape: Shape) -> list[int]:
    """The dimensions from the fastest through memory to the slowest."""
    return [1, *range(len(shape) - 1, 1, -1), 0]


def looks_channels_last(shape: Shape, strides: Shape) -> bool:
    """Whether the strides of 4 or 5 dimensions grow as those of channels last do, with gaps or not.

    Strides that are also row-major do not count. Mirrors: is_channels_last_strides_2d in c10/core/MemoryFormat.h.
    """
    if len(shape) not in (4, 5) or strides[1] == 0 or 0 in shape:
        return False
    least = 0
    for dim in _channels_last_order(shape):
        if strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * shape[dim]
    return True


def is_channels_last(shape: Shape, strides: Shape) -> bool:
    """Whether a tensor of 4 or 5 dimensions is dense with the channels next to each other."""
    if len(shape) not in (4, 5):
        return False
    wanted = channels_last_strides(shape)
    return all(size == 1 or have == want for size, have, want in zip(shape, strides, wanted, strict=True))
