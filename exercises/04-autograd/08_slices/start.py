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
# # 04.8 A part replaced
#
# `y[1:3].mul_(f)` writes into a slice of y. Afterwards y, the base of the
# slice, has new values in one part and its old values everywhere else. Its new
# node is a `CopySlices`, which holds the node of the operator itself, here
# that of `mul_`, and does not depend on its formula.
#
# Write its backward step. What arrives is the gradient of the whole new base.
# Within the part it has to go through the operator's node, which returns the
# gradients of all arguments of the operator: first that of the slice as it was
# before, then the others. Outside the part it passes unchanged.
#
# The library will call your step for every tensor that was changed through a
# view: a slice, a column, a diagonal, the real part of a complex tensor.

# %%
from typing import Any

import glasstorch as torch
from glasstorch.autograd.copy_slices import CopySlices
from glasstorch.autograd.node import only_wanted
from glasstorch.autograd.seen import seen_in

# What you can use:
#
# node.function       the operator's own node; None once the graph was freed
# node.next_edges     the edge of the old base, or None if no gradient of it is
#                     wanted; then those of the operator's other arguments
# node.base           shape, strides and offset of the base
# node.view           the same of each view up to the part, the part last
# node.unpack(None)   raises the error for a graph that was freed
# seen_in(whole, node.base, node.view)    the part of a tensor `whole` with the
#                     strides of the base, as a view of it
# grad.new_empty_strided(shape, strides)    a new tensor like `grad`
# function.apply([gradient])    the step of the operator's node: a gradient for
#                     each argument, or None. Call it in this block, since its
#                     first edge leads out of the graph:
#                         with only_wanted(None):
#                             ...


def apply(
    node: CopySlices,
    grads: list[torch.Tensor | None],
) -> tuple[Any, ...] | list[Any]:
    """The gradients along `node.next_edges`, from that of the new base.

    `grads` holds one gradient, or None if none has arrived; then all gradients
    that you return are None. Do not write into the gradient that arrived:
    other nodes may use it. It may be laid out in memory in another way than
    the base. No two gradients that you return may share memory, because the
    engine may write into one of them. Under `create_graph=True` the step is
    recorded.

    >>> w = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    >>> f = torch.tensor([10.0, 20.0], requires_grad=True)
    >>> y = w * 1
    >>> y[1:3].mul_(f).tolist()
    [20.0, 60.0]
    >>> base, factor = apply(y.grad_fn, [torch.ones(4)])
    >>> base.tolist(), factor.tolist()
    ([1.0, 10.0, 20.0, 1.0], [2.0, 3.0])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.8`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.8` gives a hint, and
# `.venv/bin/workbook lab 04.8` opens a sheet for experiments.
