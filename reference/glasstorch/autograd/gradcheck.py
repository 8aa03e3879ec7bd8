"""Does a derivative agree with finite differences?

Mirrors: torch/autograd/gradcheck.py
Differs: a complex number counts as two real ones. The directions of the fast mode are of both signs, always the same,
    and its tolerance is that of errors that do not add up: atol times the lengths of the two directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, from_array
from glasstorch.autograd.graph import grad
from glasstorch.core.dtype import FLOATING, complex128, float64
from glasstorch.operators.generated.functions import zeros_like


class GradcheckError(RuntimeError):
    """The gradients from autograd and from finite differences do not agree."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Compare the gradients of `func` at float64 or complex128 `inputs` that require grad with central differences.

    Every element of the Jacobians is compared; with `fast_mode` one number of each, its product with a fixed vector on
    either side. That takes three calls of `func` for an input, however large it is. Returns True, or raises
    GradcheckError with both Jacobians (returns False with `raise_exception=False`). Where no output requires grad, the
    function must be constant.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for t in checked:
        if t.dtype not in (float64, complex128):
            raise ValueError(
                f"gradcheck needs float64 or complex128 inputs: differences of {t.dtype} numbers are mostly noise"
            )
    check = _check_projections if fast_mode else _check_jacobians
    try:
        check(func, inputs, checked, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_jacobians(
    func: Callable[..., Any], inputs: Sequence[Any], checked: Sequence[Tensor], eps: float, atol: float, rtol: float
) -> None:
    """Raise GradcheckError unless every output's derivatives agree with finite differences."""
    outputs = _outputs(func, inputs)
    if not outputs:
        for t in checked:
            if any(jacobian.any() for jacobian in _numeric(_tensors, func, inputs, t, eps)):
                raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    numerical = [_numeric(_outputs, func, inputs, t, eps) for t in checked]
    for j, output in enumerate(outputs):
        analytic = _analytic(output, checked)
        for i in range(len(checked)):
            numeric = numerical[i][j].reshape(analytic[i].shape)
            if not np.allclose(analytic[i], numeric, rtol=rtol, atol=atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {i},\nnumerical:{numeric}\n"
                    f"analytical:{analytic[i]}\n"
                )


def _check_projections(
    func: Callable[..., Any], inputs: Sequence[Any], checked: Sequence[Tensor], eps: float, atol: float, rtol: float
) -> None:
    """As `_check_jacobians`, for the product of each Jacobian with one direction of its input and one of its output."""
    outputs = _outputs(func, inputs)
    results = _outputs if outputs else _tensors
    generator = np.random.default_rng(0)
    ends = [generator.standard_normal(real_numbers(o).size) for o in results(func, inputs)]
    found = [
        grad(o, checked, _from_real_numbers(v, o), retain_graph=True, allow_unused=True)
        for o, v in zip(outputs, ends, strict=False)
    ]
    for i, t in enumerate(checked):
        start = generator.standard_normal(real_numbers(t).size)
        start /= max(float(np.linalg.norm(start)), eps)
        before = real_numbers(t)
        ahead, behind = (
            results(func, _replaced(inputs, t, _from_real_numbers(before + step * start, t))) for step in (eps, -eps)
        )
        for j, end in enumerate(ends):
            numeric = float(end @ (real_numbers(ahead[j]) - real_numbers(behind[j]))) / (2 * eps)
            given = found[j][i] if outputs else None
            analytic = 0.0 if given is None else float(real_numbers(given) @ start)
            if not np.isclose(
                analytic, numeric, rtol=rtol, atol=atol * max(float(np.linalg.norm(end)), 1), equal_nan=True
            ):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {i},\nnumerical:{numeric}\n"
                    f"analytical:{analytic}\nalong one direction of each; fast_mode=False compares every element"
                )


def _replaced(inputs: Sequence[Any], old: Tensor, new: Tensor) -> list[Any]:
    """The inputs, with every occurrence of one tensor replaced by another."""
    return [new.requires_grad_() if value is old else value for value in inputs]


def _from_real_numbers(numbers: np.ndarray[Any, np.dtype[np.float64]], like: Tensor) -> Tensor:
    """The tensor of these `real_numbers`, with the shape and dtype of another."""
    values = numbers.view(np.complex128) if like.dtype.is_complex else numbers
    return from_array(values.astype(like.dtype.numpy).reshape(like._shape), like.dtype)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Compare second derivatives with finite differences of the first, as `gradcheck` does.

    `grad_outputs` defaults to fixed, asymmetric numbers of the outputs' shapes.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    positions = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        grad_outputs = []
        for o in outputs:
            numbers = np.asarray(sum(part * generator.standard_normal(o._shape) for part in parts(o)))
            grad_outputs.append(from_array(numbers, o.dtype).requires_grad_())
    grad_outputs = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)

    def first_gradients(*arguments: Any) -> Any:
        given, cotangents = arguments[: len(inputs)], arguments[len(inputs) :]
        results = _outputs(func, given)
        wanted = [given[i] for i in positions]
        found = grad(results, wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    arguments = (*inputs, *grad_outputs)
    return gradcheck(
        first_gradients, arguments, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, fast_mode=fast_mode
    )


def _tensors(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    """The results that are floating-point or complex tensors."""
    result = func(*inputs)
    results = [result] if isinstance(result, Tensor) else list(result)
    return [r for r in results if isinstance(r, Tensor) and r.dtype.category >= FLOATING]


def _outputs(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    """The results that can be differentiated."""
    return [r for r in _tensors(func, inputs) if r.requires_grad]


def parts(tensor: Tensor) -> tuple[complex, ...]:
    """The unit steps of an element of a tensor: along the real axis, and if complex along the imaginary one."""
    return (1.0, 1j) if tensor.dtype.is_complex else (1.0,)


def real_numbers(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    """All elements as a vector, a complex one as its two parts."""
    array = np.ascontiguousarray(tensor.detach().host_array())
    if array.dtype.kind == "c":
        return array.reshape(-1).astype(np.complex128).view(np.float64)
    return array.reshape(-1).astype(np.float64)


def _analytic(output: Tensor, checked: Sequence[Tensor]) -> list[np.ndarray[Any, Any]]:
    """For each input the Jacobian, a row for each real number of the input and a column for each of the output."""
    columns = [(element, part) for element in range(output.numel()) for part in parts(output)]
    jacobians = [np.zeros((t.numel() * len(parts(t)), len(columns))) for t in checked]
    for column, (element, part) in enumerate(columns):
        cotangent = np.zeros(output.numel(), output.dtype.numpy)
        cotangent[element] = part
        seed = from_array(cotangent.reshape(output._shape), output.dtype)
        found = grad(output, checked, seed, retain_graph=True, allow_unused=True)
        for jacobian, t, g in zip(jacobians, checked, found, strict=True):
            jacobian[:, column] = real_numbers(zeros_like(t) if g is None else g)
    return jacobians


def _numeric(
    results: Callable[..., list[Tensor]], func: Callable[..., Any], inputs: Sequence[Any], t: Tensor, eps: float
) -> list[np.ndarray[Any, Any]]:
    """The same Jacobians by central differences: of each of `results(func, inputs)`, with respect to one input.

    The input's memory is changed temporarily.
    """
    array = t.detach().array()
    rows: list[list[np.ndarray[Any, Any]]] = [[] for _ in results(func, inputs)]
    for index in np.ndindex(array.shape):
        before = array[index]
        for part in parts(t):
            ends = []
            for step in (eps, -eps):
                array[index] = before + step * part
                ends.append([real_numbers(result) for result in results(func, inputs)])
            for of_result, ahead, behind in zip(rows, *ends, strict=True):
                of_result.append((ahead - behind) / (2 * eps))
        array[index] = before
    return [np.array(of_result) for of_result in rows]
