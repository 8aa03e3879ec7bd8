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
# # 04.7 The version check
#
# A node keeps each tensor that its formula needs in a `SavedVariable`, which
# notes the version that the tensor has at that moment. When the node runs, it
# asks for the tensor back. Between the two moments anything may have happened
# to the tensor, and this is the only place where that can be noticed.
#
# Write this place. Every saved tensor of every backward pass in the library
# will go through your function.
#
# An argument was saved as it is, so it is handed back as it is. A result of
# the node's own was saved without its history, on the same memory: a node that
# held its own result, and the result its node, would never be let go. For a
# second derivative the history has to be there again.

# %%
import glasstorch as torch
from glasstorch._tensor import alias
from glasstorch.autograd.history import AutogradMeta
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.errors import AutogradError

# What there is to use:
#
# saved.tensor        what was kept: an argument, or a tensor without history
#                     on the memory of a result
# saved.version       the version that it had then
# saved.output_nr     which result of the node it is; -1 for an argument
# saved.had_node      whether it was an argument that had a grad_fn
# tensor._version     the version that a tensor has now
# saved._changed(owner, version)    the message for a tensor that was changed
# alias(tensor)       a tensor on the same memory, without history
# AutogradMeta()      autograd's record of a tensor, to be filled
# tensor._autograd_meta    the record, or None; it has `grad_fn`, `output_nr`,
#                     and in forward mode `tangent`
# owner.result_edge(number)    the two things to be written into `grad_fn` and
#                     `output_nr` of a result with this number


def unpack(
    saved: SavedVariable,
    owner: Node,
    shown: bool = False,
) -> torch.Tensor:
    """The tensor that `owner` saved, with its history.

    AutogradError if it was changed in place since, with the message for that.

    AutogradError if an argument was computed when it was saved and has no
    history any more: `detach_()` took it. The message begins with "Trying to
    use a saved tensor that has been detached in-place". Such a tensor may be
    shown (`shown`), as `_saved_self` shows it, because no gradient is computed
    from it.

    The history of a result is given to a new tensor on the same memory; what
    was kept stays without one. If what was kept has a tangent, the new tensor
    has it, too. Integers have no history.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> node = (x * x).grad_fn
    >>> unpack(node.saved_self, node) is x
    True
    >>> node = x.exp().grad_fn
    >>> unpack(node.saved_result, node)
    tensor([2.7183, 7.3891], grad_fn=<ExpBackward0>)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.7`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.7` gives a hint, and
# `.venv/bin/workbook lab 04.7` opens a sheet for experiments.
