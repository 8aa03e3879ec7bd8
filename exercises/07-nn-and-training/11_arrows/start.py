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
# # 07.11 Arrows in a trace
#
# A viewer of traces draws an arrow from a forward call to the backward step
# of the node that this call made. The pairs are not written down while the
# program runs. The function that finds them is given the records of the
# profile, in the order in which they began. Of each record it knows
#
# - `name`, and `scope`: `BACKWARD_FUNCTION` for a node's backward step,
#   another one for calls of operators, for blocks, and for what the engine
#   does around a step;
# - `start` and `end`, in nanoseconds;
# - `thread`, in which it ran;
# - `sequence`. In a record of the backward pass that belongs to a node it is
#   the node's number. In a call of an operator it is the number that the next
#   node of this thread would have when the call began. It is -1 where there
#   is no such number: without gradients, and for the node of a leaf;
# - `forward_thread`. In a record of the backward pass that belongs to a node
#   it is the thread that made the node. Everywhere else it is 0.
#
# A node's number is used up when the node is made. With that you can say which
# of the calls that carry a number has made its node. Mind that
#
# - several threads count on their own;
# - a backward pass may make nodes, too (`create_graph=True`), and calls inside
#   it are calls like others;
# - a graph may be walked twice (`retain_graph=True`). The viewer wants one
#   arrow for a call: it leads to the first of the steps;
# - the profile may have begun after a node was made. Its step has no arrow.
#
# The library calls your function when it writes a trace.

# %%
from collections.abc import Sequence

from glasstorch.dispatch.record import BACKWARD_FUNCTION, Record


def arrows(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of a forward call and the step it led to, in the steps' order.

    >>> call = Record(("aten::exp", "", 0), 10, 20, sequence=4, thread=1)
    >>> step = Record(
    ...     ("ExpBackward0", "", BACKWARD_FUNCTION),
    ...     *(30, 40),
    ...     sequence=4,
    ...     thread=1,
    ...     forward_thread=1,
    ... )
    >>> arrows([call, step]) == [(call, step)]
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 07.11`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 07.11` gives a nudge, `workbook lab 07.11` a sheet to
# play on.
