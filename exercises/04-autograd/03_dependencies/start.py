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
# # 04.3 Counting edges
#
# A node may run when a gradient has come over each edge that leads to it. How
# many edges those are is written nowhere: an edge is kept by the node that it
# starts from. So the engine counts, at the beginning of every pass, and only
# the edges below the roots that this pass starts from.
#
# Write the count. Every `backward()` of the library will begin with it.

# %%
from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def compute_dependencies(roots: Sequence[Edge]) -> dict[Node, int]:
    """For every node below the roots, how many edges lead to it.

    An edge is a pair of a node and a number, or None where it leads nowhere;
    `node.next_edges` are those that start from a node. The roots are edges
    too, but they come from outside and are not counted. A node to which no
    edge leads may be left out.

    >>> import glasstorch as torch
    >>> w = torch.tensor(1.0, requires_grad=True)
    >>> b = w * 2
    >>> c = b * b
    >>> counts = compute_dependencies([((c + b).grad_fn, 0)])
    >>> counts[c.grad_fn], counts[b.grad_fn]
    (1, 3)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 04.3`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 04.3` gives a nudge, `workbook lab 04.3` a sheet to play on.
