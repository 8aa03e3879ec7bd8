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
# # 04.17 An engine that survives depth
#
# Before `torch.autograd.grad(loss, w)` or `backward(inputs=[w])` runs a node,
# it finds the nodes that lead to `w`. To judge each node only once, it goes
# through the graph in an order in which each node comes after all nodes that
# its edges lead to. The plain way to find this order is recursive:
#
#     def visit(node):
#         if node not in done:
#             done.add(node)
#             for edge in node.next_edges:
#                 if edge is not None:
#                     visit(edge[0])
#             order.append(node)
#
# The graph of a loop of 1,000 steps is already too deep for Python's stack,
# and in C++ a deep recursion ends the process. So in PyTorch's
# `init_to_execute`, in `engine.cpp`, this recursion is only a comment, beside
# a loop that does the same.
#
# Write the loop. It returns the order reversed, with the roots first. More
# than one order may be right, and yours need not be that of `visit`. The
# library calls your function in each pass that wants some of the gradients.

# %%
from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def sorted_below(roots: Sequence[Edge]) -> list[Node]:
    """The roots and all nodes that can be reached from them, each once.

    Each node comes before all nodes that its edges lead to. One root may lie
    below another, and the same root may be given twice.

    An edge is a pair of a node and a number, or None where it leads nowhere;
    `node.next_edges` holds the edges that start from a node. The numbers of
    nodes, `sequence_nr`, do not help, because each thread counts its own.

    >>> import glasstorch as torch
    >>> w = torch.tensor(1.0, requires_grad=True)
    >>> b = w * 2
    >>> c = b.exp()
    >>> (accumulator, _), _ = b.grad_fn.next_edges
    >>> order = sorted_below([((b * c).grad_fn, 0)])
    >>> order[1:] == [c.grad_fn, b.grad_fn, accumulator]
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.17`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.17` gives a hint, and
# `.venv/bin/workbook lab 04.17` opens a sheet for experiments.
