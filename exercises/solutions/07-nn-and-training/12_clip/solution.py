"""Walks through a list, takes the norm of the norms, never scales up, and raises before it changes a gradient."""

import warnings
from collections.abc import Iterable
from types import GeneratorType

import glasstorch as torch
from glasstorch import Tensor

EMPTY = "`parameters` is an empty generator, no gradient clipping will occur."
NOT_FINITE = (
    "The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable "
    "this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
)


@torch.no_grad()
def clip(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all gradients before clipping."""
    found = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    gradients = [one.grad for one in found if one.grad is not None]
    if isinstance(parameters, GeneratorType) and not gradients:
        warnings.warn(EMPTY, stacklevel=3)
    norms = [torch.linalg.vector_norm(gradient, float(norm_type)) for gradient in gradients]
    total = torch.linalg.vector_norm(torch.stack(norms), float(norm_type)) if norms else torch.zeros(())
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(NOT_FINITE.format(float(norm_type)))
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for one in found:
        if one.grad is not None:
            one.grad.mul_(factor)
    return total
