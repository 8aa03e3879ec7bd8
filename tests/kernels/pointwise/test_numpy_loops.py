"""Is an expression written as a loop of few steps, which may write over its inputs and computes what it says?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.kernels.cpu.pointwise import steps
from glasstorch.kernels.pointwise.expression import parse
from glasstorch.kernels.pointwise.formulas import FLOAT_EXPONENTS, FORMULAS
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop, source_of, unscaled_ufunc
from glasstorch.kernels.pointwise.vocabulary import spelled


def lines(expression: str) -> list[str]:
    """The lines of the function, without its head."""
    return [line[4:] for line in source_of(spelled(parse(expression), "numpy")).splitlines()[1:]]


def test_an_expression_of_one_word_is_that_function() -> None:
    assert numpy_loop("a * b") is np.multiply
    assert numpy_loop("floor_divide(a, b)") is steps.floor_divide
    assert unscaled_ufunc("a - p * b") is np.subtract
    assert unscaled_ufunc("a + p * b * c") is None
    assert numpy_loop("minimum(a, p)") is np.minimum
    assert numpy_loop("b * a") is not np.multiply  # the order of NaN


def test_steps_write_to_the_output_when_no_input_is_read_any_more() -> None:
    assert lines("1 / (1 + exp(-a))") == [
        "k1 = K1[out.dtype.char]", "neg(out, a)", "exp(out, out=out)", "add(k1, out, out=out)", "div(k1, out, out=out)",
    ]  # fmt: skip
    assert lines("reciprocal(a * a)") == ["mul(a, a, out=out)", "reciprocal(out, out=out)"]
    assert lines("a * a * a") == ["t1 = mul(a, a)", "mul(t1, a, out=out)"]


def test_the_output_is_not_written_to_while_it_holds_something() -> None:
    assert lines("exp(a) + sin(a)") == ["t1 = exp(a)", "sin(a, out=out)", "add(t1, out, out=out)"]


def test_a_mask_is_an_array_of_its_own() -> None:
    assert lines("where(b <= p, 0, a)") == ["k0 = K0[out.dtype.char]", "t1 = le(b, p)", "where.run(out, t1, k0, a)"]


def test_an_intermediate_array_is_written_to_again_if_it_has_the_size_of_the_result() -> None:
    assert lines("a + p * (b - a)") == ["t1 = sub(b, a)", "mul(p, t1, out=t1)", "add(a, t1, out=out)"]
    assert lines("a * (1 - b * b)") == [
        "k1 = K1[out.dtype.char]", "t1 = mul(b, b)", "t2 = sub(k1, t1)", "mul(a, t2, out=out)",
    ]  # fmt: skip


def test_numbers_decide_once() -> None:
    assert lines("a if p < 0.5 else -a") == [
        "if lt(p, 0.5):", "    copyto(out, a, casting='unsafe')", "else:", "    neg(out, a)",
    ]  # fmt: skip


# Each formula as NumPy's users would write it
REFERENCE: dict[str, Callable[..., Any]] = {
    "relu": lambda a: np.maximum(a, a.dtype.type(0)),
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "add.Tensor": lambda a, b, p: a + p * b,
    "sub.Tensor": lambda a, b, p: a - p * b,
    "tanh_backward": lambda a, b: a * (1 - b * b),
    "sigmoid_backward": lambda a, b: a * ((1 - b) * b),
    "masked_fill.Scalar": lambda a, b, p: np.where(b, p, a),
    "threshold_backward": lambda a, b, p: np.where(b <= p, a.dtype.type(0), a),
    "where.self": np.where,
    "addcmul": lambda a, b, c, p: a + p * b * c,
    "addcdiv": lambda a, b, c, p: a + p * b / c,
    "lerp.Scalar": lambda a, b, p: a + p * (b - a) if abs(p) < 0.5 else b - (b - a) * (1 - p),
    "clamp": lambda a, p, q: np.clip(a, p, q),
    "clamp.Tensor": lambda a, b, c: np.minimum(np.maximum(a, b), c),
}
COMPOSED = {name for name, row in FORMULAS.items() if numpy_loop(row.numpy or row.expression).__name__ == "loop"}


def test_every_loop_of_several_steps_has_a_reference() -> None:
    assert COMPOSED - REFERENCE.keys() == {"floor_divide", "remainder.Tensor"}  # whose functions are decorated


def numbers(dtype: str, seed: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    values = random.normal(scale=3, size=shape)
    if dtype[0] == "c":
        return (values + 1j * random.normal(size=shape)).astype(dtype)
    special = random.random(shape) < 0.2
    return np.where(special, random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e38], shape), values).astype(dtype)


def of_complex(name: str) -> bool:
    row = FORMULAS[name]
    return row.on_complex is None and any(dtype.is_complex for dtype in row.accepts)


CASES = [(name, dtype) for name in REFERENCE for dtype in ("float32", "float64", *["complex64"] * of_complex(name))]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_a_loop_gives_the_bits_of_its_reference(name: str, dtype: str) -> None:
    row = FORMULAS[name]
    loop = numpy_loop(row.numpy or row.expression)
    for shape in [(7,), (3, 40)]:
        inputs = [numbers(dtype, seed, shape) for seed in range(row.tensors)]
        for mask in {"where.self": [0], "masked_fill.Scalar": [1]}.get(name, []):
            inputs[mask] = inputs[mask].real > 0
        for p in (0.3, -1.7, 1.0):
            given = [np.array(value, dtype) for value in (p, p + 1)[: row.numbers]]
            with np.errstate(all="ignore"):
                wanted = REFERENCE[name](*inputs, *given)
                out = np.empty(shape, dtype)
                loop(out, *inputs, *given)
                assert same(out, wanted)
                for i, one in enumerate(inputs):
                    if one.dtype == out.dtype:
                        written = [array.copy() for array in inputs]
                        loop(written[i], *written, *given)
                        assert same(written[i], wanted), f"into input {i}"
                narrow = [array[..., :1] if i else array for i, array in enumerate(inputs)]
                loop(out, *narrow, *given)
                assert same(out, REFERENCE[name](*narrow, *given))


def same(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> bool:
    """Equal bits; one NaN is as good as another."""
    assert found.dtype == wanted.dtype
    parts = [np.ascontiguousarray(one).view(one.real.dtype) for one in (found, wanted)]
    return all(np.where(np.isnan(parts[0]), 0, parts[0]).tobytes() == np.where(np.isnan(one), 0, one).tobytes()
               and np.array_equal(np.isnan(parts[0]), np.isnan(one)) for one in parts[1:])  # fmt: skip


@pytest.mark.parametrize("exponent", FLOAT_EXPONENTS)
def test_powers_need_no_logarithm(exponent: float) -> None:
    x = np.array([0.5, 2.0, -3.0, 1.0])
    out = np.empty_like(x)
    loop = numpy_loop(FLOAT_EXPONENTS[exponent])
    with np.errstate(invalid="ignore"):
        loop(x, out=out) if isinstance(loop, np.ufunc) else loop(out, x)
        np.testing.assert_allclose(out, x**exponent, rtol=1e-15)
