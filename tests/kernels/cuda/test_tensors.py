"""Are tensors walked through as their strides say, and is a mix of devices refused?"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasstorch
from glasstorch.core.dtype import DTYPES
from glasstorch.core.errors import DeviceError, ShapeError
from glasstorch.devices.modules import source
from glasstorch.kernels.cuda import copies, tensors
from glasstorch.operators.shapes.result import Result
from tests.devices.devices import Devices
from tests.strategies import steady


def places(sizes: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Where each element lies, in row-major order of the elements."""
    grid = np.indices(sizes).reshape(len(sizes), math.prod(sizes))
    return [int(sum(c * s for c, s in zip(column, strides, strict=True))) for column in grid.T]


@st.composite
def walks(draw: Any) -> Any:
    ndim = draw(st.integers(0, 4))
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=ndim, max_size=ndim)))
    order = draw(st.permutations(range(ndim)))
    strides = []
    for _ in range(draw(st.integers(1, 3))):
        dense, step = [0] * ndim, 1
        for dim in order if draw(st.booleans()) else reversed(range(ndim)):
            dense[dim] = 0 if draw(st.integers(0, 4)) == 0 else step
            step *= shape[dim] * draw(st.sampled_from([1, 1, 1, 2]))
        strides.append(tuple(dense))
    return shape, tuple(strides)


@steady
@given(walks(), st.booleans())
def test_a_walk_with_fewer_dimensions_visits_the_same_places_together(walk: Any, any_order: bool) -> None:
    shape, strides = walk
    sizes, steps = tensors.collapsed(shape, strides, any_order)
    before = list(zip(*(places(shape, own) for own in strides), strict=True))
    after = list(zip(*(places(sizes, own) for own in steps), strict=True))
    assert (sorted(after), sorted(before)) == (sorted(before), sorted(after))
    assert any_order or after == before
    assert len(sizes) <= len(shape)


@pytest.mark.parametrize(
    ("shape", "strides", "any_order", "sizes"),
    [
        ((2, 3, 4), ((12, 4, 1),), False, (24,)),
        ((2, 3, 4), ((12, 4, 1), (0, 4, 1)), False, (2, 12)),
        ((2, 3), ((1, 2), (1, 2)), False, (2, 3)),
        ((2, 3), ((1, 2), (1, 2)), True, (6,)),
        ((1, 5, 1), ((9, 2, 7),), False, (5,)),
        ((), ((),), False, ()),
    ],
)
def test_neighbouring_dimensions_become_one_where_all_operands_allow(
    shape: tuple[int, ...], strides: Any, any_order: bool, sizes: tuple[int, ...]
) -> None:
    assert tensors.collapsed(shape, strides, any_order)[0] == sizes


def test_a_geometry_has_the_fields_of_the_structure_in_cuda() -> None:
    text = source("geometry.cuh")
    assert f"MAX_DIMS = {tensors.MAX_DIMS};" in text
    assert f"MAX_OPERANDS = {tensors.MAX_OPERANDS};" in text
    made = tensors.geometry((2, 3), (3, 1), (0, 1))
    assert (int(made["ndim"]), made["sizes"][:2].tolist()) == (2, [2, 3])
    assert made["strides"][:2, :2].tolist() == [[3, 1], [0, 1]]


def test_more_dimensions_than_a_kernel_can_walk_are_refused() -> None:
    shape = (2,) * 26
    with pytest.raises(ShapeError, match=r"too many \(>25\) dims: 26"):
        tensors.geometry(shape, tuple(3**i for i in range(26)))


def test_every_dtype_that_kernels_compute_in_has_a_type_and_a_number_in_cuda() -> None:
    assert set(tensors.CODE) == set(tensors.CUDA_TYPE) == set(tensors.COMPUTED) <= set(DTYPES)
    in_cuda = {name.lower(): int(code) for name, code in re.findall(r"(\w+) = (\d+)[,;]", source("cast.cuh"))}
    assert {dtype.name: code for dtype, code in tensors.CODE.items()} == in_cuda


def test_the_numbers_of_dtypes_are_pytorchs(require: Any) -> None:
    folder = Path(require("torch").__file__).parent / "include" / "torch" / "headeronly" / "core"
    rows = re.findall(r"_\([\w:]+, (\w+)\)\s*/\* (\d+) \*/", (folder / "ScalarType.h").read_text())
    assert {dtype.scalar_name: code for dtype, code in tensors.CODE.items()}.items() <= {
        name: int(code) for name, code in rows
    }.items()


def test_tensors_on_two_devices_are_refused_unless_one_is_a_number(cuda: Devices) -> None:
    here, there = glasstorch.zeros(2, device=cuda.device), glasstorch.zeros(2)
    number = glasstorch.tensor(1.0)
    assert tensors.common_device(here, None, number) is cuda.device
    assert tensors.common_device(there, number).type == "cpu"
    with pytest.raises(DeviceError, match="at least two devices, cuda:0 and cpu!"):
        tensors.common_device(there, here)
    with pytest.raises(DeviceError, match="at least two devices, cuda:0 and cpu!"):
        tensors.common_device(here, number, numbers=False)


def test_an_output_is_what_the_shape_function_says(cuda: Devices) -> None:
    made = tensors.output(Result((2, 3), glasstorch.float64, (1, 2)), cuda.device)
    assert (made.shape, made.stride(), made.dtype, made.device) == ((2, 3), (1, 2), glasstorch.float64, cuda.device)
    assert tensors.output(Result((2, 3), glasstorch.int32), cuda.device).stride() == (3, 1)


def test_contiguous_copies_only_what_is_not(cuda: Devices) -> None:
    x = glasstorch.arange(6, device=cuda.device).view(2, 3)
    assert copies.contiguous(x) is x
    assert copies.contiguous(x.t()).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert copies.contiguous(x.t()).is_contiguous()


@pytest.mark.parametrize(
    ("make", "flat"),
    [
        (lambda x: (x, x), True),
        (lambda x: (x.t(), x.t()), True),
        (lambda x: (x, x.t().reshape(3, 4).t().reshape(3, 4)), True),
        (lambda x: (x, x.view(4, 3).t()), False),
        (lambda x: (x[:, ::2], x[:, ::2]), False),
        (lambda x: (x[1:], x[:2]), True),
        (lambda x: (x, x[:1]), False),
    ],
)
def test_flat_tensors_are_those_whose_memory_is_walked_alike(make: Any, flat: bool) -> None:
    first, *others = make(glasstorch.zeros(3, 4))
    assert tensors.is_flat(first._shape, first, *others) is flat
