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
# # 04.2 A node for two arguments
#
# For each row of `derivatives.yaml` the generator writes two things: a class
# of nodes, and the autograd kernel that makes such a node when a call has to
# be recorded. Here you write both by hand, for `hypot(self, other)`, which is
# the length `sqrt(self**2 + other**2)`.
#
# The kernel is called with the key set of the call and the arguments. It
# decides whether to record, lets the kernels below it compute, and returns the
# result with a node or without one. Often only one argument needs a gradient,
# for instance because the other one is a measured distance.
#
# The node saves what its formulas need for the gradients that are wanted, and
# nothing else. It must not give a wrong gradient when a saved tensor was
# changed, nor keep memory longer than needed.

# %%
from typing import Any

import glasstorch as torch
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD

# What you can use:
#
# grad_mode.get()               whether grad mode is on
# gradient_edge(tensor)         where the gradient of a tensor goes, or None
# Node(edges)                   a node with these edges; your class is one
# SavedVariable(tensor)         saves an argument
# SavedVariable(tensor, node, 0)    saves the result of this node
# self.unpack(saved)            in a node: gives the saved tensor back
# self.next_edges               in a node: its edges, None where unwanted
# set_history(result, node)     makes the node the grad_fn of the result
# keys & BELOW_AUTOGRAD         the key set of the kernels below this one
# torch.ops.aten.hypot.default.redispatch(keys, tensor, tensor)
#                               calls the kernel for a key set


class HypotBackward0(Node):
    """One step backwards through hypot."""

    saved_self: SavedVariable | None
    saved_other: SavedVariable | None
    saved_result: SavedVariable | None

    def apply(self, grads: list[Any]) -> tuple[Any, ...]:
        """The gradients of the two arguments, from that of the result.

        `grads` holds one gradient, or None if none has arrived. The derivative
        by an argument is `argument / result`; computed with operators, it can
        be differentiated again. Return None for a gradient that is not wanted,
        and where no gradient has arrived. The engine takes care of shapes, as
        in 04.1.
        """
        raise NotImplementedError

    def release_variables(self) -> None:
        """Drop what was saved, and set `self.released` to True.

        From then on `unpack` raises, as a second pass needs a kept graph.
        """
        raise NotImplementedError


def hypot(
    keys: int,
    self: torch.Tensor,
    other: torch.Tensor,
) -> torch.Tensor:
    """The length of both arguments together, recorded if a gradient is wanted.

    >>> x = torch.tensor([3.0, 8.0], requires_grad=True)
    >>> y = torch.tensor([4.0, 15.0])
    >>> hypot(x.key_set | y.key_set, x, y)
    tensor([ 5., 17.], grad_fn=<HypotBackward0>)
    >>> hypot(x.key_set | y.key_set, x.detach(), y)
    tensor([ 5., 17.])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.2`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.2` gives a hint, and
# `.venv/bin/workbook lab 04.2` opens a sheet for experiments.
