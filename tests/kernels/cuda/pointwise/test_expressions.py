"""Do pointwise kernels compute on a CUDA device what they compute on the CPU?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import Tensor, from_array
from glasstorch.core.dtype import BY_NAME, FROM_NUMPY
from glasstorch.core.errors import AcceleratorError, DeviceError, DtypeError
from glasstorch.core.keys import DispatchKey
from glasstorch.devices import runtime
from glasstorch.dispatch.operator import registry
from glasstorch.kernels.cuda.pointwise import expressions as pointwise
from glasstorch.kernels.cuda.pointwise.expressions import SMALL_BLOCK, VECTOR, lie_side_by_side
from glasstorch.kernels.cuda.pointwise.ternary import mse_gradient, squared_difference
from glasstorch.kernels.cuda.tensors import broadcast_strides
from glasstorch.operators.gen.model import load_functions
from glasstorch.operators.generated import functions
from tests.agreement.samples import WITHOUT_CUDA
from tests.devices.devices import Devices, made

INF, NAN = math.inf, math.nan
INTEGERS = ("uint8", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6, "float64": 1e-13}

SHAPE = (5, 3, 43)  # 645 elements: two blocks of fours with one left over, and six of single elements
assert math.prod(SHAPE) > SMALL_BLOCK * VECTOR
assert math.prod(SHAPE) % VECTOR == 1

Call = Callable[..., Tensor]


# Every operator, against its CPU kernel -------------------------------------------------------------------------


def values(name: str, shape: tuple[int, ...], seed: int, positive: bool = False) -> Any:
    """Random values of a NumPy dtype. Positive ones are not 0 either; among others floats have NaN and infinity."""
    random = np.random.default_rng(seed)
    if name == "bool":
        return random.random(shape) < 0.5
    numbers = random.random(shape) * 12 - 6
    if positive or name == "uint8":
        numbers = np.abs(numbers) + positive
    elif name in FLOATS:
        numbers.reshape(-1)[:8] = [NAN, INF, -INF, 0.0, -0.0, 1.0, 2.0, -1.0]
        numbers = np.roll(numbers.reshape(-1), 3 * seed).reshape(shape)
    return numbers.astype(BY_NAME[name].numpy)


def tensor(array: Any) -> Tensor:
    """A row-major tensor of its own."""
    return from_array(np.ascontiguousarray(array).copy(), FROM_NUMPY[array.dtype])


def alpha(x: Tensor) -> Any:
    """A factor that a tensor's dtype takes."""
    return 0.75 if x.dtype.is_floating_point else (True if x.dtype is glasstorch.bool else 3)


POSITIVE = {"log", "power", "square root"}
NOT_BY_ZERO = {"div", "floor_divide", "remainder", "div floor", "div trunc", "pow"}  # nor an integer to a power below 0
OF_ONE = ("neg", "abs", "sgn", "relu", "bitwise_not", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh")
OF_TWO = ("mul", "div", "floor_divide", "remainder", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
COMPARISONS = ("eq", "ne", "lt", "gt", "le", "ge")

CASES: dict[str, tuple[Call, int]] = {
    **{name: (getattr(functions, name), 1) for name in (*OF_ONE, "sigmoid")},
    **{name: (getattr(functions, name), 2) for name in (*OF_TWO, *COMPARISONS, "tanh_backward", "sigmoid_backward")},
    "add": (lambda x, y: glasstorch.add(x, y, alpha=alpha(x)), 2),
    "sub": (lambda x, y: glasstorch.sub(x, y, alpha=alpha(x)), 2),
    "div floor": (lambda x, y: glasstorch.div(x, y, rounding_mode="floor"), 2),
    "div trunc": (lambda x, y: glasstorch.div(x, y, rounding_mode="trunc"), 2),
    "pow": (lambda x, y: glasstorch.pow(x, y), 2),
    "power": (lambda x: x**1.3, 1),
    "integer power": (lambda x: x**5, 1),
    "no power": (lambda x: x**0, 1),
    "first power": (lambda x: x**1, 1),
    "square": (lambda x: x**2, 1),
    "cube": (lambda x: x**3, 1),
    "square root": (lambda x: x**0.5, 1),
    "inverse root": (lambda x: (x * x + 1) ** -0.5, 1),
    "inverse": (lambda x: x**-1.0, 1),
    "inverse square": (lambda x: x**-2.0, 1),
    "number to a power": (lambda x: 2**x, 1),
    "one to a power": (lambda x: 1**x, 1),
    "addcmul": (lambda x, y, z: glasstorch.addcmul(x, y, z, value=2), 3),
    "addcdiv": (lambda x, y, z: glasstorch.addcdiv(x, y, z, value=0.5), 3),
    "lerp": (lambda x, y: glasstorch.lerp(x, y, 0.25), 2),
    "lerp far": (lambda x, y: glasstorch.lerp(x, y, 0.75), 2),
    "clamp": (lambda x: x.clamp(1, 4), 1),
    "clamp below": (lambda x: x.clamp(min=2), 1),
    "clamp above": (lambda x: x.clamp(max=1.5), 1),
    "clamp between tensors": (lambda x, y, z: glasstorch.clamp(x, y, z), 3),
    "clamp below a tensor": (lambda x, y: glasstorch.clamp(x, max=y), 2),
    "where": (lambda x, y: glasstorch.where(x > y, x, y), 2),
    "where with a number": (lambda x: glasstorch.where(x > 1, x, 0), 1),
    "masked_fill": (lambda x, y: x.masked_fill(y > 1, 1), 2),
    "threshold_backward": (lambda x, y: functions.threshold_backward(x, y, 1), 2),
    "add a number": (lambda x: x + 2.5, 1),
    "add an int": (lambda x: x + 3, 1),
    "subtract from a number": (lambda x: 2 - x, 1),
    "multiply by a number": (lambda x: x * 2.5, 1),
    "compare with a number": (lambda x: x < 1.5, 1),
    "and an int": (lambda x: x & 6, 1),
    "divide by a number": (lambda x: x / 3, 1),
    "divide a number": (lambda x: 3 / x, 1),
    "floor of a quotient by a number": (lambda x: x // 3, 1),
    "remainder by a number": (lambda x: x % 3, 1),
}


def answer(call: Call, tensors: list[Tensor]) -> Tensor | str:
    """What an operator gives: a tensor on the CPU, or what it refuses."""
    try:
        return call(*tensors).cpu()
    except RuntimeError as error:
        return str(error)


LABEL = re.compile(r'^"\w+"')  # what a kernel calls itself when it has not the dtype: "lerp_cuda"


def agree(actual: Tensor | str, expected: Tensor | str, note: str) -> None:
    """The same error, or the same dtype and the same values up to rounding."""
    if isinstance(actual, str) or isinstance(expected, str):
        assert LABEL.sub("", str(actual)) == LABEL.sub("", str(expected)), note
        return
    assert actual.dtype is expected.dtype, note
    assert actual.shape == expected.shape, note
    name = expected.dtype.name
    if name in TOLERANCE:
        found, wanted = (t.array().astype(np.float64) for t in (actual, expected))
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE[name], atol=TOLERANCE[name], err_msg=note)
    else:
        np.testing.assert_array_equal(actual.array(), expected.array(), err_msg=note)


def scattered(x: Tensor) -> Tensor:
    """A view of every second element, with its first and last dimensions swapped."""
    return x.select(-1, 0).transpose(0, -1)


def spread(array: Any) -> Any:
    """An array of which `scattered` shows the elements."""
    return np.stack([array, np.zeros_like(array)], -1)


ONLY_CUDA = {("abs", "bool")}  # PyTorch's CPU kernel refuses it


@pytest.mark.parametrize("name", CASES)
def test_gives_what_the_cpu_gives(name: str, cuda: Devices) -> None:
    call, count = CASES[name]
    for dtype in DTYPES:
        if (name, dtype) in ONLY_CUDA:
            continue
        not_zero = name in NOT_BY_ZERO and dtype not in FLOATS
        arrays = [
            values(dtype, SHAPE, seed, name in POSITIVE or (not_zero and seed == count - 1)) for seed in range(count)
        ]
        here = [tensor(array) for array in arrays]
        there = [x.to(cuda.device) for x in here]
        expected, actual = answer(call, here), answer(call, there)
        agree(actual, expected, f"{dtype}, row-major")
        here = [tensor(spread(array)) for array in arrays]
        there = [scattered(x.to(cuda.device)) for x in here]
        expected, actual = answer(call, [scattered(x) for x in here]), answer(call, there)
        agree(actual, expected, f"{dtype}, scattered")
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            assert actual.stride() == expected.stride()


def test_abs_of_bool_is_defined_on_cuda(cuda: Devices) -> None:
    assert glasstorch.tensor([True, False], device=cuda.device).abs().tolist() == [True, False]


def test_a_dtype_that_a_kernel_has_not_is_refused_in_the_kernels_name(cuda: Devices) -> None:
    flags = glasstorch.tensor([True, False], device=cuda.device)
    with pytest.raises(RuntimeError, match="\"threshold_cuda\" not implemented for 'Bool'"):
        functions.threshold_backward(flags, flags, 0)
    with pytest.raises(RuntimeError, match="\"lerp_cuda\" not implemented for 'Long'"):
        glasstorch.lerp(flags.to(glasstorch.int64), flags.to(glasstorch.int64), 0.5)
    with pytest.raises(RuntimeError, match="\"bitwise_not_cuda\" not implemented for 'Float'"):
        flags.to(glasstorch.float32).bitwise_not()


def test_every_pointwise_operator_of_the_cpu_is_there_or_on_the_list_of_those_that_wait() -> None:
    def places(operator: Any, key: DispatchKey) -> list[str]:
        return [kernel.where for kernel in operator.kernels.get(key, ())]

    of_cpu = [
        operator
        for operator in registry.operators.values()
        if any("kernels/cpu/pointwise" in where for where in places(operator, DispatchKey.CPU))
    ]
    assert len(of_cpu) > 100
    functional = {f"aten::{f.name}": f.functional or f.name for f in load_functions()}
    missing = [operator.name for operator in of_cpu if not places(operator, DispatchKey.CUDA)]
    assert [name for name in missing if functional[name] not in WITHOUT_CUDA] == []


# Operands of several kinds --------------------------------------------------------------------------------------


def pairs() -> Iterator[tuple[str, str]]:
    """Every dtype with its successor, and with a dtype of another category."""
    for i, name in enumerate(DTYPES):
        yield name, DTYPES[(i + 1) % len(DTYPES)]
        yield DTYPES[(i + 3) % len(DTYPES)], name


def test_operands_of_different_dtypes_meet_in_the_common_one(cuda: Devices) -> None:
    for left, right in pairs():
        x, y = tensor(values(left, (7, 9), 1, True)), tensor(values(right, (7, 9), 2, True))
        for call in (glasstorch.add, glasstorch.mul, glasstorch.eq, glasstorch.maximum):
            agree(call(x.to(cuda.device), y.to(cuda.device)).cpu(), call(x, y), f"{left} with {right}")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((5, 1, 7), (3, 1)),
        ((7,), (4, 7)),
        ((4, 7), ()),
        ((0, 3), (3,)),
        ((1,), (1,)),
        ((), ()),
        ((2, 3, 1, 2), (3, 5, 1)),
    ],
)
def test_sizes_are_broadcast(left: tuple[int, ...], right: tuple[int, ...], cuda: Devices) -> None:
    x, y = tensor(values("float32", left, 1, True)), tensor(values("float32", right, 2, True))
    agree((x.to(cuda.device) * y.to(cuda.device)).cpu(), x * y, "")
    agree((y.to(cuda.device) * x.to(cuda.device)).cpu(), y * x, "")
    mask = tensor(values("bool", right, 3))
    expected = glasstorch.where(mask, x, y)
    agree(glasstorch.where(mask.to(cuda.device), x.to(cuda.device), y.to(cuda.device)).cpu(), expected, "")


def test_expanded_and_permuted_inputs_are_read_where_they_lie(cuda: Devices) -> None:
    x = tensor(values("float32", (2, 3, 4, 5), 1, True))
    y = tensor(values("float32", (3, 1, 5), 2, True)).expand(2, 3, 4, 5)
    for call in (lambda t: t.permute(3, 1, 0, 2), lambda t: t[:, 1:, ::2], lambda t: t.transpose(1, 3)):
        agree((call(x.to(cuda.device)) + call(y.to(cuda.device))).cpu(), call(x) + call(y), "")


def test_tensors_that_begin_between_two_fours_are_read_one_by_one(cuda: Devices) -> None:
    x = tensor(values("float32", (101,), 1, True))
    for start in (1, 2, 4):
        agree((x.to(cuda.device)[start:] + 1).cpu(), x[start:] + 1, f"from {start}")


def test_fours_are_read_where_no_operand_has_gaps_and_all_begin_at_fours(cuda: Devices) -> None:
    x = glasstorch.empty(4, 6, dtype=glasstorch.float32, device=cuda.device)
    half = glasstorch.empty(4, 6, dtype=glasstorch.float16, device=cuda.device)
    number = glasstorch.tensor(1.0)

    def by_fours(*tensors: Tensor) -> bool:
        shape = tensors[0]._shape
        return lie_side_by_side(shape, tuple(broadcast_strides(t, shape) for t in tensors), tensors)

    assert by_fours(x, half, number)
    assert by_fours(x.t(), half.t())  # in one order, whichever it is
    assert by_fours(x[2:], half[2:])
    assert by_fours(x[0, 0], number)
    assert not by_fours(x[:, 2:], half[:, 2:])
    assert not by_fours(x.view(-1)[1:])
    assert not by_fours(half.view(-1)[2:])
    assert not by_fours(x.t(), half.view(6, 4))
    assert not by_fours(x, half[0])


def test_a_number_keeps_its_precision_where_the_operator_computes_with_more(cuda: Devices) -> None:
    x = glasstorch.ones(3, dtype=glasstorch.float16, device=cuda.device) * 2048
    assert (x * 1.0004).tolist() == [2048.0] * 3  # 1.0004 is 1 in float16; 2048 * 1.0004 rounds to 2048 too
    assert (x + 1.0004).tolist() == [2050.0] * 3  # 2049.0004 is nearer to 2050; 2048 + 1 would round to 2048
    assert (x.cpu() + 1.0004).tolist() == [2048.0] * 3  # the CPU kernels round the number first
    assert (x >= 2048.4).tolist() == [True] * 3  # a comparison rounds the number: to 2048
    one = glasstorch.ones(1, dtype=glasstorch.float16, device=cuda.device)
    assert functions.threshold_backward(one, one, 0.9999).tolist() == [0.0]  # as it does a threshold: to 1
    assert glasstorch.add(one, one / 1024, alpha=1e5).tolist() == [98.625]  # a factor that float16 cannot hold


def test_a_number_of_one_dtype_is_cut_to_the_other(cuda: Devices) -> None:
    x = glasstorch.tensor([1, 2, 255], dtype=glasstorch.uint8, device=cuda.device)
    assert (x + 300).tolist() == [45, 46, 43]
    assert (x // -1).tolist() == [0, 0, 1]
    assert (x < -1).tolist() == [True, True, False]
    assert (x * 2.5).dtype is glasstorch.float32
    double = glasstorch.tensor([1.0], dtype=glasstorch.float64, device=cuda.device)
    assert (double * 0.1).tolist() == [0.1]


def test_a_0_dim_tensor_of_the_device_is_cut_to_the_common_dtype(cuda: Devices) -> None:
    small = glasstorch.tensor([1, 2, 255], dtype=glasstorch.uint8, device=cuda.device)
    assert (small * glasstorch.tensor(300, device=cuda.device)).tolist() == [44, 88, 212]
    assert (small < glasstorch.tensor(300, device=cuda.device)).tolist() == [True, True, False]
    half = glasstorch.ones(3, dtype=glasstorch.float16, device=cuda.device) * 2048
    number = glasstorch.tensor(1.0004, device=cuda.device)
    assert (half + number).tolist() == [2048.0] * 3  # unlike a number, it is rounded as an element is


def test_a_0_dim_cpu_tensor_is_a_number(cuda: Devices) -> None:
    x = glasstorch.tensor([1.0, 2.0], device=cuda.device)
    three = glasstorch.tensor(3.0)
    assert (x + three).tolist() == [4.0, 5.0]
    assert (three - x).tolist() == [2.0, 1.0]
    assert (three - x).device is cuda.device
    assert (x**three).tolist() == [1.0, 8.0]
    assert (three**x).tolist() == [3.0, 9.0]
    assert glasstorch.where(x > 1, three, glasstorch.tensor(0.0)).tolist() == [0.0, 3.0]
    assert glasstorch.addcmul(x, x, three).tolist() == [4.0, 8.0]
    assert (x + glasstorch.tensor(1.5, dtype=glasstorch.float64)).dtype is glasstorch.float32


def test_a_number_divides_by_way_of_its_inverse(cuda: Devices) -> None:
    numbers = [5.0, 7.0, 11.0, 41.0, 0.0, -INF]
    x = glasstorch.tensor(numbers, device=cuda.device)
    inverse = np.float32(1) / np.float32(41)
    assert (x / 41).tolist() == (np.array(numbers, np.float32) * inverse).tolist()
    assert (x / 41).tolist()[3] < 1
    assert glasstorch.div(x, 41, rounding_mode="trunc").tolist()[3] == 0.0
    assert (x // 41).tolist()[3] == 1.0
    assert str((x / 0).tolist()) == "[inf, inf, inf, inf, nan, -inf]"
    assert str((x // 0).tolist()) == "[inf, inf, inf, inf, nan, -inf]"


# In place, and out= ---------------------------------------------------------------------------------------------

INPLACE: dict[str, Call] = {
    "add_": lambda x, y: x.add_(y, alpha=2),
    "mul_ itself": lambda x, y: x.mul_(x),
    "div_ a number": lambda x, y: x.div_(4),
    "sigmoid_": lambda x, y: x.sigmoid_(),
    "relu_": lambda x, y: x.relu_(),
    "clamp_": lambda x, y: x.clamp_(1, 2),
    "pow_": lambda x, y: x.pow_(2),
    "lerp_": lambda x, y: x.lerp_(y, 0.5),
    "addcdiv_": lambda x, y: x.addcdiv_(y, y),
    "masked_fill_": lambda x, y: x.masked_fill_(y > 2, 7),
    "add_ a row": lambda x, y: x.add_(y[0]),
}


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_forms_write_where_the_tensor_lies(name: str, cuda: Devices) -> None:
    call = INPLACE[name]
    arrays = [values("float32", (4, 9, 2), seed, True) for seed in (1, 2)]
    x, y = (tensor(array) for array in arrays)
    whole = x.to(cuda.device)
    call(whole, y.to(cuda.device))
    there = x.to(cuda.device)
    part, other = scattered(there), scattered(y.to(cuda.device))
    assert call(part, other) is part
    assert there._version == 1
    call(scattered(x), scattered(y))
    agree(there.cpu(), x, "what lies between must stay")
    x, y = (tensor(array) for array in arrays)
    call(x, y)
    agree(whole.cpu(), x, "row-major")


def test_out_forms_cast_what_they_write(cuda: Devices) -> None:
    x = tensor(values("int32", (5, 7), 1))
    for name in ("int64", "float16", "bfloat16", "float32", "float64"):
        out = glasstorch.empty(7, 5, dtype=BY_NAME[name], device=cuda.device).t()
        assert glasstorch.add(x.to(cuda.device), 1, out=out) is out
        agree(out.cpu(), (x + 1).to(BY_NAME[name]), name)
        glasstorch.lt(x.to(cuda.device), 2, out=out)
        agree(out.cpu(), (x < 2).to(BY_NAME[name]), name)
    small = glasstorch.tensor([1, 200], dtype=glasstorch.uint8, device=cuda.device)
    wide = glasstorch.empty(2, dtype=glasstorch.int64, device=cuda.device)
    small = glasstorch.tensor([1, 200], dtype=glasstorch.uint8, device=cuda.device)
    assert glasstorch.add(small, 100, out=wide).tolist() == [101, 44]  # cut to uint8 before it is cast
    flags = glasstorch.tensor([True, False], device=cuda.device)
    assert glasstorch.add(flags, flags, out=wide).tolist() == [1, 0]
    half = glasstorch.tensor([1.0, 3.0], dtype=glasstorch.float16, device=cuda.device)
    wide = glasstorch.empty(2, device=cuda.device)
    glasstorch.div(half, half + 2, out=wide)
    assert wide.tolist() == glasstorch.div(half, half + 2).tolist()  # rounded to float16 before it is cast
    with pytest.raises(DtypeError, match="result type Float can't be cast to the desired output type Long"):
        glasstorch.exp(x.to(cuda.device), out=glasstorch.empty(5, 7, dtype=glasstorch.int64, device=cuda.device))


def test_squared_differences_and_their_gradient(cuda: Devices) -> None:
    x, y, grad = (tensor(values("float32", (5, 7), seed, True)).to(cuda.device) for seed in (1, 2, 3))
    out = glasstorch.empty(5, 7, device=cuda.device)
    assert squared_difference(x, y[0], out) is out
    np.testing.assert_allclose(out.cpu().array(), (x.cpu().array() - y.cpu().array()[0]) ** 2, rtol=1e-6)
    assert mse_gradient(x, y, grad, 0.25, out) is out
    expected = (x.cpu().array() - y.cpu().array()) * grad.cpu().array() * 0.25
    np.testing.assert_allclose(out.cpu().array(), expected, rtol=1e-6)


def test_threads_go_on_where_there_are_more_elements_than_a_grid_has_threads(
    cuda: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointwise, "MOST_BLOCKS", 2)
    x = tensor(values("float32", (1030,), 1, True))
    for count in (1029, 1030):
        agree((x.to(cuda.device)[:count] + 1).cpu(), x[:count] + 1, f"{count} by fours")
        agree((x.to(cuda.device)[-count:] * x.to(cuda.device)[:1]).cpu(), x[-count:] * x[:1], f"{count} one by one")


# Values of note -------------------------------------------------------------------------------------------------


def test_nan_goes_through(cuda: Devices) -> None:
    x, y = (glasstorch.tensor(v, device=cuda.device) for v in ([NAN, 1.0, INF], [0.0, NAN, 2.0]))
    assert str(glasstorch.maximum(x, y).tolist()) == "[nan, nan, inf]"
    assert str(glasstorch.minimum(x, y).tolist()) == "[nan, nan, 2.0]"
    assert str(x.relu().tolist()) == "[nan, 1.0, inf]"
    assert str(x.clamp(0, 1).tolist()) == "[nan, 1.0, 1.0]"
    assert str(x.clamp(3, 2).tolist()) == "[nan, 2.0, 2.0]"
    assert str(x.clamp(NAN, 2).tolist()) == "[nan, nan, nan]"
    assert str(x.clamp(NAN).tolist()) == "[nan, 1.0, inf]"  # a single bound that is NaN binds nothing
    assert str(x.sgn().tolist()) == "[0.0, 1.0, 1.0]"


def test_integers_wrap_around(cuda: Devices) -> None:
    for dtype in (glasstorch.int32, glasstorch.int64):
        least = -(2 ** (dtype.itemsize * 8 - 1))
        x = glasstorch.tensor([least, least + 1], dtype=dtype, device=cuda.device)
        assert (-x).tolist() == [least, -least - 1]
        assert x.abs().tolist() == [least, -least - 1]
        assert (x - 1).tolist() == [-least - 1, least]
        assert (x * 2).tolist() == [0, 2]
        assert (x // -1).tolist() == [least, -least - 1]
        assert (x % -1).tolist() == [0, 0]
        assert glasstorch.div(x, -1, rounding_mode="trunc").tolist() == [least, -least - 1]
        assert (x**3).tolist() == [0, least + 1]


def test_floor_division_and_remainder_have_the_divisors_sign(cuda: Devices) -> None:
    for dtype in (glasstorch.int64, glasstorch.float32):
        x = glasstorch.tensor([7, 7, -7, -7], dtype=dtype, device=cuda.device)
        y = glasstorch.tensor([2, -2, 2, -2], dtype=dtype, device=cuda.device)
        assert (x // y).tolist() == [3, -4, -4, 3]
        assert (x % y).tolist() == [1, -1, 1, -1]
        assert glasstorch.div(x, y, rounding_mode="trunc").tolist() == [3, -3, -3, 3]


def test_a_quotient_that_rounds_to_0_keeps_its_sign(cuda: Devices) -> None:
    x = glasstorch.tensor([-0.0, 0.0, 1.0], device=cuda.device)
    two = glasstorch.tensor([2.0], device=cuda.device)
    assert str((x // 2).tolist()) == str((x // two).tolist()) == "[-0.0, 0.0, 0.0]"
    assert str((x // -2).tolist()) == "[0.0, -0.0, -1.0]"


def test_negative_powers_of_integers_are_0_unless_their_inverse_is_an_integer(cuda: Devices) -> None:
    x = glasstorch.tensor([2, 1, -1, -1, 0], device=cuda.device)
    y = glasstorch.tensor([-1, -5, -3, -2, -1], device=cuda.device)
    assert (x**y).tolist() == [0, 1, -1, 1, 0]
    with pytest.raises(DtypeError, match="Integers to negative integer powers are not allowed"):
        x ** glasstorch.tensor(-2)


def test_a_remainder_or_a_truncated_quotient_by_0_is_no_error(cuda: Devices) -> None:
    x = glasstorch.tensor([5, -5], device=cuda.device)
    zero = glasstorch.zeros(2, dtype=glasstorch.int64, device=cuda.device)
    assert glasstorch.div(x, zero, rounding_mode="trunc").tolist() == [-1, -1]
    assert (x % zero).tolist() == [0, 0]
    assert (x.to(glasstorch.uint8) // 0).tolist() == [255, 255]


def test_floor_division_of_integers_by_0_is_an_assertion_of_the_device() -> None:
    runtime.use_driver(made("forward"))
    try:
        quotient = glasstorch.tensor([1, 2, 3], device="cuda") // 0
        with pytest.raises(AcceleratorError, match="device-side assert triggered") as caught:
            quotient.cpu()
        assert caught.value.code == 710
        assert "ZeroDivisionError" in str(caught.value)
    finally:
        runtime.use_driver(None)


# Devices --------------------------------------------------------------------------------------------------------


def test_tensors_on_different_devices_are_refused(cuda: Devices) -> None:
    x, y = glasstorch.ones(3, device=cuda.device), glasstorch.ones(3)
    message = r"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    for call in (
        lambda: x + y,
        lambda: y + x,
        lambda: glasstorch.where(x > 0, x, y),
        lambda: glasstorch.add(x, x, out=y),
        lambda: y.add_(x),
        lambda: glasstorch.tensor(1.0).mul_(x.sum()),
        lambda: glasstorch.lerp(x, glasstorch.tensor(1.0), 0.5),
        lambda: x.masked_fill(glasstorch.tensor(True), 1),
    ):
        with pytest.raises(DeviceError, match="same device"):
            call()
    with pytest.raises(DeviceError, match=message):
        glasstorch.add(x, x, out=y)


def test_two_cuda_devices_are_different_devices(cuda: Devices) -> None:
    if cuda.driver.device_count() < 2:
        return
    x, y = glasstorch.ones(3, device="cuda:0"), glasstorch.ones((), device="cuda:1")
    with pytest.raises(DeviceError, match="at least two devices, cuda:0 and cuda:1!"):
        x + y
    second = glasstorch.ones(3, device="cuda:1")
    assert (second + second).device == glasstorch.device("cuda:1")
    assert (second * 2 + second).tolist() == [3.0, 3.0, 3.0]
