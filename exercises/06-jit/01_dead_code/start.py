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
# # 06.1 Dead code
#
# A pass is a function that changes a graph and returns whether it did. This
# pass removes the nodes that are not needed. A node is needed if
#
# - one of its outputs is used, or
# - it has a side effect (`has_side_effects`), such as drawing a random number,
#   or
# - it writes to memory that is read later.
#
# The values that the graph returns are read at the very end. Memory that
# existed before the graph ran belongs to the caller, who may read it at any
# time; it is called `OUTSIDE`.
#
# The names in a graph do not say which values share memory, so use the
# library's analysis. An `AliasAnalysis(graph)` gives for each value the places
# in memory that it may have, and for each node the places that it writes to;
# both are sets. A view has the places of its base.
#
# Write the pass. Its graphs have no blocks, because those of traced programs
# have none. The library will then run it as its own, on every traced program.

# %%
from glasstorch.jit.alias_analysis import OUTSIDE, AliasAnalysis
from glasstorch.jit.ir import Graph
from glasstorch.jit.side_effects import has_side_effects


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that are not needed; returns whether there were any.

    `graph.nodes` are the nodes in their order, `graph.outputs` the values that
    the graph returns. You also need `node.inputs`, `node.outputs`,
    `value.uses` and `node.destroy()`, which refuses a node with an output that
    is used. Of an `AliasAnalysis` you need `places(value)` and `writes(node)`.

    >>> from glasstorch.jit.parser import parse_ir
    >>> graph = parse_ir('''
    ... graph(%x : Tensor):
    ...   %a : Tensor = aten::neg(%x)
    ...   %b : Tensor = aten::exp(%a)
    ...   %c : Tensor = aten::tanh(%x)
    ...   return (%c)
    ... ''')
    >>> eliminate_dead_code(graph)
    True
    >>> print(graph)
    graph(%x : Tensor):
      %c : Tensor = aten::tanh(%x)
      return (%c)
    <BLANKLINE>

    A second run finds nothing.

    >>> eliminate_dead_code(graph)
    False
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.1` gives a hint, and
# `.venv/bin/workbook lab 06.1` opens a sheet for experiments.
