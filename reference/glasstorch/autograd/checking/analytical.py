"""What is a function's Jacobian by autograd, backward and forward?

Mirrors: torch/autograd/gradcheck.py (_check_analytical_jacobian_attributes, _get_analytical_vJu_backward_mode,
    _get_analytical_jacobian_forward_ad)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd import forward_ad
from glasstorch.autograd.checking.messages import NOT_REENTRANT
from glasstorch.autograd.checking.numerical import Direction, Function
from glasstorch.autograd.checking.values import GradcheckError, as_tuple, checked, is_inexact, requires_grad
from glasstorch.autograd.graph import grad
from glasstorch.operators.generated.functions import view_as_real, zeros_like

# For each input a gradient for each start of the backward pass; None where the output does not depend on the input.
Rows = list[list[Tensor | None]]


def backward(
    inputs: Any, output: Tensor, nondet_tol: float, check_grad_dtypes: bool, end: Tensor | None = None
) -> list[Tensor]:
    """For each input that requires grad the Jacobian of an output; with `end` its product with that vector, a column.

    Every gradient is computed twice. GradcheckError if the two differ by more than `nondet_tol`, and for gradients of
    another size, or (if asked) dtype, than their input's.
    """
    count = output.numel() if end is None else 1
    wanted = checked(inputs)
    first, types_fit, sizes_fit = stacked(_passes(wanted, output, end), wanted, count)
    second, _, _ = stacked(_passes(wanted, output, end), wanted, count)
    if not types_fit and check_grad_dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes_fit:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not agree(first, second, nondet_tol):
        raise GradcheckError(NOT_REENTRANT.format(nondet_tol=nondet_tol))
    return first


def rows(wanted: Sequence[Tensor], output: Tensor) -> Rows:
    """For each wanted tensor its gradients, one for each element of the output, in the order of its elements."""
    start = output.new_zeros(output.shape)
    flat = start.view(-1)
    made: Rows = [[] for _ in wanted]
    for element in range(flat.numel()):
        flat.zero_()
        flat[element] = 1.0
        for row, gradient in zip(made, _gradients(wanted, output, start), strict=True):
            row.append(gradient)
    return made


def _gradients(wanted: Sequence[Tensor], output: Tensor, start: Tensor) -> list[Tensor | None]:
    """The gradients of one backward pass, which share no memory with where it started."""
    found = grad(output, wanted, start, retain_graph=True, allow_unused=True)
    return [g.clone() if isinstance(g, Tensor) else None for g in found]


def _passes(wanted: Sequence[Tensor], output: Tensor, end: Tensor | None) -> Rows:
    """The gradients of a pass for each element of the output; with `end` of one pass, which starts with that."""
    if end is None:
        return rows(wanted, output)
    return [[gradient] for gradient in _gradients(wanted, output, end.reshape(output.shape))]


def stacked(found: Rows, tensors: Sequence[Tensor], count: int) -> tuple[list[Tensor], bool, bool]:
    """The gradients as columns of a matrix for each tensor; whether their dtypes and their sizes are the tensor's."""
    made = [t.new_zeros((t.numel(), count)) for t in tensors]
    types_fit = sizes_fit = True
    for matrix, tensor, columns in zip(made, tensors, found, strict=True):
        for j, column in enumerate(columns):
            if column is None:
                continue
            if column.size() != tensor.size():
                sizes_fit = False
            elif column.dtype != tensor.dtype:
                types_fit = False
            if column.numel() != tensor.numel():
                raise AssertionError(
                    f"Expected out_jacobian column to have {column.numel()} elements, but got {tensor.numel()}"
                )
            matrix[:, j] = column.reshape(-1)
    return made, types_fit, sizes_fit


def agree(first: Sequence[Tensor], second: Sequence[Tensor], tolerance: float) -> bool:
    """Whether no element differs by more than the tolerance between one list of matrices and the other."""
    return not any(a.numel() and bool((a - b).abs().max() > tolerance) for a, b in zip(first, second, strict=True))


def backward_products(
    inputs: Any,
    outputs: Sequence[Tensor],
    nondet_tol: float,
    check_grad_dtypes: bool,
    ends: Sequence[Tensor],
    starts: Sequence[Direction],
) -> list[list[Tensor]]:
    """For each output and input the product of the Jacobian with a vector of either."""
    made = []
    for output, end in zip(outputs, ends, strict=True):
        columns = backward(inputs, output, nondet_tol, check_grad_dtypes, end)
        made.append([_dot(column.T.squeeze(0), start) for column, start in zip(columns, starts, strict=True)])
    return made


def _dot(column: Tensor, start: Direction) -> Tensor:
    """A gradient's product with a direction; of a complex one each part's with its own."""
    if isinstance(start, tuple):
        parts = view_as_real(column.resolve_conj())
        return parts.select(-1, 0).dot(start[0]) + 1j * parts.select(-1, 1).dot(start[1])
    return column.dot(start)


def forward(
    func: Function,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    check_grad_dtypes: bool = False,
    starts: Sequence[Tensor] | None = None,
) -> list[list[Tensor]]:
    """For each input that requires grad and each output the Jacobian, a call of `func` for each of its rows.

    With `starts` its product with a vector of the input instead. `func` must use the inputs that it is given.
    """
    tensors = [t for t in inputs if requires_grad(t)]
    if any(t.is_complex() for t in tensors):
        raise ValueError("Expected inputs to be non-complex for _get_analytical_jacobian_forward_ad.")
    kept = [o for o in outputs if is_inexact(o)]
    made = [[o.new_zeros((1 if starts else t.numel(), o.numel())) for o in kept] for t in tensors]
    with forward_ad.dual_level():
        duals, tangents = make_duals(inputs)
        for i, tangent in enumerate(tangents):
            if starts:
                tangent.copy_(starts[i].view_as(tangent))
                _fill(made[i], 0, _tangents(func, duals, check_grad_dtypes))
                tangent.zero_()
                continue
            for row, index in enumerate(product(*(range(size) for size in tangent.size()))):
                tangent[index] = 1.0
                _fill(made[i], row, _tangents(func, duals, check_grad_dtypes))
                tangent[index] = 0.0
    return [[matrix.squeeze(0) for matrix in row] for row in made] if starts else made


def _fill(matrices: Sequence[Tensor], row: int, tangents: Sequence[Tensor | None]) -> None:
    """Write one row of each output's matrix."""
    for matrix, tangent in zip(matrices, tangents, strict=False):
        if tangent is not None:
            matrix[row].copy_(tangent.reshape(-1))


def _tangents(func: Function, duals: Sequence[Any], check_grad_dtypes: bool) -> list[Tensor | None]:
    """The tangent of each output of floating-point or complex numbers."""
    found = []
    for dual in filter(is_inexact, as_tuple(func(*duals))):
        value, tangent = forward_ad.unpack_dual(dual)
        if check_grad_dtypes and tangent is not None and value.is_complex() != tangent.is_complex():
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        found.append(tangent)
    return found


def make_duals(inputs: Sequence[Any]) -> tuple[list[Any], list[Tensor]]:
    """The inputs, those that require grad as duals, and the tangents of these: zeros to be written to."""
    duals, tangents = [], []
    for value in inputs:
        dual = value
        if requires_grad(value):
            dual = forward_ad.make_dual(value.detach(), zeros_like(value))
            tangent = forward_ad.unpack_dual(dual).tangent  # the copy of it, where the dual is laid out otherwise
            assert tangent is not None, "a dual that was just made has a tangent"
            tangents.append(tangent)
        duals.append(dual)
    return duals, tangents
