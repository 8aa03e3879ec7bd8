"""Does every kernel take the dtypes that PyTorch's takes, give its values, and refuse the others in its words?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES
from tests.refusals import builtin

UNARY = (
    "neg abs sgn exp log sqrt rsqrt reciprocal sin cos tanh sigmoid relu square sum mean max min argmax argmin any "
    "all amax amin bitwise_not clone zeros_like ones_like isnan isinf isfinite prod var std count_nonzero signbit sign "
    "argsort"
)
BINARY = (
    "add sub mul div floor_divide remainder maximum minimum bitwise_and bitwise_or bitwise_xor eq ne lt gt le ge pow "
    "dot outer equal"
)

# Called with the module, x (0, 1, 2, 3) and y (1, 2, 3, 1), the same two as matrices, and a mask.
CALLS: dict[str, Callable[..., Any]] = {
    name: lambda t, x, y, xx, yy, m, n=name: getattr(t, n)(x) for name in UNARY.split()
}
CALLS |= {name: lambda t, x, y, xx, yy, m, n=name: getattr(t, n)(x, y) for name in BINARY.split()}
CALLS |= {
    "add a number": lambda t, x, y, xx, yy, m: x + 1,
    "add a fraction": lambda t, x, y, xx, yy, m: x + 0.5,
    "a number minus": lambda t, x, y, xx, yy, m: 1 - x,
    "add with alpha": lambda t, x, y, xx, yy, m: t.add(x, y, alpha=2),
    "div floor": lambda t, x, y, xx, yy, m: t.div(x, y, rounding_mode="floor"),
    "div trunc": lambda t, x, y, xx, yy, m: t.div(x, y, rounding_mode="trunc"),
    "square of a tensor": lambda t, x, y, xx, yy, m: x**2,
    "cube": lambda t, x, y, xx, yy, m: x**3,
    "root": lambda t, x, y, xx, yy, m: x**0.5,
    "product with a number": lambda t, x, y, xx, yy, m: x * 2,
    "product with a fraction": lambda t, x, y, xx, yy, m: 2.5 * x,
    "product in place": lambda t, x, y, xx, yy, m: x.clone().mul_(2),
    "product with one element": lambda t, x, y, xx, yy, m: x * y[:1],
    "one element times many": lambda t, x, y, xx, yy, m: y[:1] * x,
    "product of nothing": lambda t, x, y, xx, yy, m: x[:0] * 2,
    "product of gaps": lambda t, x, y, xx, yy, m: xx.t() * yy,
    "power of 0": lambda t, x, y, xx, yy, m: x**0,
    "power of 1": lambda t, x, y, xx, yy, m: x**True,
    "power of 1 in place": lambda t, x, y, xx, yy, m: x.clone().pow_(1),
    "complex power of a float": lambda t, x, y, xx, yy, m: t.ones_like(x, dtype=t.float32) ** 0j,
    "sort": lambda t, x, y, xx, yy, m: t.sort(x, descending=True)[0],
    "sort of a number": lambda t, x, y, xx, yy, m: t.sort(x[1])[0],
    "sort of nothing": lambda t, x, y, xx, yy, m: t.sort(x[:0])[1],
    "searchsorted of a number": lambda t, x, y, xx, yy, m: t.searchsorted(x, 2),
    "searchsorted": lambda t, x, y, xx, yy, m: t.searchsorted(x, y),
    "isin": lambda t, x, y, xx, yy, m: t.isin(x, y[:2]),
    "isin of nothing": lambda t, x, y, xx, yy, m: t.isin(x[:0], y),
    "isin of a number": lambda t, x, y, xx, yy, m: t.isin(x, 1),
    "isin of a bool": lambda t, x, y, xx, yy, m: t.isin(x, True),
    "isin of a complex number": lambda t, x, y, xx, yy, m: t.isin(x, 1j),
    "a number isin": lambda t, x, y, xx, yy, m: t.isin(1, y),
    "a bool isin": lambda t, x, y, xx, yy, m: t.isin(True, y),
    "clamp": lambda t, x, y, xx, yy, m: x.clamp(1, 2),
    "clamp tensors": lambda t, x, y, xx, yy, m: x.clamp(y, y),
    "where": lambda t, x, y, xx, yy, m: t.where(m, x, y),
    "masked_fill": lambda t, x, y, xx, yy, m: x.masked_fill(m, 1),
    "addcmul": lambda t, x, y, xx, yy, m: t.addcmul(x, x, y),
    "lerp": lambda t, x, y, xx, yy, m: t.lerp(x, y, 0.5),
    "sum of rows": lambda t, x, y, xx, yy, m: xx.sum(0),
    "mean of rows": lambda t, x, y, xx, yy, m: xx.mean(0),
    "max of rows": lambda t, x, y, xx, yy, m: xx.max(0)[0],
    "mm": lambda t, x, y, xx, yy, m: xx @ yy,
    "bmm": lambda t, x, y, xx, yy, m: xx[None].bmm(yy[None]),
    "mv": lambda t, x, y, xx, yy, m: xx.mv(y[:2]),
    "addmm": lambda t, x, y, xx, yy, m: t.addmm(xx, xx, yy),
    "cumsum": lambda t, x, y, xx, yy, m: x.cumsum(0),
    "cumprod": lambda t, x, y, xx, yy, m: x.cumprod(0),
    "unique": lambda t, x, y, xx, yy, m: t.unique(x),
    "softmax": lambda t, x, y, xx, yy, m: x.softmax(0),
    "mse_loss": lambda t, x, y, xx, yy, m: t.nn.functional.mse_loss(x, y),
    "fill_": lambda t, x, y, xx, yy, m: x.clone().fill_(1),
    "copy_": lambda t, x, y, xx, yy, m: t.empty(4, dtype=x.dtype).copy_(y),
    "cat": lambda t, x, y, xx, yy, m: t.cat([x, y]),
}


@cache
def operands(torch: Any, name: str) -> tuple[Any, ...]:
    dtype = getattr(torch, name)
    x, y = (torch.tensor(numbers).to(dtype) for numbers in ([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 1.0]))
    if dtype.is_complex:
        x, y = x * (1 + 1j), y * (1 + 1j)
    return x, y, x.reshape(2, 2), y.reshape(2, 2), torch.tensor([True, False, True, False])


def outcome(torch: Any, call: str, name: str) -> Any:
    """The dtype and the values, or the class and the message of the refusal."""
    try:
        result = CALLS[call](torch, *operands(torch, name))
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return builtin(error).__name__, str(error).splitlines()[0]
    if not hasattr(result, "dtype"):
        return result
    wide = torch.complex128 if result.is_complex() else torch.float64
    values = np.atleast_1d(np.array(result.to(wide).tolist()))
    return repr(result.dtype), values.view(np.float64) if result.is_complex() else values  # both parts of a NaN count


@pytest.mark.parametrize("call", CALLS)
def test_every_dtype_is_taken_or_refused_as_in_pytorch(call: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    import glasstorch

    for dtype in DTYPES:
        ours, theirs = outcome(glasstorch, call, dtype.name), outcome(torch, call, dtype.name)
        if isinstance(theirs, tuple) and isinstance(theirs[1], np.ndarray):
            assert ours[0] == theirs[0], dtype
            np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-2 if dtype.itemsize == 2 else 1e-5)
        else:
            assert ours == theirs, dtype
