"""What is a function's Jacobian by central differences?

A Jacobian has a row for each element of an input and a column for each element of an output. The whole of it takes two
calls of the function for each element of the input; its product with one vector takes two calls (four where the input
is complex).

Mirrors: torch/autograd/gradcheck.py (_get_numerical_jacobian, get_numerical_jacobian_wrt_specific_input,
    _get_numerical_vJu)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.checking.values import as_tuple, is_inexact, requires_grad

Function = Callable[..., Any]
# A vector for a real input; for a complex one a vector for either part.
Direction = Tensor | tuple[Tensor, Tensor]


def jacobians(
    func: Function, inputs: Any, outputs: Any = None, target: Any = None, eps: float = 1e-3, of_forward: bool = False
) -> list[tuple[Tensor, ...]]:
    """For each tensor of `target` that requires grad the Jacobian of each output that is not of whole numbers.

    `target` is `inputs`, unless something else is given that `func` reads; its memory is changed temporarily.
    """
    if outputs is None:
        outputs = as_tuple(func(*as_tuple(inputs)))
    if not of_forward and any(o.is_complex() for o in outputs):
        raise ValueError(
            "Expected output to be non-complex. get_numerical_jacobian no longer supports functions that return "
            "complex outputs."
        )
    tensors = [t for t in as_tuple(inputs if target is None else target) if requires_grad(t)]
    return [jacobian(func, t, inputs, outputs, eps, of_forward) for t in tensors]


def jacobian(
    func: Function, moved: Tensor, inputs: Any, outputs: Sequence[Any], eps: float, of_forward: bool = False
) -> tuple[Tensor, ...]:
    """The Jacobian of each output with respect to one tensor, whose memory is changed temporarily."""
    dtype = moved.dtype if moved.dtype.is_complex else None
    made = [o.new_zeros((moved.numel(), o.numel()), dtype=dtype) for o in outputs if is_inexact(o)]
    for row, (place, index) in enumerate(_elements(moved)):
        differences = _Differences(func, inputs, place, eps, f"on index {index} ")
        for whole, part in zip(made, differences.along(eps, moved.is_complex(), of_forward), strict=False):
            whole[row] = part
    return tuple(made)


def products(
    func: Function,
    inputs: Sequence[Any],
    places: Sequence[int],
    outputs: Any,
    starts: Sequence[Direction],
    ends: Sequence[Tensor] | None,
    eps: float,
    of_forward: bool,
) -> list[list[Tensor]]:
    """For each input and output the product of the Jacobian with a vector of the input, and with one of the output.

    Without `ends`, only with that of the input.
    """
    outputs = as_tuple(outputs)
    made = []
    for place, start in zip(places, starts, strict=True):
        columns = directional(func, inputs, place, start, eps, of_forward)
        assert len(columns) == len(outputs), f"{len(columns)} derivatives of {len(outputs)} outputs"
        kept = [column for column, output in zip(columns, outputs, strict=True) if is_inexact(output)]
        made.append(kept if ends is None else [(v * u).sum() for v, u in zip(ends, kept, strict=False)])
    return made


def directional(
    func: Function, inputs: Sequence[Any], place: int, start: Direction, eps: float, of_forward: bool = False
) -> list[Tensor]:
    """The derivative of each output along a direction of one input."""
    moved = inputs[place].data
    differences = _Differences(func, inputs, moved, eps)
    if isinstance(start, tuple):
        steps: Any = tuple(eps * part.reshape(moved.shape) for part in start)
    else:
        steps = eps * start.reshape(moved.shape)
    return differences.along(steps, inputs[place].is_complex(), of_forward)


def _elements(tensor: Tensor) -> Iterator[tuple[Tensor, tuple[int, ...]]]:
    """Views of each element in turn, not followed by version checks, with their indices."""
    data = tensor.data
    for index in product(*(range(size) for size in data.size())):
        yield data[index], index


class _Differences:
    """How the outputs of a function change when some of its memory is moved."""

    def __init__(self, func: Function, inputs: Any, moved: Tensor, eps: float, where: str = "") -> None:
        self.func, self.inputs, self.moved, self.eps, self.where = func, as_tuple(inputs), moved, eps, where

    def along(self, step: Any, is_complex: bool, of_forward: bool) -> list[Tensor]:
        """The derivative along a step; of a complex input the conjugate Wirtinger derivative, from steps of both parts.

        A step that differs between the parts is a pair.
        """
        real, imaginary = step if isinstance(step, tuple) else (step, step)
        along_real = self.central(real)
        if not is_complex:
            assert of_forward or not any(d.is_complex() for d in along_real), "the outputs of this function are real"
            return along_real
        along_imaginary = self.central(imaginary * 1j)
        assert not any(d.is_complex() for d in along_real), "the outputs of this function are real"
        return [dx + dy * 1j for dx, dy in zip(along_real, along_imaginary, strict=True)]

    def central(self, step: Any) -> list[Tensor]:
        """The central difference of each output, of two calls whose outputs are alike."""
        return central(_Alike(self.func, self.eps, self.where), self.inputs, self.moved, step, self.eps)


def central(
    func: Callable[..., tuple[Tensor, ...]], inputs: Sequence[Any], moved: Tensor, step: Any, eps: float
) -> list[Tensor]:
    """For each output the difference between one step behind and one step ahead, over twice eps, as a vector.

    `moved` is memory of the inputs, the step a number or a tensor of its shape. The function is called with `inputs`
    one step behind first. Afterwards, also after an error, the memory is what it was.
    """
    before = moved.clone()
    try:
        moved.copy_(before - step)
        behind = [output.clone() for output in func(*inputs)]
        moved.copy_(before - (-step))  # not by an addition, which may be the operator that is checked
        ahead = [output.clone() for output in func(*inputs)]
    finally:
        moved.copy_(before)
    return [((b - a) / (2 * eps)).detach().reshape(-1) for a, b in zip(behind, ahead, strict=False)]


class _Alike:
    """A function whose outputs keep their shapes and dtypes from one call to the next: AssertionError otherwise."""

    def __init__(self, func: Function, eps: float, where: str) -> None:
        self.func, self.eps, self.where = func, eps, where
        self.last: tuple[Tensor, ...] = ()

    def __call__(self, *inputs: Any) -> tuple[Tensor, ...]:
        outputs = as_tuple(self.func(*inputs))
        for a, b in zip(self.last, outputs, strict=False):
            for name, one, other in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
                if one != other:
                    raise AssertionError(
                        f"Expected `func` to return outputs with the same {name} when inputs are perturbed {self.where}"
                        f"by {self.eps}, but got: {name}s {one} and {other}."
                    )
        self.last = outputs
        return outputs
