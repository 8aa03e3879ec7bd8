"""Is the arithmetic on sizes and strides PyTorch's?"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glasstorch.core import geometry as g
from glasstorch.core.errors import DimensionError, ShapeError
from glasstorch.core.geometry import Size
from tests.strategies import geometries, shapes, small_shapes, steady

Require = Callable[[str], Any]


# Size -----------------------------------------------------------------------------------------------------------


def test_a_size_is_a_tuple_that_prints_as_pytorchs() -> None:
    size = Size((2, 3))
    assert repr(size) == "torch.Size([2, 3])"
    assert size == (2, 3)
    assert size.numel() == 6
    assert Size(()).numel() == 1


def test_cutting_and_joining_sizes_gives_sizes() -> None:
    size = Size((2, 3, 4))
    assert repr(size[1:]) == "torch.Size([3, 4])"
    assert size[-1] == 4
    assert type(size[-1]) is int
    assert repr(size + (5,)) == "torch.Size([2, 3, 4, 5])"
    assert repr((5,) + size) == "torch.Size([5, 2, 3, 4])"
    assert repr(size[:2] * 2) == repr(2 * size[:2]) == "torch.Size([2, 3, 2, 3])"
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        size + [5]  # type: ignore[operator]
    assert pickle.loads(pickle.dumps(size)) == size
    assert type(pickle.loads(pickle.dumps(size))) is Size


# Rules that need no oracle --------------------------------------------------------------------------------------


@steady
@given(geometries())
def test_the_span_reaches_to_the_last_element(geometry: tuple[tuple[int, ...], tuple[int, ...], int]) -> None:
    shape, strides, _ = geometry
    positions = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]
    assert g.span(shape, strides) == (max(positions) + 1 if positions else 0)


@steady
@given(geometries(), shapes)
def test_view_strides_read_the_same_elements_in_the_same_order(
    geometry: tuple[tuple[int, ...], tuple[int, ...], int], target: tuple[int, ...]
) -> None:
    shape, strides, _ = geometry
    if math.prod(target) != math.prod(shape):
        target = (math.prod(shape),)
    found = g.view_strides(shape, strides, target)
    if found is not None:
        assert _positions(target, found) == _positions(shape, strides)


def _positions(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Where the elements lie, in row-major order."""
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]


@st.composite
def operands(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Sizes, and the strides of up to three tensors that are walked together: dense, with gaps, or broadcast."""
    shape = draw(small_shapes)
    strides = []
    for _ in range(draw(st.integers(1, 3))):
        step, steps = 1, [0] * len(shape)
        for dim in reversed(range(len(shape))):
            steps[dim] = draw(st.sampled_from([step, step, step, step + 1, 0]))
            step = steps[dim] * shape[dim] if shape[dim] != 1 else step
        strides.append(tuple(steps))
    return shape, strides


@steady
@given(operands())
def test_fewer_dimensions_meet_the_same_elements_together_in_the_same_order(
    walk: tuple[tuple[int, ...], list[tuple[int, ...]]],
) -> None:
    shape, strides = walk
    sizes, steps = g.coalesce_dimensions(shape, strides)
    assert [_positions(sizes, own) for own in steps] == [_positions(shape, own) for own in strides]


@steady
@given(operands())
def test_no_two_neighbours_that_are_left_could_be_one(walk: tuple[tuple[int, ...], list[tuple[int, ...]]]) -> None:
    sizes, steps = g.coalesce_dimensions(*walk)
    assert 1 not in sizes
    for dim in range(len(sizes) - 1):
        pairs = [_positions(sizes[dim : dim + 2], own[dim : dim + 2]) for own in steps]
        assert any(len({b - a for a, b in pairwise(cells)}) > 1 for cells in pairs)


@pytest.mark.parametrize(
    ("shape", "strides", "accepted"),
    [
        ((2, 3, 4), [(12, 4, 1)], ((24,), ((1,),))),
        ((2, 3), [(1, 2), (1, 2)], ((2, 3), ((1, 2), (1, 2)))),  # the order stays
        ((2, 3, 4), [(0, 0, 1), (12, 4, 1)], ((6, 4), ((0, 1), (4, 1)))),
        ((1, 1), [(5, 7), (1, 1)], ((), ((), ()))),
        ((2, 0), [(1, 1)], ((2, 0), ((1, 1),))),
    ],
)
def test_coalescing(shape: tuple[int, ...], strides: list[tuple[int, ...]], accepted: object) -> None:
    assert g.coalesce_dimensions(shape, strides) == accepted


def test_strides_are_exact_beyond_the_digits_of_a_float() -> None:
    rows, columns = 2**27 + 1, 2**28 + 1
    assert g.contiguous_strides((3, rows, columns)) == (rows * columns, columns, 1)


@steady
@given(small_shapes, st.data())
def test_dense_strides_in_any_order_fill_a_block(shape: tuple[int, ...], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    strides = g.strides_in_order(shape, order)
    assert sorted(_positions(shape, strides)) == list(range(math.prod(shape)))
    assert g.is_non_overlapping_and_dense(shape, strides)


def test_naming_a_dimension_twice_is_refused() -> None:
    assert g.wrap_dims([0, -1], 3) == (0, 2)
    with pytest.raises(ShapeError, match="dim 2 appears multiple times in the list of dims"):
        g.wrap_dims([2, -1], 3)


def test_a_dimension_out_of_range_is_refused_with_the_range() -> None:
    assert [g.wrap_dim(d, 3) for d in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    assert [g.wrap_dim(d, 0) for d in (-1, 0)] == [0, 0]
    with pytest.raises(DimensionError, match=r"expected to be in range of \[-3, 2\], but got 3"):
        g.wrap_dim(3, 3)
    with pytest.raises(DimensionError, match=r"expected to be in range of \[-1, 0\], but got 1"):
        g.wrap_dim(1, 0)


def test_shapes_that_do_not_broadcast_are_refused_with_both_sizes() -> None:
    with pytest.raises(ShapeError, match=r"tensor a \(3\) must match the size of tensor b \(4\) .* dimension 1"):
        g.broadcast_shapes((2, 3), (4,))


# Against PyTorch ------------------------------------------------------------------------------------------------


def strided(torch: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
    storage = torch.arange(float(g.span(shape, strides) + offset + 1))
    return storage.as_strided(shape, strides, offset)


def refusal(call: Callable[[], object]) -> str:
    """The message of the error that a call raises; empty if it raises none."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


@steady
@given(st.lists(small_shapes, min_size=1, max_size=3))
def test_broadcasting_is_pytorchs(require: Require, several: list[tuple[int, ...]]) -> None:
    torch = require("torch")
    try:
        theirs = torch.broadcast_shapes(*several)
    except RuntimeError:
        with pytest.raises(ShapeError):
            g.broadcast_shapes(*several)
    else:
        assert g.broadcast_shapes(*several) == tuple(theirs)


@steady
@given(small_shapes, small_shapes)
def test_the_refusal_to_broadcast_is_worded_as_pytorchs(
    require: Require, a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    torch = require("torch")
    theirs = refusal(lambda: torch.ones(a) + torch.ones(b))
    assert refusal(lambda: g.broadcast_shapes(a, b)) == theirs


@steady
@given(geometries(), shapes)
def test_view_strides_are_pytorchs(
    require: Require, geometry: tuple[tuple[int, ...], tuple[int, ...], int], target: tuple[int, ...]
) -> None:
    torch = require("torch")
    shape, strides, _ = geometry
    if math.prod(target) != math.prod(shape):
        target = (math.prod(shape),)
    try:
        theirs = strided(torch, shape, strides).view(target).stride()
    except RuntimeError:
        theirs = None
    assert g.view_strides(shape, strides, target) == theirs


@steady
@given(st.lists(st.integers(-1, 6), max_size=3), st.sampled_from([0, 1, 6, 12]))
def test_infer_size_is_pytorchs(require: Require, shape: list[int], numel: int) -> None:
    torch = require("torch")
    theirs = refusal(lambda: torch.empty(numel).view(shape))
    assert refusal(lambda: g.infer_size(shape, numel)) == theirs
    if not theirs:
        assert g.infer_size(shape, numel) == tuple(torch.empty(numel).view(shape).shape)


@steady
@given(small_shapes, shapes, st.data())
def test_expanded_strides_are_pytorchs(
    require: Require, shape: tuple[int, ...], target: tuple[int, ...], data: st.DataObject
) -> None:
    torch = require("torch")
    if data.draw(st.booleans()):  # half the time a target that fits
        target = (*target[: 4 - len(shape)], *(s if s != 1 else data.draw(st.integers(0, 3)) for s in shape))
    strides = g.strides_in_order(shape, data.draw(st.permutations(range(len(shape)))))
    try:
        theirs = strided(torch, shape, strides).expand(target).stride()
    except RuntimeError:
        assert not g.is_expandable_to(shape, target)
    else:
        assert g.is_expandable_to(shape, target)
        assert g.expand_strides(shape, strides, target) == theirs


@steady
@given(geometries())
def test_judgements_about_a_geometry_are_pytorchs(
    require: Require, geometry: tuple[tuple[int, ...], tuple[int, ...], int]
) -> None:
    torch = require("torch")
    shape, strides, offset = geometry
    theirs = strided(torch, shape, strides, offset)
    assert g.is_contiguous(shape, strides) == theirs.is_contiguous()
    dense = torch.ops.aten.is_non_overlapping_and_dense(theirs)
    assert g.is_non_overlapping_and_dense(shape, strides) == dense
    overlaps = torch._debug_has_internal_overlap(theirs)  # 0 no, 1 yes, 2 too hard to say
    assert g.has_internal_overlap(shape, strides) == (overlaps == 1) or not theirs.numel() or dense
    assert g.contiguous_strides(shape) == torch.empty(shape).stride()


@steady
@given(geometries(), geometries(), st.integers(0, 2))
def test_what_two_tensors_of_one_storage_share_is_what_pytorch_finds(
    require: Require,
    first: tuple[tuple[int, ...], tuple[int, ...], int],
    second: tuple[tuple[int, ...], tuple[int, ...], int],
    alike: int,
) -> None:
    torch = require("torch")
    if alike:  # else hardly any two have one shape
        second = (*first[:alike], *second[alike:]) if alike == 2 or len(first[0]) == len(second[1]) else first
    a, b = g.Extent(*first), g.Extent(*second)
    storage = torch.zeros(1 + max(e.offset + g.span(e.shape, e.strides) for e in (a, b)))
    there, here = (storage.as_strided(e.shape, e.strides, e.offset) for e in (a, b))
    assume(there.numel() or not here.numel())  # nothing can be taken from nothing
    assume(torch._debug_has_internal_overlap(here) != 1)  # refused for another reason
    status = g.overlap_status(a, b)
    assert g.overlap_status(b, a) is status
    take = refuses(lambda: torch.take(there, torch.zeros(b.shape, dtype=torch.int64), out=here))
    assert take == (status in (g.Overlap.FULL, g.Overlap.PARTIAL))
    if a.shape == b.shape:
        assert refuses(lambda: torch.neg(there, out=here)) == (status is g.Overlap.PARTIAL)


def refuses(call: Callable[[], object]) -> bool:
    """Whether PyTorch refuses because what is read and what is written overlap."""
    try:
        call()
    except RuntimeError as error:
        if "some elements of the input tensor and the written-to tensor refer to a single memory" not in str(error):
            raise
        return True
    return False


def test_what_two_tensors_share_without_gaps_is_where_their_blocks_begin_and_end() -> None:
    rows, columns = g.Extent((2, 3), (3, 1)), g.Extent((2, 3), (1, 2))
    assert g.overlap_status(rows, g.Extent((2, 3), (3, 1))) is g.Overlap.FULL
    assert g.overlap_status(rows, columns) is g.Overlap.PARTIAL  # the same block in another order
    assert g.overlap_status(rows, g.Extent((3,), (1,), 5)) is g.Overlap.PARTIAL
    assert g.overlap_status(rows, g.Extent((3,), (1,), 6)) is g.Overlap.NO
    assert g.overlap_status(rows, g.Extent((0,), (1,), 2)) is g.Overlap.NO
    even, odd = g.Extent((3,), (2,), 0), g.Extent((3,), (2,), 1)
    assert g.overlap_status(even, odd) is g.Overlap.TOO_HARD  # they share nothing, but that is not looked for


@steady
@given(geometries())
def test_a_tensor_like_another_is_laid_out_as_in_pytorch(
    require: Require, geometry: tuple[tuple[int, ...], tuple[int, ...], int]
) -> None:
    torch = require("torch")
    shape, strides, _ = geometry
    assert g.strides_like(shape, strides) == torch.empty_like(strided(torch, shape, strides)).stride()


@steady
@given(small_shapes, st.data())
def test_a_result_of_two_tensors_is_laid_out_as_in_pytorch(
    require: Require, shape: tuple[int, ...], data: st.DataObject
) -> None:
    torch = require("torch")

    def operand() -> tuple[tuple[int, ...], tuple[int, ...]]:
        own = tuple(1 if data.draw(st.integers(0, 3)) == 0 else size for size in shape)
        gaps = data.draw(st.sampled_from([1, 1, 2]))
        order = data.draw(st.permutations(range(len(shape))))
        return own, tuple(step * gaps for step in g.strides_in_order(own, order))

    a, b = operand(), operand()
    common = g.broadcast_shapes(a[0], b[0])
    theirs = (strided(torch, *a) + strided(torch, *b)).stride()
    read = [
        tuple(0 if s == 1 and c != 1 else step for s, c, step in zip(own, common, strides, strict=True))
        for own, strides in (a, b)
    ]
    ours = g.strides_in_order(common, g.memory_order(read, common))
    assert _of_long_dimensions(common, ours) == _of_long_dimensions(common, theirs)


def _of_long_dimensions(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    return [step for size, step in zip(shape, strides, strict=True) if size > 1]


@steady
@given(st.lists(st.sampled_from([1, 2, 3]), min_size=4, max_size=5).map(tuple), st.booleans())
def test_channels_last_is_pytorchs(require: Require, shape: tuple[int, ...], plain: bool) -> None:
    torch = require("torch")
    form = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    theirs = torch.empty(shape, memory_format=torch.contiguous_format if plain else form)
    if not plain:
        assert g.channels_last_strides(shape) == theirs.stride()
    assert g.is_channels_last(shape, theirs.stride()) == theirs.is_contiguous(memory_format=form)


def test_bounds_of_a_slice_are_those_of_python() -> None:
    for size, start, end in product(range(4), (None, *range(-5, 6)), (None, *range(-5, 6))):
        first, last = g.slice_bounds(size, start, end)
        assert range(first, last) == range(size)[start:end]
        assert 0 <= first <= last <= size
