# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07.12 A clip in a hurry
#
# Between `loss.backward()` and `optimizer.step()`, a training loop calls
# `clip_grad_norm_`. If the norm of all gradients together is above a limit, it
# multiplies all of them by one factor, so that their norm becomes the limit.
# `_hasty` below does this correctly for a single tensor whose gradient is too
# large. Its users compared the losses of a GPT with those that PyTorch prints:
#
# - if it is called with `model.parameters()`, it has no effect: the losses are
#   those of a loop without clipping;
# - if it is called with `list(model.parameters())`, the losses differ from
#   line 3 on, and after each call the norm of all gradients is well below the
#   limit;
# - with a list of one parameter, the losses agree up to the first step in
#   which the norm is below the limit. From then on they do not converge;
# - a loop requests an error if a gradient is infinite, catches it, sets that
#   gradient to zero and takes the step, after which the loss is NaN.
#
# There are four places to change.

# %%
import warnings
from collections.abc import Iterable
from types import GeneratorType

import glasstorch as torch
from glasstorch import Tensor

EMPTY = "`parameters` is an empty generator, no gradient clipping will occur."
NOT_FINITE = (
    "The total norm of order {} for gradients from `parameters` is "
    "non-finite, so it cannot be clipped. To disable this error and scale "
    "the gradients by the non-finite norm anyway, set "
    "`error_if_nonfinite=False`"
)


@torch.no_grad()
def _hasty(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Clipping, written in a hurry."""
    found = [parameters] if isinstance(parameters, Tensor) else parameters
    gradients = [one.grad for one in found if one.grad is not None]
    if isinstance(parameters, GeneratorType) and not gradients:
        warnings.warn(EMPTY, stacklevel=3)
    order = float(norm_type)
    norms = [torch.linalg.vector_norm(each, order) for each in gradients]
    total = torch.stack(norms).sum() if norms else torch.zeros(())
    factor = max_norm / (total + 1e-6)
    for one in found:
        if one.grad is not None:
            one.grad.mul_(factor)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(NOT_FINITE.format(order))
    return total


def clip(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all gradients before clipping: `_hasty`, mended.

    The norm is that of one vector with the elements of all gradients, of the
    order `norm_type`. If it is above `max_norm`, all gradients are multiplied
    in place by one factor, so that their norm becomes `max_norm`. Otherwise
    they are not changed. Parameters without a gradient are ignored.

    >>> p, q = torch.zeros(1), torch.zeros(1)
    >>> p.grad, q.grad = torch.tensor([3.0]), torch.tensor([4.0])
    >>> clip([p, q], 1.0)
    tensor(5.)
    >>> p.grad, q.grad
    (tensor([0.6000]), tensor([0.8000]))

    With `error_if_nonfinite`, RuntimeError is raised for a norm that is
    infinite or NaN, and no gradient is changed. `foreach` is accepted, but has
    no effect.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.12`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.12` gives a hint, and
# `.venv/bin/workbook lab 07.12` opens a sheet for experiments.
