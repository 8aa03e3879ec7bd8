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
# # 06.11 Find a pattern
#
# A compiler looks for groups of operators that it can replace by a better one:
# two products with a softmax between them are attention, and a matrix that is
# transposed twice is the matrix itself. Such a group is described by a
# pattern, which is written from its last operator backwards:
#
#     Op("add", Either(Op("mul", Arg("x"), Arg("y")), Arg("x")), 1)
#
# This stands for `x * y + 1` and for `x + 1`. Write the search: does a pattern
# end at a certain node of a graph? Attention, casts there and back, folded
# norms and all other patterns of the library are then found by your function.

# %%
from typing import Any

from glasstorch.compiler.patterns.matcher import (
    NOTHING,
    Arg,
    Either,
    Match,
    Op,
    Reader,
)
from glasstorch.fx import Node


def find(
    pattern: Any,
    anchor: Node,
    read: Reader,
    alone: bool = True,
) -> Match | None:
    """The match of a pattern whose last operator is a node, or None.

    `read(node)` says what a node does: an operation with a `word` and a tuple
    of `operands`, which are nodes or constants. It is None for an input, and
    for whatever no pattern is about.

    A pattern is one of these:

    - `Arg(name)` matches anything, a constant too. Where the same name stands
      in two places, both have to be the same node, or equal constants of the
      same class.
    - `Op(words, ...)` matches a node whose word is one of `pattern.words`, and
      whose operands, as many as there are in `pattern.operands`, match these.
    - `Either(...)` matches what the first of its `options` matches that
      matches at all.
    - Anything else is a constant, and matches an equal one of the same class:
      1 matches neither 1.0 nor True.

    A node whose word is NOTHING gives back its only operand, such as a cast to
    the dtype that it has. Where an `Op` is expected it is passed over, and its
    operand is looked at instead.

    `Match(anchor, values, nodes)` has a dict from the names of arguments to
    what they are, and a tuple of the nodes that will be replaced, those that
    were passed over too: each before the nodes that it uses, so that they can
    be erased in this order.

    With `alone`, there is no match if a node other than the anchor has a user
    outside of the match, since its value is then needed anyway.

    >>> import glasstorch as torch
    >>> from glasstorch.compiler.patterns.traced_operators import read
    >>> from glasstorch.fx.experimental.proxy_tensor import make_fx
    >>> graph = make_fx(lambda x: x.t().t())(torch.ones(2, 3)).graph
    >>> *_, last, output = graph.nodes
    >>> match = find(Op("t", Op("t", Arg("x"))), last, read)
    >>> match["x"], match.nodes
    (x_1, (t_1, t))
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.11`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.11` gives a hint, and
# `.venv/bin/workbook lab 06.11` opens a sheet for experiments.
