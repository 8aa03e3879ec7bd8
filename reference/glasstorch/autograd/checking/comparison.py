"""Do Jacobians from autograd and from differences agree?

Mirrors: torch/autograd/gradcheck.py (_slow_gradcheck, _fast_gradcheck)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.checking import analytical, numerical
from glasstorch.autograd.checking.messages import fast_mismatch, mismatch
from glasstorch.autograd.checking.numerical import Direction, Function
from glasstorch.autograd.checking.values import GradcheckError, as_tuple, requires_grad
from glasstorch.core.dtype import promote_types
from glasstorch.core.random.generator import Generator
from glasstorch.operators.generated.functions import allclose, rand


class Settings(NamedTuple):
    """How closely gradients must agree, with which steps, and in which mode they are compared."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool
    fast_mode: bool


class Subject(NamedTuple):
    """A function with the inputs it is checked at, what it returned there, and which outputs require grad.

    For a function made of a complex one: where its complex outputs are (inputs in forward mode), and which part of
    these it is about.
    """

    func: Function
    inputs: tuple[Any, ...]
    results: tuple[Any, ...]
    outputs: tuple[Tensor, ...]
    of_forward: bool = False
    complex_places: Sequence[int] = ()
    imaginary: bool = False


def compare(subject: Subject, settings: Settings) -> None:
    """Raise GradcheckError unless the derivatives of a function agree with differences."""
    (_compare_products if settings.fast_mode else _compare_jacobians)(subject, settings)


def _compare_jacobians(subject: Subject, settings: Settings) -> None:
    """Every element of each Jacobian. Where no output requires grad, all differences must be 0."""
    func, inputs, results, outputs, of_forward = subject[:5]
    found = numerical.jacobians(func, inputs, results, eps=settings.eps, of_forward=of_forward)
    if not outputs:
        if any((jacobian != 0).sum() > 0 for row in found for jacobian in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    by_output = [row for output, row in zip(results, zip(*found, strict=True), strict=False) if output.requires_grad]
    if of_forward:
        expected = _transposed(analytical.forward(func, inputs, results, settings.check_grad_dtypes))
    for i, row in enumerate(by_output):
        if not of_forward:
            given = analytical.backward(inputs, outputs[i], settings.nondet_tol, settings.check_grad_dtypes)
        for j, (a, n) in enumerate(zip(expected[i] if of_forward else given, row, strict=False)):
            if not _close(a, n, settings.rtol, settings.atol):
                raise GradcheckError(mismatch(a, n, i, j, subject.complex_places, subject.imaginary, of_forward))


def _compare_products(subject: Subject, settings: Settings) -> None:
    """One number of each Jacobian: its product with a vector of the input and one of the output (forward, the former).

    All vectors have positive elements and length 1.
    """
    func, inputs, results, outputs, of_forward = subject[:5]
    places = [i for i, value in enumerate(inputs) if requires_grad(value)]
    starts, ends = directions([inputs[i] for i in places], None if of_forward else outputs)
    found = numerical.products(func, inputs, places, results, starts, ends, settings.eps, of_forward)
    if of_forward:
        vectors: Any = starts
        expected: Sequence[Sequence[Tensor]] = analytical.forward(
            func, inputs, results, settings.check_grad_dtypes, vectors
        )
    else:
        if not outputs:
            _check_constant(func, inputs, places, starts, settings)
        assert ends is not None, "of a backward pass"
        backward = analytical.backward_products(
            inputs, outputs, settings.nondet_tol, settings.check_grad_dtypes, ends, starts
        )
        expected = _transposed(backward)
    for i, row in enumerate(found):
        for j, n in enumerate(row):
            a = expected[i][j]
            atol = _scaled(settings.atol, starts[i], None if ends is None else ends[j])
            if not _close(a, n, settings.rtol, atol):
                raise GradcheckError(
                    mismatch(a, n, j, i, subject.complex_places, subject.imaginary, of_forward)
                    + _slow_report(subject, settings, i, j)
                )


def _transposed(matrix: Sequence[Sequence[Tensor]]) -> list[tuple[Tensor, ...]]:
    return list(zip(*matrix, strict=True))


def _check_constant(
    func: Function, inputs: Sequence[Any], places: Sequence[int], starts: Sequence[Direction], settings: Settings
) -> None:
    """A function none of whose outputs requires grad has no derivative along the directions."""
    for place, start in zip(places, starts, strict=True):
        for product in numerical.directional(func, inputs, place, start, settings.eps):
            if product.numel() and product.abs().max() > settings.nondet_tol:
                raise GradcheckError("Numerical gradient for function expected to be zero")


def directions(
    tensors: Sequence[Tensor], outputs: Sequence[Tensor] | None
) -> tuple[list[Direction], list[Tensor] | None]:
    """Vectors for the inputs and for the outputs, always the same; the program's random numbers are left alone."""
    generator = Generator()

    def vector(like: Tensor, dtype: Any) -> Tensor:
        made = rand(like.numel(), generator=generator, device="cpu").to(dtype=dtype, device=like.device)
        return made.div_(made.norm())

    starts: list[Direction] = []
    for tensor in tensors:
        real = tensor.dtype.to_real()
        first = vector(tensor, real)
        starts.append((first, vector(tensor, real)) if tensor.is_complex() else first)
    return starts, None if outputs is None else [vector(output, output.dtype) for output in outputs]


def _close(a: Tensor, b: Tensor, rtol: float, atol: float) -> bool:
    dtype = promote_types(a.dtype, b.dtype)
    return allclose(a.to(dtype=dtype), b.to(device=a.device, dtype=dtype), rtol, atol)


def _scaled(atol: float, start: Direction, end: Tensor | None) -> float:
    """The tolerance of a product: errors of one sign add up, each weighted by the vectors' elements."""
    of_end = 1.0 if end is None else end.sum()
    if isinstance(start, tuple):
        return atol * (float(start[0].sum()) + float(start[1].sum())) * float(of_end)
    return atol * float(start.sum()) * float(of_end)


def _slow_report(subject: Subject, settings: Settings, i: int, j: int) -> str:
    """What the slow mode finds of the Jacobian of output `j` with respect to input `i`."""
    func, inputs, _, outputs, of_forward = subject[:5]
    slow = numerical.jacobians(func, inputs, outputs, eps=settings.eps, of_forward=of_forward)[i][j]
    if of_forward:

        def alone(value: Any) -> Any:
            changed = list(inputs)
            changed[i] = value
            return as_tuple(func(*changed))[j]

        expected = analytical.forward(alone, (inputs[i],), (outputs[j],))[0][0]
    else:
        expected = analytical.backward(inputs, outputs[j], float("inf"), False)[i]
    passes = allclose(expected, slow, settings.rtol, settings.atol)
    return fast_mismatch(slow, expected, (slow - expected).abs().max(), passes)
