"""Which window functions are there?

A window is a function sampled at `M` equally spaced points. With `sym=True` it is symmetric, for filter design; with
`sym=False` it is one period of a periodic window, for spectral analysis. All are float32 or float64.

Mirrors: torch/signal/windows/windows.py
Differs: the keywords that every window has (dtype, layout, device, requires_grad) are declared once, in `Options`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypedDict, Unpack

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import float32, float64, get_default_dtype
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import strided
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated.functions import arange, cos, empty, exp, i0, linspace, ones, sin, sqrt
from glasstorch.outside_data.creation import tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


class Options(TypedDict, total=False):
    """The keywords for the kind of tensor that a window is, as in `ones`."""

    dtype: Dtype | None
    layout: Layout
    device: Device | str | int | None
    requires_grad: bool


class Plan(NamedTuple):
    """The parameters of a window: its number of points, and the options of all tensors it is computed from."""

    points: int
    options: dict[str, Any]

    @property
    def trivial(self) -> bool:
        """Whether the window is constant: no points, or one, which is 1."""
        return self.points <= 1

    def constant(self) -> Tensor:
        """A window of ones, possibly empty."""
        return (ones if self.points else empty)((self.points,), **self.options)

    def steps(self, start: float, step: float) -> Tensor:
        """One number for each point, from `start` in equal steps."""
        return linspace(start, start + (self.points - 1) * step, self.points, **self.options)


def refuse_unknown(name: str, options: Mapping[str, object]) -> None:
    """Refuse a keyword that is not an option; the error names the window function."""
    for word in options:
        if word not in Options.__annotations__:
            known = ", ".join(Options.__annotations__)
            raise ArgumentTypeError(f"{name}() got an unexpected keyword argument '{word}'; expected one of {known}")


def plan(
    name: str,
    M: int,
    dtype: Dtype | None = None,
    layout: Layout = strided,
    device: Device | str | int | None = None,
    requires_grad: bool = False,
    **others: object,
) -> Plan:
    """The plan of a window, after its length, layout and dtype were checked."""
    refuse_unknown(name, others)
    made = get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ArgumentValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ArgumentValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if made not in (float32, float64):
        raise ArgumentValueError(f"{name} expects float32 or float64 dtypes, got: {made}")
    return Plan(M, {"dtype": made, "layout": layout, "device": device, "requires_grad": requires_grad})


def intervals(M: int, sym: bool) -> int:
    """The number of intervals in a window: a periodic one has one more, up to where it repeats."""
    return M - 1 if sym else M


# Windows with a formula of their own ------------------------------------------------------------------------------


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Unpack[Options]
) -> Tensor:
    """`exp(-|n - center| / tau)`: decays from the centre, which can be set only for a periodic window."""
    planned = plan("exponential", M, **options)
    if tau <= 0:
        raise ArgumentValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ArgumentValueError(f"Center must be None for symmetric windows, got: {center} instead.")
    if M == 0:
        return planned.constant()
    if center is None:
        center = intervals(M, sym or M == 1) / 2
    return exp(-planned.steps(-center / tau, 1 / tau).abs())


def cosine(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`sin(pi * (n + 0.5) / M)`: half a wave."""
    planned = plan("cosine", M, **options)
    if M == 0:
        return planned.constant()
    step = math.pi / (intervals(M, sym or M == 1) + 1)
    return sin(planned.steps(step / 2, step))


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`exp(-(n / std) ** 2 / 2)`, n counted from the middle."""
    planned = plan("gaussian", M, **options)
    if std <= 0:
        raise ArgumentValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return planned.constant()
    step = 1 / (std * math.sqrt(2))
    return exp(-(planned.steps(-intervals(M, sym or M == 1) / 2 * step, step) ** 2))


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`i0(beta * sqrt(1 - x ** 2)) / i0(beta)` for x from -1 to 1: a larger beta makes the window narrower."""
    planned = plan("kaiser", M, **options)
    if beta < 0:
        raise ArgumentValueError(f"beta must be non-negative, got: {beta} instead.")
    if planned.trivial:
        return planned.constant()
    shape = tensor(beta, dtype=planned.options["dtype"], device=planned.options["device"])
    step = 2.0 * shape / intervals(M, sym)
    end = shape.minimum(-shape + (M - 1) * step)
    start, stop = (0, 0) if shape.is_meta else (-shape, end)  # linspace reads their values, which meta tensors lack
    points = linspace(start, stop, M, **planned.options)
    return i0(sqrt(shape * shape - points**2)) / i0(shape)


def bartlett(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`1 - |x|` for x from -1 to 1: a triangle."""
    planned = plan("bartlett", M, **options)
    return planned.constant() if planned.trivial else 1 - planned.steps(-1, 2 / intervals(M, sym)).abs()


# Sums of cosines ------------------------------------------------------------------------------------------------


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`a[0] - a[1] * cos(x) + a[2] * cos(2 * x) - ...` for x from 0 to 2 pi."""
    planned = plan("general_cosine", M, **options)
    if planned.trivial:
        return planned.constant()
    if not isinstance(a, Iterable):
        raise ArgumentTypeError(f"Coefficients must be a list/tuple, got: {type(a).__name__}")
    signed = [-weight if i % 2 else weight for i, weight in enumerate(a)]
    if not signed:
        raise ArgumentValueError("Coefficients cannot be empty")
    made, wants = planned.options["dtype"], planned.options["requires_grad"]
    turn = planned.steps(0, 2 * math.pi / intervals(M, sym))
    weights = tensor(signed, dtype=made, device=turn.device, requires_grad=wants)
    orders = arange(len(signed), dtype=made, device=turn.device, requires_grad=wants)
    return (weights.unsqueeze(-1) * cos(orders.unsqueeze(-1) * turn)).sum(0)  # (terms, M) -> (M,)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """`alpha - (1 - alpha) * cos(x)` for x from 0 to 2 pi."""
    refuse_unknown("general_hamming", options)
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """The Hamming window: `general_hamming` with alpha 0.54, which does not reach 0 at its ends."""
    refuse_unknown("hamming", options)
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """The Hann window: `general_hamming` with alpha 0.5, which is 0 at its ends."""
    refuse_unknown("hann", options)
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """The Blackman window: a sum of three cosine terms."""
    plan("blackman", M, **options)  # so that errors name this window
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """The Nuttall window: a sum of four cosine terms."""
    refuse_unknown("nuttall", options)
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


__getattr__ = refuse_unknown_names(__name__)
