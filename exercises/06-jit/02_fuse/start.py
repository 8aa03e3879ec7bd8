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
# Two pointwise nodes of which the second uses what the first gives can be one
# loop. The loop stands where the second one stood. So the first runs later
# than before: after all that stood between the two.
#
# Is that allowed? Some of what stands between must stay behind the first. It
# can be moved behind the loop, unless the second must stay behind it in turn:
# then it can stand nowhere, and the two may not be fused.
#
# A node must *stay behind* an earlier one if
#
# - it uses a value that the earlier one gives, or
# - one of the two writes to memory that the other touches, or
# - both have side effects (`has_side_effects`), such as drawing random
#   numbers: those keep their order.
#
# If b must stay behind a, and c behind b, then c must stay behind a.
#
# Write the decision. The library's fuser will ask yours for every pair.

# %%
from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Node
from glasstorch.jit.passes.fuse_pointwise import is_fusible
from glasstorch.jit.side_effects import has_side_effects


def touched(node: Node, aliases: AliasAnalysis) -> set[object]:
    """The places in memory of what a node takes and of what it gives."""
    values = (*node.inputs, *node.outputs)
    return set().union(*(aliases.places(value) for value in values))


def may_fuse(producer: Node, consumer: Node, aliases: AliasAnalysis) -> bool:
    """Whether two nodes may become one that stands where the consumer does.

    Both must be pointwise: `is_fusible(node)` knows. The consumer must use
    what the producer gives: `value.node` is the node that makes a value. And
    both must stand in one block (`node.owning_block`): `node.next` is the
    node after a node, and a walk along it never gets into another block.
    `aliases.writes(node)` are the places in memory that a node writes to,
    `touched` above gives those that it touches.

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

    The product can wait until `neg` and `exp` are done. But `mul` uses the
    product, which uses what `neg` gives.

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
