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
# # 06.5 The last use
#
# The code that FX generates lets go of each value as soon as it is not needed
# any more:
#
#     conv = self.conv(x);  x = None
#     norm = self.norm(conv)
#     add = norm + conv;  norm = conv = None
#     return add
#
# An `Interpreter` does the same with the values that it holds. Otherwise every
# result of a large model would stay in memory until the whole graph has run.
# Both ask one function at which node each value is used for the last time.
#
# Write this function. All generated code and all interpreters of the library
# will use it.

# %%
from collections.abc import Reversible

from glasstorch.fx import Node


def last_uses(nodes: Reversible[Node]) -> dict[Node, list[Node]]:
    """For each node, the nodes whose results it is the last to use.

    `nodes` are the nodes of a graph in the order in which they run; they can
    be iterated over as often as you like, and backwards, too. A node uses the
    results in its `all_input_nodes`, which names each of them once, wherever
    they stand among its arguments. The output of a graph is a node as well.

    Each list is in the order of `all_input_nodes`. A node that is the last to
    use nothing has no entry, and a result that is not used is in no list.

    >>> from glasstorch import fx
    >>> def f(x, y):
    ...     a = x + y
    ...     b = a * x
    ...     return b - a
    >>> x, y, add, mul, sub, output = nodes = fx.Tracer().trace(f).nodes
    >>> last_uses(nodes) == {
    ...     add: [y], mul: [x], sub: [mul, add], output: [sub],
    ... }
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.5`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.5` gives a hint, and
# `.venv/bin/workbook lab 06.5` opens a sheet for experiments.
