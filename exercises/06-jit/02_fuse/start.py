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
# # 06.2 May these two be fused?
#
# If one pointwise node uses the result of another, the two can become one
# loop. The loop takes the place of the second node, so the first one runs
# later than before: after all nodes that were between the two.
#
# Is that allowed? Some of the nodes between the two must stay behind the
# first. Such a node can be moved behind the loop, unless the second node must
# in turn stay behind it. Then there is no place for it, and the two may not be
# fused.
#
# A node must *stay behind* an earlier one if
#
# - it uses a result of the earlier one, or
# - one of the two writes to memory that the other touches, or
# - both have side effects (`has_side_effects`), such as drawing random
#   numbers, because side effects keep their order.
#
# If b must stay behind a, and c behind b, then c must stay behind a.
#
# Write the decision. The library's fuser will call it for every pair.

# %%
from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Node
from glasstorch.jit.passes.fuse_pointwise import is_fusible
from glasstorch.jit.side_effects import has_side_effects


def touched(node: Node, aliases: AliasAnalysis) -> set[object]:
    """The places in memory of a node's inputs and outputs."""
    values = (*node.inputs, *node.outputs)
    return set().union(*(aliases.places(value) for value in values))


def may_fuse(producer: Node, consumer: Node, aliases: AliasAnalysis) -> bool:
    """Whether two nodes may become one that stands where the consumer does.

    Both must be pointwise, which `is_fusible(node)` tells. The consumer must
    use a result of the producer; `value.node` is the node that makes a value.
    And both must be in one block (`node.owning_block`), because `node.next`,
    the node after a node, never leads into another block.
    `aliases.writes(node)` are the places in memory that a node writes to, and
    `touched` above returns those that it touches.

    >>> from glasstorch.jit.parser import parse_ir
    >>> graph = parse_ir('''
    ... graph(%x : Tensor, %y : Tensor):
    ...   %a : Tensor = aten::neg(%x)
    ...   %m : Tensor = aten::mm(%a, %y)
    ...   %b : Tensor = aten::exp(%a)
    ...   %c : Tensor = aten::mul(%b, %m)
    ...   return (%c)
    ... ''')
    >>> neg, mm, exp, mul = graph.nodes
    >>> aliases = AliasAnalysis(graph)

    `mm` can run after the loop of `neg` and `exp`. But `mm` is not pointwise,
    and `mul` does not use the result of `neg`.

    >>> may_fuse(neg, exp, aliases)
    True
    >>> may_fuse(exp, mul, aliases)
    True
    >>> may_fuse(neg, mm, aliases), may_fuse(neg, mul, aliases)
    (False, False)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.2`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.2` gives a hint, and
# `.venv/bin/workbook lab 06.2` opens a sheet for experiments.
