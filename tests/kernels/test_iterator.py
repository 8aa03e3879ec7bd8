"""Do pointwise operators broadcast, cast, lay out and write their results as PyTorch's TensorIterator does?"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import wrap
from glasstorch.core.dtype import bfloat16, bool_, dtype, float16, float32, float64, int64
from glasstorch.kernels.iterator import allocate_output, in_blocks, op_math, operand, pointwise
from glasstorch.operators.shapes.result import Result

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


# Steps ----------------------------------------------------------------------------------------------------------


def test_an_output_has_the_strides_of_the_result() -> None:
    assert allocate_output(Result((2, 3), float32)).strides() == (3, 1)
    assert allocate_output(Result((2, 3), float32, (1, 2))).strides() == (1, 2)


def test_half_precision_is_computed_in_float32() -> None:
    assert [op_math(d) for d in (float16, bfloat16, float64, int64)] == [float32, float32, float64, int64]


def test_a_number_is_rounded_to_the_common_dtype_unless_it_is_to_stay_exact() -> None:
    number = glasstorch.tensor(0.0)
    number._number = 0.1
    assert operand(number, float16) == np.float16(0.1)
    assert operand(number, float16, exact=True) == np.float32(0.1)
    assert operand(number, float64) == 0.1


def test_a_tensor_is_rounded_to_half_precision_unless_it_has_no_dimensions_and_is_to_stay_exact() -> None:
    none, one = glasstorch.tensor(0.1), glasstorch.tensor([0.1])
    assert operand(none, float16) == operand(one, float16) == operand(one, float16, exact=True) == np.float16(0.1)
    assert operand(none, float16, exact=True) == np.float32(0.1)


def test_half_times_a_tensor_without_dimensions_is_rounded_once(torch: Any) -> None:
    half, exact = torch.tensor([1.0, 3.0, 7.0], dtype=torch.float16), torch.tensor(0.1)
    assert (half * exact).tolist() == [0.0999755859375, 0.300048828125, 0.7001953125]
    assert (half * exact.half()).tolist() == [0.0999755859375, 0.2998046875, 0.69970703125]


def test_a_loop_sees_at_least_one_dimension() -> None:
    def loop(out: Any, x: Any) -> None:
        twice = np.multiply(x, 2)
        np.add(twice, 1, out=twice)  # fails on the scalar that a ufunc makes of a 0-dim array
        out[...] = twice

    out = np.empty((), np.float32)
    in_blocks.run(loop, out, (np.array(3, np.float32),), (F32, F32))
    assert out == 7


def test_a_result_in_half_precision_is_rounded_before_it_is_cast_on() -> None:
    x = wrap(np.array([2049.0], np.float16), float16)
    y = wrap(np.array([1.0], np.float16), float16)
    out = wrap(np.empty(1, np.float64), float64)
    assert pointwise(np.add, float16, (x, y), out).tolist() == [2048.0]


def test_a_loop_may_produce_another_dtype_than_it_reads() -> None:
    x, y = wrap(np.array([1.0, 2.0], np.float32), float32), wrap(np.array([2, 2]), int64)
    out = wrap(np.empty(2, np.bool_), bool_)
    assert pointwise(np.less, float32, (x, y), out, bool_).tolist() == [True, False]


# The whole, on both libraries -----------------------------------------------------------------------------------


def test_sizes_are_matched_from_the_right(torch: Any) -> None:
    assert (torch.ones(2, 1, 3) + torch.ones(4, 1)).shape == (2, 4, 3)
    assert (torch.ones(0, 3) * torch.ones(3)).shape == (0, 3)
    with pytest.raises(RuntimeError, match=r"tensor a \(2\) must match the size of tensor b \(3\) at non-singleton"):
        torch.ones(4, 2) + torch.ones(4, 3)


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_the_order_in_memory_is_kept(torch: Any, ndim: int) -> None:
    order = list(range(ndim))
    random.Random(ndim).shuffle(order)
    x = torch.ones(*range(2, 2 + ndim)).permute(*order)
    for y in (x + x, x + 1, 2 * x, x.exp(), x < 3, torch.where(x > 0, x, x), x.clamp(0, 1), x.lerp(x, 0.5)):
        assert y.stride() == x.stride()


def test_gaps_are_closed_and_expanded_dimensions_filled(torch: Any) -> None:
    x = torch.ones(6, 8).t()[::2, ::3]
    assert x.neg().stride() == (1, 4)
    assert (torch.ones(3, 1).expand(3, 4) + 1).stride() == (4, 1)


def test_the_first_tensor_decides_where_orders_differ(torch: Any) -> None:
    x, y = torch.ones(3, 4), torch.ones(4, 3).t()
    assert (x + y).stride() == (4, 1)
    assert (y + x).stride() == (1, 3)


def test_out_is_written_cast_and_returned(torch: Any) -> None:
    x, out = torch.tensor([1, 2, 3]), torch.zeros(3, dtype=torch.float64)
    assert torch.mul(x, 2, out=out) is out
    assert out.tolist() == [2.0, 4.0, 6.0]
    strided = torch.zeros(6)[::2]
    torch.add(x, 0.5, out=strided)
    assert strided.tolist() == [1.5, 2.5, 3.5]
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.add(x, 0.5, out=torch.zeros(3, dtype=torch.int64))


def test_out_may_be_an_input(torch: Any) -> None:
    x = torch.arange(4.0)
    assert torch.sub(10, x, out=x) is x
    assert x.tolist() == [10.0, 9.0, 8.0, 7.0]


def test_out_that_partly_overlaps_an_input_or_itself_is_refused(torch: Any) -> None:
    x = torch.arange(5.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        torch.add(x[:-1], 1, out=x[1:])
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        x[1:].add_(x[:-1])
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.ones(1).expand(3).mul_(2)


def test_in_place_takes_no_larger_shape_and_no_higher_category(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        torch.ones(3).add_(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.tensor([1, 2]).mul_(0.5)


def test_in_place_changes_the_same_memory(torch: Any) -> None:
    x = torch.zeros(2, 3)
    view, transposed = x[1], x.t()
    assert x.add_(1).mul_(torch.tensor([1.0, 2.0, 3.0])).sub_(x, alpha=0.5) is x
    assert view.tolist() == [0.5, 1.0, 1.5]
    transposed.add_(x.t())
    assert x.tolist() == [[1.0, 2.0, 3.0]] * 2


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_rounds_once(torch: Any, name: str) -> None:
    half = getattr(torch, name)
    x = torch.tensor([1.0, 3.0, 100.0]).to(half)
    y = torch.addcmul(x, x, x, value=0.1)
    wanted = (x.float() + 0.1 * x.float() * x.float()).to(half)
    assert y.dtype == half
    assert y.float().tolist() == wanted.float().tolist()
    tenth = torch.tensor([0.1]).to(half)
    assert (tenth == 0.1).tolist() == [True]  # the number is rounded too


def test_large_tensors_of_any_layout_give_what_small_ones_give(torch: Any) -> None:
    count = 100_007
    x = torch.arange(float(2 * count))[::2]
    assert x.stride() == (2,)
    y = x.sigmoid()
    assert y[:5].tolist() == x[:5].sigmoid().tolist()
    assert y[-5:].tolist() == x[-5:].sigmoid().tolist()
    wide = torch.arange(float(count)).reshape(1, count).expand(2, count)
    z = torch.addcmul(wide, torch.ones(2, 1), wide, value=2.0)
    assert z[1, -1].item() == 3.0 * (count - 1)


@pytest.mark.parametrize("d", [float16, bfloat16, float32, float64, int64], ids=lambda d: d.name)
def test_nothing_of_a_result_is_left_unwritten(d: dtype) -> None:
    for shape in [(), (0,), (1,), (33_000,), (3, 17_000)]:
        ones = glasstorch.ones(shape, dtype=d)
        assert bool((ones + ones == 2).all())
        assert bool((glasstorch.where(ones > 0, ones, 0) == 1).all())
        assert bool((glasstorch.clamp(ones, 0, 1) == 1).all())
