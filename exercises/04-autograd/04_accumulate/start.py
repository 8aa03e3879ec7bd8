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
# them up as they come. Four additions into new tensors take four times the
# memory. Four additions into the first one take none, and are wrong whenever
# somebody else still looks at it: a node may hand one gradient to several
# edges, a hook may have kept it, and it may be a view of a single number.
#
# Write the decision, and the addition. The library asks it wherever gradients
# meet.

# %%
import glasstorch as torch
from glasstorch.core.geometry import is_non_overlapping_and_dense


def accumulate(
    arrived: torch.Tensor,
    grad: torch.Tensor,
    *,
    shared: bool,
    recording: bool,
) -> torch.Tensor:
    """The sum of a gradient that has arrived and of the next one.

    Both have the same sizes and dtype. `shared` says whether anybody but the
    engine has `arrived` or its memory. `recording` says whether the sum needs
    a history of its own, as under `create_graph=True`. Of `grad` nobody knows
    who has it.

    Where it is safe the result is `arrived` itself, written into; elsewhere it
    is a new tensor. Safe also means that the memory of `arrived` holds each of
    its elements once, without gaps: `is_non_overlapping_and_dense(shape,
    strides)` tells.

    >>> arrived = torch.tensor([1.0, 2.0])
    >>> grad = torch.tensor([10.0, 20.0])
    >>> total = accumulate(arrived, grad, shared=False, recording=False)
    >>> total, total.data_ptr() == arrived.data_ptr()
    (tensor([11., 22.]), True)
    >>> total = accumulate(arrived, grad, shared=True, recording=False)
    >>> total, total.data_ptr() == arrived.data_ptr()
    (tensor([21., 42.]), False)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 04.4`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 04.4` gives a nudge, `workbook lab 04.4` a sheet to play on.
