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
# of the node that this call created. These pairs are not recorded while the
# program runs. A function finds them afterwards, in the records of the
# profile, which are in the order in which they began. A record has
#
# - `name`, and `scope`, which is `BACKWARD_FUNCTION` for the backward step of
#   a node. Calls of operators, blocks, and the engine's records around a step
#   have another scope;
# - `start` and `end`, in nanoseconds;
# - `thread`, the thread in which it ran;
# - `sequence`. In a record of the backward pass that belongs to a node, this
#   is the number of the node. In a call of an operator, it is the number that
#   the next node of this thread would have got when the call began. It is -1
#   where such a number does not exist: without gradients, and for the node of
#   a leaf;
# - `forward_thread`. In a record of the backward pass that belongs to a node,
#   this is the thread that created the node. Otherwise it is 0.
#
# The number of a node is used up when the node is created. From this you can
# tell which of the calls with the same number has created the node. Note that
#
# - each thread has its own numbers;
# - a backward pass may create nodes, too (`create_graph=True`), and the calls
#   inside it are calls like any other;
# - a graph may be walked twice (`retain_graph=True`). A call has only one
#   arrow, which leads to the first of the steps;
# - the profile may have begun after a node was created, whose step then has no
#   arrow.
#
# The library calls your function when it writes a trace.

# %%
from collections.abc import Sequence

from glasstorch.dispatch.record import BACKWARD_FUNCTION, Record


def arrows(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of a forward call and the step it led to, in the order of steps.

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
# When you have something, save the file and run
# `.venv/bin/workbook check 07.11`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.11` gives a hint, and
# `.venv/bin/workbook lab 07.11` opens a sheet for experiments.
