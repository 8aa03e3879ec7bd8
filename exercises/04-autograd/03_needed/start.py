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
# # 04.3 Which nodes must run
#
# `torch.autograd.grad(loss, b)` and `loss.backward(inputs=[w])` ask for some
# of the gradients only. A node from which none of these can be reached would
# run for nothing, and an accumulator that ran would fill a `.grad` that the
# call did not ask for. So a pass of this kind first finds the nodes that have
# to run.
#
# The wanted gradients are given as nodes, the *targets*. What arrives at a
# target is the wanted gradient, and `torch.autograd.grad` only has to return
# it. So the target itself need not run, unless another target lies behind it.
# `backward(inputs=[w])` runs the targets as well, since `.grad` is filled when
# a node runs. The library adds them to what your function returns.
#
# Write the search. The library calls it before each pass of the two kinds.
# In PyTorch it is `GraphTask::init_to_execute` in `engine.cpp`.

# %%
from collections.abc import Collection, Sequence

from glasstorch.autograd.node import Edge, Node


def nodes_leading_to(
    roots: Sequence[Edge],
    targets: Collection[Node],
) -> set[Node]:
    """The nodes below the roots that must run for the targets.

    A node must run if at least one of its edges leads to a target, or to a
    node that must run. The roots count as nodes below the roots. A target may
    lie behind other targets, or not be below the roots at all.

    An edge is a pair of a node and a number, or None where it leads nowhere;
    `node.next_edges` holds the edges that start from a node.

    >>> import glasstorch as torch
    >>> w = torch.tensor(1.0, requires_grad=True)
    >>> v = torch.tensor(1.0, requires_grad=True)
    >>> b, c = w * 2, v.exp()
    >>> loss = b * c
    >>> roots = [(loss.grad_fn, 0)]
    >>> nodes_leading_to(roots, {b.grad_fn}) == {loss.grad_fn}
    True
    >>> (accumulator, _), _ = b.grad_fn.next_edges
    >>> needed = nodes_leading_to(roots, {accumulator})
    >>> needed == {loss.grad_fn, b.grad_fn}
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.3` gives a hint, and
# `.venv/bin/workbook lab 04.3` opens a sheet for experiments.
