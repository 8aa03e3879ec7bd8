"""Do sums, means, extrema, all and any give PyTorch's answers, to the last digit that can be asked for?"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

NAN = math.nan
random = np.random.default_rng(0)


def same(tensor: Any, wanted: Any) -> bool:
    """Equal values, NaN included; compared as text."""
    return str(tensor.tolist()) == str(wanted)


# Sums -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_integers_are_added_as_int64(torch: Any, dtype: str) -> None:
    x = torch.tensor([[1, 1], [0, 1]]).to(getattr(torch, dtype))
    assert x.sum().dtype == x.sum(0).dtype == torch.int64
    assert x.sum(1).tolist() == [2, 1]


def test_an_empty_list_of_dimensions_means_all(torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.sum([]).tolist() == x.sum(None).tolist() == x.sum((0, 1)).tolist() == 15.0
    assert x.sum((), True).shape == x.mean((), keepdim=True).shape == (1, 1)


def test_a_dtype_converts_before_adding(torch: Any) -> None:
    x = torch.tensor([0.5, 1.5, 2.5])
    assert x.sum(dtype=torch.int64).tolist() == 3
    assert x.sum(dtype=torch.float64).dtype == torch.float64
    assert torch.tensor([200, 100]).sum(dtype=torch.uint8).tolist() == 44
    assert torch.tensor([2, 0]).sum(dtype=torch.bool).tolist() is True


@pytest.mark.parametrize("rows", [1, 70])
def test_large_tensors_are_converted_before_adding_too(torch: Any, rows: int) -> None:
    x = torch.full((rows, 1000), 1 + 2**-11)
    assert x.sum(1, dtype=torch.float16).tolist() == [1000] * rows
    assert x.sum(1, dtype=torch.float64).tolist() == [1000 + 1000 * 2**-11] * rows
    assert x.mean(dtype=torch.float16).tolist() == 1
    assert (2 * x).nansum(0, dtype=torch.int64).tolist() == [2 * rows] * 1000


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rows", [3, 300])
def test_a_sum_leaves_out_nan_and_no_infinity(torch: Any, rows: int, dtype: str) -> None:
    x = torch.ones(rows, 200, dtype=getattr(torch, dtype))
    x[1, 3] = x[2, 7] = x[2, 8] = NAN
    x[0, 4], x[2, 5] = math.inf, -math.inf
    x[0, 6], x[2, 6] = math.inf, -math.inf
    assert x.nansum(1).tolist()[1:3] == [199, -math.inf]
    assert x.nansum(0)[[0, 3, 4, 5, 7]].tolist() == pytest.approx([rows, rows - 1, math.inf, -math.inf, rows - 1], 0.01)
    assert math.isnan(x.nansum(0)[6])
    assert x[:, :4].nansum().item() == pytest.approx(4 * rows - 1, 0.01)


def test_the_out_tensor_of_a_sum_chooses_the_dtype(torch: Any) -> None:
    x = torch.tensor([[0.5, 1.5], [1.0, 1.0]])
    assert torch.sum(x, 0, out=torch.zeros(2, dtype=torch.int64)).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        torch.sum(x, 0, dtype=torch.float32, out=torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize(
    ("shape", "dims"),
    [
        ((300_000,), (0,)),
        ((20_000, 16), (0,)),
        ((20_000, 16), (0, 1)),
        ((40, 1_000, 40), (1,)),
        ((3, 70_000, 2), (0, 1)),
    ],
)
@pytest.mark.parametrize("arrange", ["as it is", "transposed", "every second"])
def test_long_sums_keep_their_digits(torch: Any, shape: tuple[int, ...], dims: tuple[int, ...], arrange: str) -> None:
    array = random.random(shape).astype(np.float32)
    x = torch.from_numpy(array)
    if arrange == "transposed":
        array, x = array.T, x.permute(tuple(reversed(range(x.dim()))))
        dims = tuple(len(shape) - 1 - d for d in dims)
    elif arrange == "every second":
        array, x = array[..., ::2], x[..., ::2]
    exact = array.astype(np.float64).sum(dims)
    assert np.abs(x.sum(dims).numpy() / exact - 1).max() < 2e-6
    assert np.abs(x.mean(dims).numpy() * (array.size / exact.size) / exact - 1).max() < 2e-6


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_added_in_float32_and_rounded_once(torch: Any, dtype: str) -> None:
    x = torch.ones(4096).to(getattr(torch, dtype))
    assert x.sum().tolist() == 4096.0
    assert x.reshape(2, 2048).sum(1).tolist() == [2048.0, 2048.0]
    assert (x * 256).mean().tolist() == 256.0  # the sum alone would be infinite in float16


def test_infinities_that_cancel_give_nan_without_a_warning(torch: Any) -> None:
    x = torch.tensor([math.inf, -math.inf])
    assert same(x.sum(), NAN)
    assert same(torch.full((300,), 6e4).half().sum(), math.inf)


def test_the_mean_of_nothing_is_nan(torch: Any) -> None:
    assert same(torch.empty(0).mean(), NAN)
    assert same(torch.empty(2, 0).mean(1), [NAN, NAN])
    assert torch.empty(0, 2).mean(1).shape == (0,)


def test_results_are_row_major(torch: Any) -> None:
    x = torch.rand(2, 3, 4).permute(2, 0, 1)
    for result in (x.sum(1), x.mean(1), x.amax(1), x.max(1).values, x.max(1).indices, x.argmin(1), x.all(1)):
        assert result.is_contiguous()
        assert result.shape == (4, 3)


DIFFERENTIABLE: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "sum over dimensions": lambda x: x.sum((0, 2)),
    "mean": lambda x: x.mean(),
    "mean over dimensions": lambda x: x.mean((0, 1), keepdim=True),
    "max": lambda x: x.max(),
    "min over a dimension": lambda x: x.min(-1, True).values,
    "amax": lambda x: x.amax((0, 1)),
    "amin of all": lambda x: x.amin(),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_twice(name: str) -> None:
    x = glasstorch.from_numpy(random.standard_normal((2, 3, 2))).requires_grad_()

    def bent(x: Any) -> Any:  # reductions are linear: their own second derivative says nothing
        return DIFFERENTIABLE[name](x) ** 2

    assert glasstorch.autograd.gradcheck(bent, (x,))
    assert glasstorch.autograd.gradgradcheck(bent, (x,))


def test_scalars_have_gradients(torch: Any) -> None:
    for function in (lambda x: x.sum(0), lambda x: x.mean(-1), lambda x: x.max(0).values, lambda x: x.amin(0)):
        x = torch.tensor(3.0, requires_grad=True)
        function(x).backward()
        assert x.grad.tolist() == 1.0


def test_nan_that_is_the_maximum_has_the_gradient(torch: Any) -> None:
    x = torch.tensor([1.0, NAN, NAN], requires_grad=True)
    x.max().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


# Extrema --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("d", [0, 1])
def test_the_first_of_equals_is_found(torch: Any, dtype: str, d: int) -> None:
    x = torch.tensor([[0, 1, 1, 0], [1, 0, 1, 1]]).to(getattr(torch, dtype))
    x = x if d == 1 else x.t().contiguous()
    assert x.max(d).indices.tolist() == [1, 0]
    assert x.min(d).indices.tolist() == [0, 1]
    assert x.max(d).values.dtype == x.dtype
    if dtype != "bool":
        assert x.argmax(d).tolist() == [1, 0]
        assert x.argmin().tolist() == 0


def test_nan_is_the_extremum(torch: Any) -> None:
    x = torch.tensor([1.0, NAN, 3.0, NAN])
    for name in ("max", "min"):
        assert same(getattr(x, name)(), NAN)
        assert same(getattr(x, name)(0).values, NAN)
        assert getattr(x, name)(0).indices.tolist() == getattr(x, f"arg{name}")().tolist() == 1
        assert same(getattr(x, f"a{name}")(0), NAN)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("d", [0, 1, 2])
def test_extrema_of_large_tensors_are_found_however_they_lie(
    torch: Any, dtype: str, order: tuple[int, ...], d: int
) -> None:
    x = torch.from_numpy(np.random.default_rng(d).integers(-99, 99, (60, 50, 40))).to(getattr(torch, dtype))
    x = x.permute(order)
    array = x.numpy()
    for name in ("max", "min"):
        wanted = getattr(np, f"arg{name}")(array, d)
        assert np.array_equal(getattr(x, f"arg{name}")(d).numpy(), wanted)
        values, places = getattr(x, name)(d)
        assert np.array_equal(places.numpy(), wanted)
        assert np.array_equal(values.numpy(), getattr(array, name)(d))


def test_results_have_names(torch: Any) -> None:
    result = torch.tensor([[1.0, 3.0], [4.0, 2.0]]).max(1)
    assert isinstance(result, torch.return_types.max)
    assert isinstance(result, tuple)
    values, indices = result
    assert values is result.values
    assert indices is result.indices
    assert repr(result) == "torch.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 0]))"
    assert pickle.loads(pickle.dumps(result)).indices.tolist() == [1, 0]
    assert type(torch.zeros(2, 1).min(0)) is torch.return_types.min
    out = torch.max(torch.zeros(2, 2), 0, out=(torch.ones(2), torch.ones(2).long()))
    assert out.values.shape == out.indices.shape == (2,)


def test_max_of_two_tensors_is_maximum(torch: Any) -> None:
    x = torch.tensor([1, 5])
    assert torch.max(x, torch.tensor(3)).tolist() == [3, 5]  # a 0-dim tensor, not a dimension
    assert torch.min(x, other=torch.tensor([2, 2])).tolist() == [1, 2]
    assert torch.max(x, torch.tensor([2, 2]), out=torch.zeros(2)).tolist() == [2.0, 5.0]


def test_scalars_may_name_dimension_0(torch: Any) -> None:
    x = torch.tensor(3.0)
    assert x.max(0).indices.tolist() == x.argmax(-1).tolist() == 0
    assert x.sum(0).tolist() == x.amax(0).tolist() == x.mean(-1).tolist() == 3.0
    assert x.all(0).tolist() is True


def test_argmax_counts_in_row_major_order(torch: Any) -> None:
    x = torch.tensor([[0, 1, 2], [5, 4, 3]]).t()
    assert x.argmax().tolist() == 1
    assert x.argmax(keepdim=True).tolist() == [[1]]
    assert x.argmin(0, keepdim=True).tolist() == [[0, 2]]


# all and any ----------------------------------------------------------------------------------------------------


def test_all_and_any_give_bool_but_uint8_for_uint8(torch: Any) -> None:
    x = torch.tensor([[0, 2], [3, 4]])
    assert x.all(1).tolist() == [False, True]
    assert x.any().tolist() is True
    assert x.all().dtype == torch.bool
    assert x.to(torch.uint8).all(1).dtype == x.to(torch.uint8).any().dtype == torch.uint8
    assert torch.tensor(NAN).all().tolist() is True
    assert torch.empty(0, 2).all().tolist() is True
    assert torch.empty(0, 2).any(0).tolist() == [False, False]


def test_no_dimensions_mean_none_to_all(torch: Any) -> None:
    x = torch.tensor([[0.0, 2.0]])
    assert torch.all(x, dim=()).tolist() == [[False, True]]
    assert torch.any(x, dim=None).tolist() is True
    assert torch.any(x, dim=(0, 1), keepdim=True).tolist() == [[True]]


def test_an_extremum_of_nothing_names_the_dimension_as_it_was_given(torch: Any) -> None:
    x = torch.zeros(0, 2, 0)
    for call, dim in ((lambda: x.amax(-1), -1), (lambda: x.amin((1, -3)), -3), (lambda: x.argmax(-1), 2)):
        with pytest.raises(IndexError, match=rf"Expected reduction dim {dim} to have non-zero size"):
            call()
