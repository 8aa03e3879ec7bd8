"""Does a derivative cope with gradients and tangents that are not there?

A gradient that is undefined stands for zeros. So does one that a backward pass gives to one of several outputs.

Mirrors: torch/autograd/gradcheck.py (_test_undefined_backward_mode, _test_undefined_forward_mode,
    _test_backward_mul_by_grad_output), torch/csrc/autograd/functions/basic_ops.cpp (UndefinedGrad)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd import forward_ad
from glasstorch.autograd.checking.analytical import make_duals
from glasstorch.autograd.checking.comparison import directions
from glasstorch.autograd.checking.messages import UNDEFINED_GIVES_GRADIENT, UNDEFINED_IS_NEW, UNDEFINED_REFUSED
from glasstorch.autograd.checking.numerical import Function
from glasstorch.autograd.checking.values import (
    GradcheckError,
    as_tuple,
    checked,
    differentiable,
    is_inexact,
    requires_grad,
)
from glasstorch.autograd.function import Function as AutogradFunction
from glasstorch.autograd.graph import grad
from glasstorch.operators.generated.functions import allclose, zeros_like


class UndefinedGrad(AutogradFunction):
    """Returns its input; in the backward pass an undefined gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> None:
        return None


def check_zeros(outputs: Sequence[Tensor], inputs: Sequence[Any], masked: bool | None) -> None:
    """Zeros as gradients of the outputs give zeros, of the inputs' dtypes, devices and sizes."""
    tensors = _some(inputs)
    found = grad(outputs, tensors, [o.new_zeros(o.shape) for o in outputs], allow_unused=True)
    for gradient, tensor in zip(found, tensors, strict=True):
        if gradient is None:
            continue
        is_zero = allclose(gradient, zeros_like(gradient)) if masked else bool(gradient.eq(0).all())
        if not is_zero:
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient.dtype != tensor.dtype:
            raise GradcheckError("grad is incorrect type")
        if gradient.device != tensor.device:
            raise GradcheckError("grad is incorrect device")
        if gradient.size() != tensor.size():
            raise GradcheckError("grad is incorrect size")


def check_undefined_backward(func: Function, outputs: Sequence[Tensor], inputs: Sequence[Any]) -> None:
    """Undefined gradients of all outputs, and of one of several, are accepted and give zeros where others do."""
    tensors = _some(inputs)
    all_undefined = [UndefinedGrad.apply(o) for o in differentiable(func(*inputs))]
    _check_support(all_undefined, tensors)
    if len(all_undefined) > 1:
        for place in range(len(outputs)):
            results = differentiable(func(*inputs))
            _check_support([UndefinedGrad.apply(o) if i == place else o for i, o in enumerate(results)], tensors)


def _some(inputs: Sequence[Any]) -> list[Tensor]:
    tensors = checked(inputs)
    if not tensors:
        raise GradcheckError("no Tensors requiring grad found in input")
    return tensors


def _check_support(outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> None:
    """A backward pass from zeros, on which some gradients become undefined, gives zeros or nothing."""
    try:
        found = grad(outputs, tensors, [o.new_zeros(o.shape) for o in outputs], allow_unused=True)
    except RuntimeError as error:
        warnings.warn(UNDEFINED_IS_NEW, stacklevel=4)
        raise GradcheckError(UNDEFINED_REFUSED) from error
    if any(gradient is not None and not gradient.eq(0).all() for gradient in found):
        warnings.warn(UNDEFINED_IS_NEW, stacklevel=4)
        raise GradcheckError(UNDEFINED_GIVES_GRADIENT)


def check_undefined_forward(func: Function, inputs: Sequence[Any]) -> None:
    """An input without a tangent gives the same tangents of the outputs as one whose tangent is zeros."""
    starts: Any = directions([t for t in inputs if requires_grad(t)], None)[0]
    with forward_ad.dual_level():
        duals, tangents = make_duals(inputs)
        for tangent, start in zip(tangents, starts, strict=True):
            tangent.copy_(start.view_as(tangent))
        for place, value in enumerate(inputs):
            if not requires_grad(value):
                continue
            with_zeros = list(duals)
            with_zeros[place] = forward_ad.make_dual(value.detach(), zeros_like(value))
            without = list(duals)
            without[place] = value.detach()
            results = (filter(is_inexact, as_tuple(func(*given))) for given in (with_zeros, without))
            for number, (one, other) in enumerate(zip(*results, strict=False)):
                first, second = forward_ad.unpack_dual(one).tangent, forward_ad.unpack_dual(other).tangent
                if first is not None and second is not None and not allclose(first, second):
                    raise GradcheckError(
                        "Mismatch in tangent values for output with index: ",
                        number,
                        " when input: ",
                        value,
                        " has an undefined tangent value. ",
                        " Got: ",
                        first,
                        " but expected: ",
                        second,
                    )
