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
# # 04.2 A node and its kernel
#
# For each row of `derivatives.yaml` the generator writes two things: a class
# of nodes, and the autograd kernel that makes a node where a call is to be
# recorded. Here you write both by hand, for `sigmoid`.
#
# The kernel is called with the key set of the call and the argument. It
# decides whether to record, lets the kernels below it compute, and hands back
# the result: with a node, or without. The node keeps what its formula needs,
# and must not be in anybody's way: no wrong gradient when a saved tensor was
# changed, no memory held longer than needed.

# %%
from typing import Any

import glasstorch as torch
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD

# What there is to use:
#
# grad_mode.get()               whether calls are recorded here and now
# gradient_edge(tensor)         where the gradient of a tensor goes, or None
# Node(edges)                   a node with these edges; your class is one
# SavedVariable(tensor)         saves an argument
# SavedVariable(tensor, node, 0)    saves the result of this node
# self.unpack(saved)            in a node: the saved tensor again
# set_history(result, node)     makes the node the grad_fn of the result
# keys & BELOW_AUTOGRAD         the key set of the kernels below this one
# torch.ops.aten.sigmoid.default.redispatch(keys, tensor)
#                               calls the kernel for a key set


class SigmoidBackward0(Node):
    """One step backwards through sigmoid."""

    saved_result: SavedVariable | None

    def apply(self, grads: list[Any]) -> tuple[Any, ...]:
        """The gradient of the argument, in a tuple, from that of the result.

        `grads` holds one gradient, or None if none has arrived. The derivative
        of sigmoid is `result * (1 - result)`. Written in operators, it can be
        differentiated again.
        """
        raise NotImplementedError

    def release_variables(self) -> None:
        """Let go of what was saved, and set `self.released` to True.

        From then on `unpack` refuses: a second pass needs a kept graph.
        """
        raise NotImplementedError


def sigmoid(keys: int, self: torch.Tensor) -> torch.Tensor:
    """The sigmoid of a tensor, recorded if that is wanted.

    >>> x = torch.tensor([0.0, 2.0], requires_grad=True)
    >>> sigmoid(x.key_set, x)
    tensor([0.5000, 0.8808], grad_fn=<SigmoidBackward0>)
    >>> sigmoid(x.key_set, x.detach())
    tensor([0.5000, 0.8808])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 04.2`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 04.2` gives a nudge, `workbook lab 04.2` a sheet to play on.
