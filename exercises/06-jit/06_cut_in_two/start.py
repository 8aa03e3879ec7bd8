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
# # 06.6 Cut in two
#
# A joint graph computes the results of a function and, from the gradients that
# arrive, the gradients of its arguments. It cannot run as it is, because those
# gradients are known only when the program calls `backward()`. So it is cut in
# two. The forward part returns the results, and behind them each value that
# the backward part will need. These are kept until then.
#
# Write the partition that cuts where eager mode would. Every function that the
# library compiles together with its gradients will be cut by it.
#
# `_extract_fwd_bwd_modules(joint_module, kept, num_fwd_outputs=...)` makes the
# two modules once you know which values are kept. It would leave out what
# backward does not use, so the check looks at the list that you give it.

# %%
from typing import Any

from glasstorch.compiler.partition import _extract_fwd_bwd_modules
from glasstorch.fx import GraphModule


def default_partition(
    joint_module: GraphModule,
    _joint_inputs: Any,
    *,
    num_fwd_outputs: int,
    **unused: Any,
) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward module of a joint graph.

    `node.meta["partitioner_tag"]` is "is_backward" in the nodes that were
    recorded while autograd computed the gradients, and "is_forward" in those
    before. It says nothing of two kinds of nodes: an input whose target begins
    with "tangents" is a gradient that arrives, so backward has it already; and
    the output takes from both parts.

    A value is kept if forward has or makes it and backward uses it, in the
    order of the graph. An argument of the function can be kept, too. A node
    that fetches a constant (`get_attr`) is never kept, since both parts can
    fetch it.

    `unused` and the examples in `_joint_inputs` play no role here, and the
    joint graph stays as it is.

    >>> import glasstorch as torch
    >>> from glasstorch._functorch.aot_autograd import aot_function
    >>> from glasstorch._functorch.aot_autograd import make_boxed_func
    >>> def compiler(module, examples):
    ...     print(module.graph.output_node().args[0])
    ...     return make_boxed_func(module)
    >>> def f(x, w):
    ...     return (x * w).sum()
    >>> run = aot_function(f, compiler, partition_fn=default_partition)
    >>> y = run(torch.ones(2), torch.ones(2, requires_grad=True))
    (sum_1, primals_1)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.6`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.6` gives a hint, and
# `.venv/bin/workbook lab 06.6` opens a sheet for experiments.
