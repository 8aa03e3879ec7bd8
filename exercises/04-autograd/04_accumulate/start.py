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
# # 04.4 In place or not
#
# A tensor that was used five times gets five gradients, and the engine adds
# them up as they arrive. Four additions that make new tensors allocate memory
# four times. Four additions into the gradient that arrived first allocate
# none, but in some passes they change a result.
#
# Write the decision and the addition: add in place wherever nothing else can
# observe it, and into a new tensor otherwise. There is one more condition: the
# sum must have no gaps between its elements, so that the next node gets it in
# one piece of memory. The library calls your function wherever gradients meet,
# and passes what the engine knows at that moment. Find out which of these
# facts matter, and what the tensors themselves tell you.

# %%
import glasstorch as torch


def accumulate(
    arrived: torch.Tensor,
    grad: torch.Tensor,
    *,
    others: int,
    grad_mode: bool,
) -> torch.Tensor:
    """The sum of a gradient that has arrived and of the next one.

    Both have the same sizes and dtype. `others` counts the references to
    `arrived` and to its memory that are not the engine's; references to `grad`
    are not counted. `grad_mode` says whether grad mode is on.

    The result is `arrived` itself, written into, or a new tensor. It has no
    gaps between its elements in memory; `arrived` may have gaps.

    >>> arrived = torch.tensor([1.0, 2.0])
    >>> grad = torch.tensor([10.0, 20.0])
    >>> total = accumulate(arrived, grad, others=0, grad_mode=False)
    >>> total, total.data_ptr() == arrived.data_ptr()
    (tensor([11., 22.]), True)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.4`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.4` gives a hint, and
# `.venv/bin/workbook lab 04.4` opens a sheet for experiments.
