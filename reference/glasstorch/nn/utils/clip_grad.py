"""How are gradients that are too large made smaller?

Mirrors: torch/nn/utils/clip_grad.py
Differs: the norms of all tensors are one call of `_foreach_norm`, whatever `foreach` says.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from inspect import isgenerator

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.errors import ArgumentError
from glasstorch.operators.generated import functions as operators

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


@no_grad()
def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of all tensors together, without dimensions."""
    found = _listed(tensors)
    norm_type = float(norm_type)
    if not found:
        return operators.zeros(())
    device = found[0].device
    norms = [operators.linalg_vector_norm(tensor, norm_type) for tensor in found]
    total = operators.linalg_vector_norm(operators.stack([norm.to(device) for norm in norms]), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise ArgumentError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiply all gradients, in place, by `max_norm / (total_norm + 1e-6)` where that is less than 1."""
    factor = operators.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.mul_(factor.to(parameter.grad.device))


@no_grad()
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients together, in place, so that their norm is at most `max_norm`; returns the norm before."""
    found = _listed(parameters)
    if isgenerator(parameters) and not found:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    gradients = [parameter.grad for parameter in found if parameter.grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(found, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Deprecated in PyTorch: `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp all gradients, in place, to values between `-clip_value` and `clip_value`."""
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(min=-float(clip_value), max=float(clip_value))
