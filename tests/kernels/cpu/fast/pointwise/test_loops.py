"""Is the short path of a pointwise operator equal to the long one, and does a long loop run block by block?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import Tensor, from_array, wrap
from glasstorch.core.dtype import FROM_NUMPY
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.kernels.cpu.fast.pointwise.ternary import choose
from glasstorch.kernels.cpu.fast.thresholds import BLOCK, CHOICE_OF_BITS_FROM
from glasstorch.kernels.cpu.pointwise import loops
from glasstorch.kernels.iterator import in_blocks
from glasstorch.kernels.pointwise.formulas import FORMULAS
from glasstorch.operators.generated import functions

F64 = np.dtype(np.float64)
SIZES = (1, 7, CHOICE_OF_BITS_FROM + 3, BLOCK + 5)


# The short path against its plain twin --------------------------------------------------------------------------


def values(name: str, size: int, seed: int) -> Any:
    """Random values of a NumPy dtype, positive so that every operator is defined on them."""
    random = np.random.default_rng(seed)
    if name == "bool":
        return random.random(size) < 0.5
    return (random.random(size) * 5 + 1).astype(name)


def plain(array: Any) -> Tensor:
    """A row-major tensor: kernels may take the short path."""
    return from_array(array.copy(), FROM_NUMPY[array.dtype])


def gappy(array: Any) -> Tensor:
    """The same values with a gap after each: kernels must take the long path."""
    spread = np.zeros((*array.shape, 2), array.dtype)
    spread[..., 0] = array
    tensor = plain(spread).select(-1, 0)
    assert tensor._strides is not None
    return tensor


def cases() -> list[tuple[str, Callable[..., Tensor], int]]:
    """Every operator with a short path: its name, a call, and how many tensors it takes."""
    named = [name for rows in (loops.UNARY, loops.BINARY) for name in rows if name in FORMULAS]
    found: list[tuple[str, Callable[..., Tensor], int]] = [
        (name, getattr(functions, name.partition(".")[0]), FORMULAS[name].tensors) for name in named
    ]
    for name in ("addcmul", "addcdiv", "lerp.Scalar"):
        count = FORMULAS[name].tensors
        call = getattr(functions, name.partition(".")[0])
        numbered = {"lerp.Scalar": lambda *x, f=call: f(*x, 0.3)}
        found.append((name, numbered.get(name, lambda *x, f=call: f(*x, value=2)), count))
    found += [
        ("add with a number", lambda x: x + 2.5, 1),
        ("add with an int", lambda x: x + 3, 1),
        ("a number less", lambda x: 7 - x, 1),
        ("an overflowing number less", lambda x: 1e300 - x, 1),
        ("a number divided down", lambda x: 7 // x, 1),
        ("the remainder of a number", lambda x: 7 % x, 1),
        ("a power of a number", lambda x: 2**x, 1),
        ("and True", lambda x: x & True, 1),
        ("remainder by a number", lambda x: x % 2, 1),
        ("mul with an overflowing number", lambda x: x * 1e300, 1),
        ("less than a number", lambda x: x < 3, 1),
        ("broadcast row", lambda x: x.view(-1, 1) + x.view(-1)[:3], 1),
        ("relu", functions.relu, 1),
        ("threshold_backward", lambda x, y: functions.threshold_backward(x, y, 3), 2),
        ("where", lambda x, y: functions.where(x > 3, x, y), 2),
        ("where with a number", lambda x: functions.where(x > 3, x, 0), 1),
        ("where with a number first", lambda x: functions.where(x > 3, 0, x), 1),
        ("masked_fill", lambda x: x.masked_fill(x > 3, 1), 1),
        ("clamp", lambda x: x.clamp(2, 4), 1),
        ("square", lambda x: x**2, 1),
        ("root", lambda x: x**0.5, 1),
        ("power", lambda x: x**1.3, 1),
    ]
    return found


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize(("call", "count"), [pytest.param(c, n, id=name) for name, c, n in cases()])
def test_the_short_path_gives_what_the_long_one_gives(call: Callable[..., Tensor], count: int, dtype: str) -> None:
    for size in SIZES:
        arrays = [values(dtype, size, seed) for seed in range(count)]
        results = []
        for make in (plain, gappy):
            try:
                results.append(call(*map(make, arrays)))
            except RuntimeError as error:
                results.append(str(error))
        short, long = results
        if isinstance(short, str) or isinstance(long, str):
            assert short == long
            continue
        assert short.dtype is long.dtype
        np.testing.assert_allclose(short.array(), long.array(), rtol=3e-6, equal_nan=True)


INPLACE: dict[str, tuple[Callable[..., Tensor], int]] = {
    "add_": (lambda x, y: x.add_(y), 2),
    "add_ alpha": (lambda x, y: x.add_(y, alpha=-0.5), 2),
    "sub_ alpha": (lambda x, y: x.sub_(y, alpha=3), 2),
    "add_ number": (lambda x: x.add_(2), 1),
    "mul_ itself": (lambda x: x.mul_(x), 1),
    "div_ a scalar": (lambda x: x.div_(x.sum()), 1),
    "remainder_": (lambda x, y: x.remainder_(y), 2),
    "relu_": (lambda x: x.relu_(), 1),
    "sigmoid_": (lambda x: x.sigmoid_(), 1),
    "lerp_": (lambda x, y: x.lerp_(y, 0.7), 2),
    "addcmul_": (lambda x, y, z: x.addcmul_(y, z, value=0.5), 3),
    "addcdiv_": (lambda x, y, z: x.addcdiv_(y, z, value=-2), 3),
    "addcmul_ itself": (lambda x, y: x.addcmul_(x, y), 2),
}


@pytest.mark.parametrize("name", INPLACE)
def test_the_short_path_in_place_gives_what_the_long_one_gives(name: str) -> None:
    call, count = INPLACE[name]
    for size in SIZES:
        arrays = [values("float32", size, seed) for seed in range(count)]
        short, long = [make(arrays[0]) for make in (plain, gappy)]
        assert call(short, *map(plain, arrays[1:])) is short
        assert call(long, *map(gappy, arrays[1:])) is long
        assert short._version == long._version == 1
        np.testing.assert_allclose(short.array(), long.array(), rtol=3e-6)


@pytest.mark.parametrize("call", [lambda x: x + x, lambda x: -x, lambda x: x < x], ids=["add", "neg", "lt"])
def test_the_short_path_fills_in_every_field_as_wrap_does(call: Callable[[Tensor], Tensor]) -> None:
    x = glasstorch.ones(3)
    short = call(x)
    long = wrap(short.array(), short.dtype)
    assert not hasattr(short, "_parts")  # which sparse tensors have
    for field in TensorImpl.__slots__:
        if field not in ("__weakref__", "_parts"):
            assert getattr(short, field) is getattr(long, field) or getattr(short, field) == getattr(long, field), field


def test_a_loop_of_several_steps_is_called_on_blocks_of_the_computing_dtype() -> None:
    sizes = []

    def loop(out: Any, x: Any, y: Any) -> None:
        assert out.dtype == x.dtype == y.dtype == F64
        sizes.append(out.size)
        np.add(x, y, out=out)

    x = np.arange(3 * BLOCK + 5, dtype=np.int64).reshape(-1, 1)
    out = np.empty(x.shape, np.float32)
    in_blocks.run(loop, out, (x, np.array(0.5)), (F64, F64, F64))
    assert max(sizes) <= BLOCK
    assert sum(sizes) == x.size
    assert (out == x + 0.5).all()


def test_a_choice_of_bits_takes_values_as_they_are() -> None:
    mask = np.arange(2 * CHOICE_OF_BITS_FROM) % 2 == 0
    x, y = np.full(mask.shape, np.inf), np.full(mask.shape, np.nan)
    out = np.empty(mask.shape)
    choose(out, mask, x, y)
    assert np.isposinf(out[mask]).all()
    assert np.isnan(out[~mask]).all()
    choose(out, mask, np.zeros(()), x)
    assert out[:2].tolist() == [0.0, np.inf]
    choose(out, mask, np.array(-0.0), x)
    assert np.signbit(out[mask]).all()
