"""Do reductions on a CUDA device give what they give on the CPU, however a line is shared out among threads?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import Tensor, from_array
from glasstorch.core.dtype import BY_NAME, FROM_NUMPY
from glasstorch.core.errors import DtypeError
from glasstorch.devices import runtime
from glasstorch.kernels.cuda import lines, reductions
from tests.devices.devices import Devices

NAN = math.nan
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", "uint8", "int32", "int64", *FLOATS)
CHECKED = ("uint8", "float16", "float32")  # check mode compiles anew, and what it finds is the same for all dtypes
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-13}


def tensor(shape: tuple[int, ...], dtype: str = "float32") -> Tensor:
    """Small numbers with many equals; floats have fractions that every dtype holds."""
    numbers = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 9, shape)
    array = (numbers / 4 - 1 if dtype in FLOATS else numbers).astype(BY_NAME[dtype].numpy)
    return from_array(np.asarray(array), FROM_NUMPY[array.dtype])


def parts_of(result: Any) -> tuple[Tensor, ...]:
    """A result, or the several that it is."""
    return result if isinstance(result, tuple) else (result,)


def check(found: Any, wanted: Any) -> None:
    """Equal dtypes, sizes and values, NaN included; sums of floats may differ in the last digits."""
    for on_cuda, on_cpu in zip(parts_of(found), parts_of(wanted), strict=True):
        assert on_cuda.is_cuda
        assert on_cuda.dtype is on_cpu.dtype
        assert on_cuda.shape == on_cpu.shape
        close = TOLERANCE.get(on_cpu.dtype.name, 0)
        found_array, wanted_array = (np.asarray(t.double().tolist()) for t in (on_cuda.cpu(), on_cpu))
        np.testing.assert_allclose(found_array, wanted_array, rtol=close, atol=close)


def both(function: Callable[[Tensor], Any], x: Tensor, cuda: Devices) -> None:
    """Check a function on the device against the same on the CPU."""
    check(function(x.to(cuda.device)), function(x))


OVER_ALL: dict[str, Callable[[Tensor], Any]] = {
    "sum": lambda x: x.sum(),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "all": lambda x: x.all(),
    "any": lambda x: x.any(),
}
OVER_DIM: dict[str, Callable[[Tensor, int, bool], Any]] = {
    "max.dim": lambda x, d, keepdim: x.max(d, keepdim),
    "min.dim": lambda x, d, keepdim: x.min(d, keepdim),
    "all.dim": lambda x, d, keepdim: x.all(d, keepdim),
    "any.dim": lambda x, d, keepdim: x.any(d, keepdim),
}
OVER_DIMS: dict[str, Callable[[Tensor, tuple[int, ...], bool], Any]] = {
    "sum": lambda x, dims, keepdim: x.sum(dims, keepdim),
    "amax": lambda x, dims, keepdim: x.amax(dims, keepdim),
    "amin": lambda x, dims, keepdim: x.amin(dims, keepdim),
    "all": lambda x, dims, keepdim: glasstorch.all(x, dims, keepdim),
    "any": lambda x, dims, keepdim: glasstorch.any(x, dims, keepdim),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operator_of_every_dtype(cuda: Devices, dtype: str) -> None:
    if cuda.name == "check" and dtype not in CHECKED:
        return
    for shape in ((3, 90), (90, 3)):
        x = tensor(shape, dtype)
        for function in OVER_ALL.values():
            both(function, x, cuda)
        for reduce, d in itertools.product(OVER_DIM.values(), (0, 1)):
            both(lambda x, reduce=reduce, d=d: reduce(x, d, False), x, cuda)
        both(lambda x: x.sum(0), x, cuda)
        both(lambda x: x.amin(1), x, cuda)
        if dtype in FLOATS:
            both(lambda x: x.mean(), x, cuda)
            both(lambda x: x.mean(1, True), x, cuda)
        if dtype != "bool":
            both(lambda x: x.argmax(), x, cuda)
            both(lambda x: x.argmin(0), x, cuda)


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.permute(2, 0, 1),
    "every second": lambda x: x[:, 1:, ::2],
    "expanded": lambda x: x[:, :1].expand(-1, 4, -1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_dimensions_of_any_layout(cuda: Devices, layout: str) -> None:
    base = tensor((4, 35, 6))

    def laid_out(function: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
        return lambda x: function(LAYOUTS[layout](x))

    for count in range(4):
        for dims in itertools.combinations(range(3), count):
            for keepdim in (False, True):
                for reduce in OVER_DIMS.values():
                    both(laid_out(lambda x, r=reduce, d=dims, k=keepdim: r(x, d, k)), base, cuda)
    for d in range(-3, 3):
        both(laid_out(lambda x, d=d: x.max(d, d < 0)), base, cuda)
        both(laid_out(lambda x, d=d: x.argmin(d, d < 0)), base, cuda)
    both(laid_out(lambda x: x.argmax()), base, cuda)
    both(laid_out(lambda x: x.argmin(keepdim=True)), base, cuda)


# Two passes -----------------------------------------------------------------------------------------------------


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the kernels that are launched. Parts are short, so that small lines have several."""
    names: list[str] = []
    launch = reductions.launch

    def noted(kernel: Any, *arguments: Any) -> None:
        names.append(kernel.name)
        launch(kernel, *arguments)

    monkeypatch.setattr(reductions, "launch", noted)
    monkeypatch.setattr(lines, "PER_PART", 64)
    reductions.plan.cache_clear()
    yield names
    reductions.plan.cache_clear()


@pytest.mark.parametrize(
    ("shape", "dims", "first"),
    [
        ((1500,), (0,), "reduce_rows"),
        ((3, 700), (1,), "reduce_rows"),
        ((700, 3), (0,), "reduce_columns"),
        ((300, 40), (0,), "reduce_columns"),
        ((5, 60, 7), (0, 2), "reduce_rows"),
        ((5, 300, 7), (0, 1), "reduce_columns"),
    ],
)
def test_blocks_that_share_a_line(
    cuda: Devices, launched: list[str], shape: tuple[int, ...], dims: tuple[int, ...], first: str
) -> None:
    x = tensor(shape)
    on_cuda = x.to(cuda.device)
    for reduce in OVER_DIMS.values():
        launched.clear()
        check(reduce(on_cuda, dims, False), reduce(x, dims, False))
        assert launched == [first, "reduce_partials"]
    if len(dims) == 1:
        both(lambda x: x.max(dims[0]), x, cuda)
    both(lambda x: x.argmin(), x, cuda)


def test_no_part_of_a_line_is_empty_or_read_twice(cuda: Devices, launched: list[str]) -> None:
    for length in (127, 128, 129, 255, 1000, 4095, 4097):
        assert glasstorch.ones(length, device=cuda.device).sum().item() == length


def test_digits_do_not_depend_on_the_order_of_threads() -> None:
    array = np.random.default_rng(0).standard_normal((3, 20_000)).astype(np.float32)
    sums = set()
    try:
        for order, seed in (("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)):
            glasstorch.cuda.use_simulator(order=order, seed=seed)
            x = glasstorch.from_numpy(array).cuda()
            sums.add(str([x.sum().tolist(), x.sum(0)[:50].tolist(), x.sum(1).tolist(), x.mean().tolist()]))
    finally:
        runtime.use_driver(None)
    assert len(sums) == 1


def test_tensors_are_reduced_on_their_own_device(cuda: Devices, launched: list[str]) -> None:
    if cuda.driver.device_count() == 1:
        pytest.skip("there is only one device")
    x = tensor((3, 700))
    other = x.to("cuda:1")
    for found, wanted in ((other.sum(), x.sum()), (other.max(1), x.max(1)), (other.all(0), x.all(0))):
        assert all(part.device.index == 1 for part in parts_of(found))
        check(found, wanted)
    assert "reduce_partials" in launched
    assert cuda.driver.current_device() == 0


# Sums -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32"])
def test_integers_are_added_as_int64(cuda: Devices, dtype: str) -> None:
    both(lambda x: x.sum(), tensor((2, 50), dtype), cuda)
    both(lambda x: x.sum(0), tensor((2, 50), dtype), cuda)


def test_a_dtype_converts_before_adding(cuda: Devices) -> None:
    x = glasstorch.tensor([0.5, 1.5, 2.5], device=cuda.device)
    assert x.sum(dtype=glasstorch.int64).tolist() == 3
    assert x.sum(dtype=glasstorch.float64).dtype is glasstorch.float64
    assert x.long().mean(dtype=glasstorch.float32).tolist() == 1.0
    assert glasstorch.tensor([200, 100], device=cuda.device).sum(dtype=glasstorch.uint8).tolist() == 44
    assert glasstorch.tensor([2, 0], device=cuda.device).sum(dtype=glasstorch.bool).tolist() is True
    with pytest.raises(DtypeError, match=r"mean\(\): could not infer output dtype"):
        x.long().mean()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_added_in_float32_and_rounded_once(cuda: Devices, dtype: str) -> None:
    x = glasstorch.ones(4096).to(getattr(glasstorch, dtype)).to(cuda.device)
    assert x.sum().tolist() == 4096.0
    assert x.reshape(2, 2048).sum(1).tolist() == [2048.0, 2048.0]
    assert x.reshape(2048, 2).sum(0).tolist() == [2048.0, 2048.0]
    wide = glasstorch.full((4096,), 256.0).to(getattr(glasstorch, dtype)).to(cuda.device)
    assert wide.mean().tolist() == 256.0  # the sum alone would be infinite in float16


@pytest.mark.parametrize(
    ("shape", "dims"), [((100_000,), (0,)), ((20_000, 4), (0,)), ((10, 1_000, 10), (1,)), ((3, 9_000, 2), (0, 1))]
)
def test_long_sums_keep_their_digits(cuda: Devices, shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    if cuda.name == "check":
        return
    array = np.random.default_rng(0).random(shape).astype(np.float32)
    x = glasstorch.from_numpy(array).to(cuda.device)
    exact = array.astype(np.float64).sum(dims)
    assert np.abs(x.sum(dims).cpu().numpy() / exact - 1).max() < 2e-6
    assert np.abs(x.mean(dims).cpu().numpy() * (array.size / exact.size) / exact - 1).max() < 2e-6


def test_the_sum_and_the_mean_of_nothing(cuda: Devices) -> None:
    for shape in ((0,), (2, 0), (0, 2), (2, 0, 3)):
        x = glasstorch.empty(shape)
        both(lambda x: x.sum(), x, cuda)
        both(lambda x: x.mean(), x, cuda)
        both(lambda x: x.all(), x, cuda)
        both(lambda x: x.any(), x, cuda)
        for d in range(len(shape)):
            both(lambda x, d=d: x.sum(d), x, cuda)
            both(lambda x, d=d: x.mean(d, True), x, cuda)
            both(lambda x, d=d: x.any(d), x, cuda)


# Extrema --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_first_of_equals_is_found(cuda: Devices, name: str) -> None:
    """In one thread, in one warp, in two warps of a block; along rows and along columns."""
    for length, places in ((3, (1, 2)), (90, (40, 41)), (90, (7, 80)), (700, (5, 690)), (700, (99, 100))):
        line = np.zeros(length, np.float32)
        line[list(places)] = 1 if name == "max" else -1
        row = glasstorch.from_numpy(line).to(cuda.device)
        rows = row.expand(3, length)
        assert getattr(row, name)(0).indices.tolist() == places[0]
        assert getattr(rows, name)(1).indices.tolist() == [places[0]] * 3
        assert getattr(rows.contiguous().t().contiguous(), name)(0).indices.tolist() == [places[0]] * 3
        assert getattr(rows.contiguous(), f"arg{name}")().tolist() == places[0]


def test_the_first_of_equals_is_found_in_two_passes(cuda: Devices, launched: list[str]) -> None:
    test_the_first_of_equals_is_found(cuda, "max")
    assert "reduce_partials" in launched


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_is_the_extremum_and_the_first_is_found(cuda: Devices, dtype: str) -> None:
    if cuda.name == "check" and dtype not in CHECKED:
        return
    x = glasstorch.zeros(200)
    x[3], x[150], x[160] = math.inf, NAN, NAN
    x = x.to(getattr(glasstorch, dtype)).to(cuda.device)
    for name in ("max", "min"):
        assert math.isnan(getattr(x, name)().item())
        assert math.isnan(getattr(x, name)(0).values.item())
        assert math.isnan(getattr(x, f"a{name}")(0).item())
        assert getattr(x, name)(0).indices.item() == getattr(x, f"arg{name}")().item() == 150


def test_integers_keep_all_their_digits(cuda: Devices) -> None:
    most = 2**63 - 1
    x = glasstorch.tensor([most - 1, most, -most - 1, -most], device=cuda.device)
    assert [x.max().item(), x.min().item(), x.argmax().item(), x.argmin().item()] == [most, -most - 1, 1, 2]
    assert x[:1].sum().item() == most - 1


def test_argmax_counts_in_row_major_order(cuda: Devices) -> None:
    x = glasstorch.tensor([[0, 1, 2], [5, 4, 3]], device=cuda.device).t()
    assert x.argmax().tolist() == 1
    assert x.argmax(keepdim=True).tolist() == [[1]]
    assert glasstorch.zeros(3, 4, device=cuda.device).t().argmax().tolist() == 0


def test_scalars_may_name_dimension_0(cuda: Devices) -> None:
    x = glasstorch.tensor(3.0, device=cuda.device)
    assert x.max(0).indices.tolist() == x.argmax(-1).tolist() == 0
    assert x.sum(0).tolist() == x.amax(0).tolist() == x.mean(-1).tolist() == x.max().tolist() == 3.0
    assert x.all(0).tolist() is True


def test_nothing_has_no_extremum(cuda: Devices) -> None:
    x = glasstorch.empty(0, 2, device=cuda.device)
    assert x.max(1).values.shape == (0,)
    for refused in (lambda: x.max(), lambda: x.max(0), lambda: x.argmin(), lambda: x.amax(0)):
        with pytest.raises((IndexError, RuntimeError), match=r"Expected reduction dim"):
            refused()


# all and any ----------------------------------------------------------------------------------------------------


def test_whatever_is_not_zero_is_true(cuda: Devices) -> None:
    x = glasstorch.tensor([NAN, 0.0, -0.0, 1e-40], device=cuda.device)
    assert glasstorch.all(x, dim=()).tolist() == [True, False, False, True]
    assert x.to(glasstorch.uint8).any().dtype is glasstorch.uint8
    assert glasstorch.tensor([2**40, 1], device=cuda.device).all().tolist() is True


# out= -----------------------------------------------------------------------------------------------------------


def test_results_are_written_where_they_are_wanted(cuda: Devices) -> None:
    x = tensor((6, 40))
    on_cuda = x.to(cuda.device)

    def column(dtype: Any) -> Tensor:
        return glasstorch.full((6, 2), 7, dtype=dtype, device=cuda.device)[:, 1]

    for dtype in (glasstorch.float32, glasstorch.float64, glasstorch.int64, glasstorch.float16):
        check(glasstorch.sum(on_cuda, 1, out=column(dtype)), glasstorch.sum(x, 1, out=glasstorch.zeros(6, dtype=dtype)))
    out = column(glasstorch.float64)
    assert glasstorch.mean(on_cuda, 1, out=out) is out
    check(out, x.mean(1).double())
    values, indices = column(glasstorch.float32), column(glasstorch.int64)
    glasstorch.max(on_cuda, 1, out=(values, indices))
    check((values, indices), tuple(x.max(1)))
    check(glasstorch.argmin(on_cuda, 1, out=column(glasstorch.int64)), x.argmin(1))
    check(glasstorch.amax(on_cuda, 1, out=column(glasstorch.float32)), x.amax(1))
    check(glasstorch.all(on_cuda, 1, out=column(glasstorch.uint8)), x.all(1).to(glasstorch.uint8))
    with pytest.raises(DtypeError, match="Expected the dtype for input and out to match"):
        glasstorch.amax(on_cuda, 1, out=column(glasstorch.float64))


def test_gradients_flow(cuda: Devices) -> None:
    def gradient(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        x = x.detach().requires_grad_()
        y = function(x)
        (y * y).sum().backward()
        assert x.grad is not None
        return x.grad

    x = tensor((4, 6))
    for function in (lambda x: x.sum(1), lambda x: x.mean(0), lambda x: x.max(1).values, lambda x: x.amin((0, 1))):
        check(gradient(x.to(cuda.device), function), gradient(x, function))
