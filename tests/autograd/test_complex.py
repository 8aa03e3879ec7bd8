"""Are gradients of complex numbers PyTorch's: those of the loss along the real and the imaginary axis?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

RANDOM = np.random.default_rng(6)


def c(*shape: int) -> Any:
    """Complex numbers off the axes."""
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def r(*shape: int) -> Any:
    """Real numbers."""
    return RANDOM.normal(size=shape)


Case = tuple[tuple[Any, ...], Callable[..., Any]]

UNARY = (
    "neg abs sgn exp log sqrt rsqrt reciprocal sin cos tanh sigmoid tan asin acos atan sinh cosh asinh acosh atanh "
    "expm1 log1p log2 log10 square sum mean prod var std real imag conj conj_physical view_as_real"
)
CASES: dict[str, Case] = {name: ((c(2, 3),), lambda t, x, n=name: getattr(t, n)(x)) for name in UNARY.split()}
for name in ("add", "sub", "mul", "div", "pow"):
    for pair, operands in {"cc": (c(2, 3), c(3)), "rc": (abs(r(2, 3)), c(3)), "cr": (c(2, 3), abs(r(3)))}.items():
        CASES[f"{name} {pair}"] = operands, lambda t, x, y, n=name: getattr(t, n)(x, y)
CASES |= {
    "logsumexp": ((c(3),), lambda t, x: t.logsumexp(x, 0)),
    "logaddexp": ((c(3), c(3)), lambda t, x, y: t.logaddexp(x, y)),
    "cumsum": ((c(3),), lambda t, x: t.cumsum(x, 0)),
    "cumprod": ((c(3),), lambda t, x: t.cumprod(x, 0)),
    "add alpha": ((c(3), c(3)), lambda t, x, y: t.add(x, y, alpha=1 + 2j)),
    "sub alpha": ((c(3), c(3)), lambda t, x, y: t.sub(x, y, alpha=1 + 2j)),
    "a number times": ((c(3),), lambda t, x: x * (1 + 2j)),
    "a number times real": ((r(3),), lambda t, x: x * (1 + 2j)),
    "a number over": ((c(3),), lambda t, x: (1 + 2j) / x),
    "power of a number": ((c(3),), lambda t, x: x ** (1.5 + 0.5j)),
    "cube": ((c(3),), lambda t, x: x**3),
    "base 2.5": ((c(3),), lambda t, x: t.pow(2.5, x)),
    "base below 0": ((c(3),), lambda t, x: t.pow(-2.5, x)),
    "base 0": ((c(3),), lambda t, x: t.pow(0, x)),
    "complex base": ((r(3),), lambda t, x: t.pow(1 + 2j, x)),
    "mm": ((c(2, 3), c(3, 2)), lambda t, x, y: x @ y),
    "mm by rows": ((c(3, 2), c(2, 3)), lambda t, x, y: x.t() @ y.t()),
    "mm adjoint": ((c(2, 3), c(2, 3)), lambda t, x, y: x @ y.mH),
    "bmm": ((c(2, 2, 3), c(2, 3, 2)), lambda t, x, y: t.bmm(x, y)),
    "mv": ((c(2, 3), c(3)), lambda t, x, y: x @ y),
    "dot": ((c(3), c(3)), lambda t, x, y: t.dot(x, y)),
    "addmm": ((c(2), c(2, 3), c(3, 2)), lambda t, a, x, y: t.addmm(a, x, y, beta=2j, alpha=1 - 1j)),
    "addcmul": ((c(3), c(3), c(3)), lambda t, a, x, y: t.addcmul(a, x, y, value=1 + 2j)),
    "addcmul of mixed": ((r(3), c(3), r(3)), lambda t, a, x, y: t.addcmul(a, x, y, value=2)),
    "addcdiv": ((c(3), c(3), c(3)), lambda t, a, x, y: t.addcdiv(a, x, y, value=1 + 2j)),
    "lerp": ((c(3), c(3)), lambda t, x, y: t.lerp(x, y, 0.3 + 1j)),
    "masked_fill": ((c(3),), lambda t, x: x.masked_fill(t.tensor([True, False, True]), 1j)),
    "cat of mixed": ((c(3), r(3)), lambda t, x, y: t.cat([x, y])),
    "index": ((c(3),), lambda t, x: x[t.tensor([0, 0, 1])]),
    "to complex": ((r(3),), lambda t, x: x.to(t.complex128) * 1j),
    "to real": ((c(3),), lambda t, x: x.to(t.float64)),
    "in place": ((c(3), c(3)), lambda t, x, y: x.clone().mul_(y)),
    "copy of a real one": ((r(3), c(3)), lambda t, x, y: y.clone().copy_(x)),
    "view_as_complex": ((r(3, 2),), lambda t, x: t.view_as_complex(x) * 2j),
}


def made(torch: Any, array: Any) -> Any:
    """A tensor of 128 or 64 bits that requires grad."""
    wide = torch.complex128 if np.iscomplexobj(array) else torch.float64
    return torch.asarray(array, dtype=wide).clone().requires_grad_()


def gradients(torch: Any, arrays: tuple[Any, ...], function: Callable[..., Any]) -> list[Any]:
    """First derivatives, and those of the sum of their squared sizes."""
    inputs = [made(torch, array) for array in arrays]
    result = function(torch, *inputs)
    weights = np.arange(1.0, 1 + result.numel()).reshape(tuple(result.shape))
    seed = made(torch, weights * (1 + 0.5j) if result.is_complex() else weights).detach()
    first = torch.autograd.grad(result, inputs, seed, create_graph=True)
    loss = sum((g.abs() ** 2).sum() for g in first)
    second = torch.autograd.grad(loss, inputs, allow_unused=True) if loss.requires_grad else ()
    return [g.detach().resolve_conj().tolist() for g in (*first, *second) if g is not None]


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives_are_pytorchs(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    import glasstorch

    ours, theirs = gradients(glasstorch, *CASES[name]), gradients(torch, *CASES[name])
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-10)


def test_the_gradient_of_a_real_number_is_real(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())  # a cast to real would warn, which is an error here
    x = torch.ones(2, requires_grad=True)
    (x * (3 + 4j)).real.sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float32, [3.0, 3.0])


def test_a_backward_pass_starts_at_a_real_number(torch: Any) -> None:
    z = torch.ones(1, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"only for real scalar outputs but got torch\.complex64"):
        (z * 2).sum().backward()


def test_complex_tensors_may_require_grad_and_whole_ones_may_not(torch: Any) -> None:
    assert torch.zeros(2, dtype=torch.complex128).requires_grad_().requires_grad
    with pytest.raises(RuntimeError, match="nly Tensors of floating point"):
        torch.zeros(2, dtype=torch.int8).requires_grad_()
