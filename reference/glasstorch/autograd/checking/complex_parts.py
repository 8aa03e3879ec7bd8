"""Which real functions stand for a complex one?

Derivatives are compared of functions with real outputs (in forward mode: with real inputs). A complex function is
checked as two: of its real and of its imaginary parts.

Mirrors: torch/autograd/gradcheck.py (_gradcheck_real_imag)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.checking.comparison import Settings, Subject, compare
from glasstorch.autograd.checking.numerical import Function
from glasstorch.autograd.checking.undefined import check_undefined_forward
from glasstorch.autograd.checking.values import as_tuple, differentiable
from glasstorch.operators.generated.functions import imag, real


def check_backward(subject: Subject, settings: Settings) -> None:
    """Compare gradients of the backward pass; of complex outputs the imaginary parts first."""
    func, inputs = subject.func, subject.inputs
    if not any(o.is_complex() for o in subject.results):
        compare(subject, settings)
        return
    places = [i for i, o in enumerate(subject.outputs) if o.is_complex()]
    for part in (imag, real):
        of_part = _outputs_through(func, part)
        results = as_tuple(of_part(*inputs))
        compare(
            Subject(of_part, inputs, results, differentiable(results), False, places, imaginary=part is imag), settings
        )


def check_forward(subject: Subject, settings: Settings, check_undefined: bool) -> None:
    """Compare the tangents of forward mode; of complex inputs those of the imaginary parts first."""
    places = [i for i, value in enumerate(subject.inputs) if isinstance(value, Tensor) and value.is_complex()]
    if not places:
        compare(subject._replace(of_forward=True), settings)
        if check_undefined:
            check_undefined_forward(subject.func, subject.inputs)
        return
    parts = []
    for part in (imag, real):
        func = _inputs_through(subject.func, places, subject.inputs, part is imag)
        inputs = tuple(part(value) if i in places else value for i, value in enumerate(subject.inputs))
        results = as_tuple(func(*inputs))
        parts.append(Subject(func, inputs, results, differentiable(results), True, places, imaginary=part is imag))
        compare(parts[-1], settings)
    if check_undefined:
        for of_part in parts:
            check_undefined_forward(of_part.func, of_part.inputs)


def _outputs_through(func: Function, part: Callable[[Tensor], Tensor]) -> Function:
    """The function, with one part of each complex output."""

    def of_part(*inputs: Any) -> Any:
        return tuple(part(o) if o.is_complex() else o for o in as_tuple(func(*inputs)))

    return of_part


def _inputs_through(func: Function, places: Sequence[int], originals: Sequence[Any], imaginary: bool) -> Function:
    """The function of one part of each complex input; the other part stays what it is."""

    def of_part(*inputs: Any) -> Any:
        whole = list(inputs)
        for i in places:
            original = originals[i]
            whole[i] = original.real + whole[i] * 1j if imaginary else whole[i] + original.imag * 1j
        return as_tuple(func(*whole))

    return of_part
