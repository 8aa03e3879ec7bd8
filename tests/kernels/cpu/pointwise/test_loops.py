"""Do pointwise kernels compute PyTorch's values?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

INF, NAN = math.inf, math.nan
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")

# Values, on both libraries --------------------------------------------------------------------------------------


def listed(x: Any) -> str:
    """Values as text: NaN equals NaN, -0.0 differs from 0.0."""
    return str(x.tolist())


def test_maximum_minimum_and_clamp_keep_nan(torch: Any) -> None:
    x, y = torch.tensor([NAN, 1.0, INF]), torch.tensor([0.0, NAN, 2.0])
    assert listed(torch.maximum(x, y)) == "[nan, nan, inf]"
    assert listed(torch.minimum(x, y)) == "[nan, nan, 2.0]"
    assert listed(x.clamp(0, 1)) == "[nan, 1.0, 1.0]"
    assert listed(x.clamp(NAN)) == "[nan, nan, nan]"
    assert listed(x.clamp(3, 2)) == "[nan, 2.0, 2.0]"
    assert listed(x.relu()) == "[nan, 1.0, inf]"


def test_integers_wrap_around(torch: Any) -> None:
    assert (torch.tensor([2**63 - 1]) + 1).tolist() == [-(2**63)]
    byte = torch.tensor([5, 200], dtype=torch.uint8)
    assert (byte + 100).tolist() == [105, 44]
    assert (byte + 300).tolist() == [49, 244]
    assert (-byte).tolist() == [251, 56]
    assert (byte * byte).tolist() == [25, 64]
    assert (byte == 261).tolist() == [True, False]


def test_division_of_integers(torch: Any) -> None:
    x, y = torch.tensor([7, -7, 7, -7]), torch.tensor([2, 2, -2, -2])
    assert (x / y).tolist() == [3.5, -3.5, -3.5, 3.5]
    assert (x / y).dtype == torch.float32
    assert (x // y).tolist() == [3, -4, -4, 3]
    assert (x % y).tolist() == [1, 1, -1, -1]
    assert torch.div(x, y, rounding_mode="trunc").tolist() == [3, -3, -3, 3]
    assert torch.div(x, y, rounding_mode="floor").tolist() == [3, -4, -4, 3]
    for divide in (lambda: x // 0, lambda: x % 0, lambda: torch.div(x, 0, rounding_mode="trunc")):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide()
    assert (torch.empty(0, dtype=torch.int64) // 0).tolist() == []


def test_division_of_floats(torch: Any) -> None:
    x, y = torch.tensor([5.5, -5.5, 0.0, 1.0, -4.0]), torch.tensor([2.0, 2.0, 0.0, 0.0, 2.0])
    assert listed(x / y) == "[2.75, -2.75, nan, inf, -2.0]"
    assert listed(x // y) == "[2.0, -3.0, nan, inf, -2.0]"
    assert listed(x % y) == "[1.5, 0.5, nan, nan, -0.0]"
    assert listed(torch.div(x, y, rounding_mode="trunc")) == "[2.0, -2.0, nan, inf, -2.0]"


def test_powers_of_integers(torch: Any) -> None:
    base, exponent = torch.tensor([2, 1, -1, -1, 3, 0]), torch.tensor([-1, -3, -3, -2, 3, 0])
    assert (base**exponent).tolist() == [0, 1, -1, 1, 27, 1]
    assert (2**exponent).tolist() == [0, 0, 0, 0, 8, 1]
    assert (base**3).tolist() == [8, 1, -1, -1, 27, 0]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        base**-1


def test_powers_of_floats(torch: Any) -> None:
    x = torch.tensor([4.0, -4.0, 0.0, NAN])
    assert listed(x**0) == "[1.0, 1.0, 1.0, 1.0]"
    assert listed(x**0.5) == "[2.0, nan, 0.0, nan]"
    assert listed(x**-2) == "[0.0625, 0.0625, inf, nan]"
    assert listed(x**3) == "[64.0, -64.0, 0.0, nan]"
    assert listed(1**x) == "[1.0, 1.0, 1.0, 1.0]"
    assert (x.to(torch.int64)[:2] ** 0.5).dtype == torch.float32


def test_sigmoid_does_not_overflow(torch: Any) -> None:
    x = torch.tensor([-1000.0, -88.0, 0.0, 30.0, 1000.0])
    found = x.sigmoid().tolist()
    assert found[0] == 0.0
    assert found[1] == pytest.approx(6.0546e-39, rel=1e-3)
    assert found[2:] == [0.5, 1.0, 1.0]


def test_the_sign_of_nan_is_0_and_bool_is_its_own_sign(torch: Any) -> None:
    assert torch.sgn(torch.tensor([-2.0, 0.0, 3.0, NAN])).tolist() == [-1.0, 0.0, 1.0, 0.0]
    assert torch.sgn(torch.tensor([True, False])).tolist() == [True, False]


def test_where_takes_values_as_they_are(torch: Any) -> None:
    mask = torch.tensor([True, False] * 2000)
    x = torch.tensor([INF, NAN] * 2000)
    y = torch.tensor([NAN, -0.0] * 2000)
    assert listed(torch.where(mask, x, y)) == str([INF, -0.0] * 2000)
    assert listed(x.masked_fill(~mask, 2)) == str([INF, 2.0] * 2000)
    assert torch.where(mask, 1, 0.5).dtype == torch.float32
    rows, columns = torch.where(torch.tensor([[0, 1], [2, 0]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])


def test_the_gradient_below_a_threshold_is_0_even_if_infinite(torch: Any) -> None:
    x = torch.tensor([-1.0, 0.0, 2.0] * 1000, requires_grad=True)
    x.relu().backward(torch.tensor([INF, NAN, 3.0] * 1000))
    assert x.grad.tolist() == [0.0, 0.0, 3.0] * 1000


def test_lerp_backwards_is_measured_from_the_end(require: Callable[[str], Any]) -> None:
    torch = require("glasstorch")  # PyTorch's own loop multiplies and adds in one rounding, where the processor can
    torch.manual_seed(0)
    start, end = torch.rand(2000), torch.rand(2000)
    assert torch.equal(torch.lerp(start, end, -0.7), end - (end - start) * (1 - -0.7))
    assert torch.equal(torch.lerp(start, end, -0.4), start + (end - start) * -0.4)


def test_lerp_reaches_both_ends_exactly(torch: Any) -> None:
    start, end = torch.tensor([0.1, 1e8]), torch.tensor([0.7, 1.0])
    assert torch.lerp(start, end, 0.0).tolist() == start.tolist()
    assert torch.lerp(start, end, 1.0).tolist() == end.tolist()


def test_numbers_on_the_left(torch: Any) -> None:
    x = torch.tensor([2, 4])
    assert (1 / x).tolist() == [0.5, 0.25]
    assert [(9 // x).tolist(), (9 % x).tolist(), (3**x).tolist()] == [[4, 2], [1, 1], [9, 81]]
    assert [(9 - x).tolist(), (6 & x).tolist(), (1 | x).tolist(), (6 ^ x).tolist()] == [[7, 5], [2, 4], [3, 5], [4, 2]]


def test_operators_with_an_equals_sign_change_the_tensor(torch: Any) -> None:
    x = y = torch.tensor([7, 12])
    x -= 1
    x *= 2
    x //= 5
    x %= 3
    x **= 2
    x |= 4
    x &= 6
    x ^= 1
    assert x is y
    assert y.tolist() == [5, 5]


# Refusals, on both libraries ------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Any, Any, Any], Any], type[Exception], str]] = {
    "bool - bool": (lambda t, b, i: b - b, RuntimeError, "with two bool tensors is not supported"),
    "int - bool": (lambda t, b, i: i - True, RuntimeError, "with a bool tensor is not supported"),
    "-bool": (lambda t, b, i: -b, RuntimeError, "on a bool tensor is not supported"),
    "+bool": (lambda t, b, i: +b, RuntimeError, "on a bool tensor is not supported"),
    "abs(bool)": (lambda t, b, i: abs(b), NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'"),
    "relu(bool)": (lambda t, b, i: b.relu(), RuntimeError, "Boolean inputs not supported for relu"),
    "relu_(bool)": (lambda t, b, i: b.relu_(), RuntimeError, "Boolean inputs not supported for relu"),
    "bool // bool": (lambda t, b, i: b // b, NotImplementedError, "\"div_floor_cpu\" not implemented for 'Bool'"),
    "bool ** bool": (lambda t, b, i: b**b, NotImplementedError, "\"pow\" not implemented for 'Bool'"),
    "float & int": (lambda t, b, i: i & 1.5, NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    "float alpha": (lambda t, b, i: t.add(i, i, alpha=0.5), RuntimeError, "alpha must not be a floating point number"),
    "bool alpha": (lambda t, b, i: t.add(i, i, alpha=True), RuntimeError, "Boolean alpha only supported for Boolean"),
    "rounding mode": (lambda t, b, i: t.div(i, i, rounding_mode="up"), RuntimeError, "rounding_mode to be one of None"),
    "clamp of nothing": (lambda t, b, i: i.clamp(), RuntimeError, "At least one of 'min' or 'max' must not be None"),
    "where of floats": (lambda t, b, i: t.where(i, i, i), RuntimeError, "where expected condition to be a boolean"),
    "fill by ints": (lambda t, b, i: i.masked_fill(i, 1), RuntimeError, "only supports boolean masks"),
    "lerp of two": (
        lambda t, b, i: t.lerp(i, b, 0.5),
        RuntimeError,
        "expected dtype long int for `end` but got",
    ),
    "addcdiv of ints": (lambda t, b, i: t.addcdiv(i, i, i), RuntimeError, "Integer division with addcdiv is no longer"),
    "out= of neg": (lambda t, b, i: t.neg(i, out=t.ones(2)), RuntimeError, "Found dtype Float but expected Long"),
    "out= of where": (
        lambda t, b, i: t.where(b, i, i, out=t.ones(2)),
        RuntimeError,
        "Expected out type to be Long",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(torch: Any, name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call(torch, torch.tensor([True, False]), torch.tensor([5, -7]))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_calculus_agree_with_numpy(name: str, dtype: str) -> None:
    oracle: dict[str, Callable[[Any], Any]] = {
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    }
    x = glasstorch.tensor([0.25, 0.5, 1.0, 2.0, 3.0, 11.0]).to(getattr(glasstorch, dtype))
    found = getattr(glasstorch, name)(x)
    assert found.dtype is (x.dtype if x.dtype.is_floating_point else glasstorch.float32)
    with np.errstate(divide="ignore"):
        wanted = oracle.get(name, getattr(np, name, None))(x.double().numpy())  # type: ignore[misc]
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float64": 1e-14}.get(dtype, 1e-6)
    np.testing.assert_allclose(found.double().numpy(), wanted, rtol=tolerance)


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (lambda t: (t.tensor([1], dtype=t.uint8), 300), "value cannot be converted to type uint8_t without overflow"),
        (lambda t: (300, t.tensor(1, dtype=t.uint8)), "value cannot be converted to type uint8_t without overflow"),
        (lambda t: (t.tensor([1], dtype=t.int32), 2**40), "value cannot be converted to type int without overflow"),
        (lambda t: (1e300, 2**40), "value cannot be converted to type float without overflow"),
    ],
)
def test_where_refuses_a_number_that_does_not_fit(torch: Any, sides: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.where(torch.tensor([False]), *sides(torch))


def test_where_takes_a_number_that_fits(torch: Any) -> None:
    condition, byte = torch.tensor([False]), torch.tensor([1], dtype=torch.uint8)
    assert torch.where(condition, byte, -1).tolist() == [255]
    assert torch.where(condition, byte, 1.5).dtype == torch.float32
    assert torch.where(condition, torch.tensor([1.0], dtype=torch.float16), 1e6).tolist() == [float("inf")]
    assert torch.where(condition, 1, 2**40).tolist() == [2**40]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("step", [2, 4, 8, 16])
def test_negating_with_gaps_reads_the_right_elements(dtype: str, step: int) -> None:
    x = glasstorch.arange(5 * step, dtype=getattr(glasstorch, dtype))
    expected = [-n if n % step == 0 else n for n in range(5 * step)]
    x[::step].neg_()
    assert x.tolist() == expected
    out = glasstorch.zeros(5, 11, dtype=x.dtype)[:, 0]
    assert glasstorch.neg(x[::step], out=out).tolist() == [abs(n) for n in expected[::step]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_steps_through_memory_change_no_result(dtype: str) -> None:
    x = (glasstorch.arange(72) - 20).to(getattr(glasstorch, dtype))
    for step in range(1, 10):
        for name in ("neg", "abs", "sigmoid"):
            if name == "sigmoid" and not x.is_floating_point():
                continue
            wanted = getattr(x[::step].contiguous(), name)().tolist()
            assert getattr(x.clone()[::step], name + "_")().tolist() == wanted
            out = x.clone()[::3][: len(wanted)]
            if len(out) == len(wanted):
                assert getattr(glasstorch, name)(x[::step], out=out).tolist() == wanted


@pytest.mark.parametrize("name", ["uint16", "uint64", "float8_e4m3fn"])
def test_relu_of_what_is_only_stored_is_refused_in_place_too(torch: Any, name: str) -> None:
    for size in (0, 3):
        x = torch.zeros(size, dtype=getattr(torch, name))
        for call in (x.relu, x.relu_):
            with pytest.raises(NotImplementedError, match='"clamp_min_scalar_cpu" not implemented for'):
                call()


@pytest.mark.parametrize("name", ["float32", "bfloat16", "complex64"])
def test_the_operator_of_bits_is_refused_in_words_of_its_own(torch: Any, name: str) -> None:
    x = torch.ones(2, dtype=getattr(torch, name))
    with pytest.raises(TypeError, match=r"^~ \(operator.invert\) is only implemented on integer and Boolean-type"):
        ~x  # noqa: B018
    with pytest.raises(NotImplementedError, match='"bitwise_not_cpu" not implemented for'):
        x.bitwise_not()
    assert [(~torch.tensor([value])).tolist() for value in (True, 1)] == [[False], [-2]]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
def test_alpha_is_rounded_to_a_half_precision(name: str, dtype: str, require: Callable[[str], Any]) -> None:
    """PyTorch rounds what is left beyond whole vectors more often; 128 elements leave nothing."""
    found = []
    for t in (glasstorch, require("torch")):
        t.manual_seed(0)
        x, y = t.rand(128).to(getattr(t, dtype)), t.rand(128).to(getattr(t, dtype))
        found.append(getattr(t, name)(x, y, alpha=0.1).tolist())
    assert found[0] == found[1]
