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
# A node saves each tensor that its formula needs in a `SavedVariable`, which
# notes the version that the tensor has at that moment. When the node runs, it
# unpacks the tensor. Between the two moments the program may have changed it,
# and only while unpacking can that be noticed.
#
# Write the function that unpacks. Every saved tensor of every backward pass in
# the library will go through it.
#
# An argument was saved as it is, so it is returned as it is. A result of the
# node's own was saved without its history, as a second tensor on the same
# memory: if the node held its result and the result its node, the two would
# form a cycle. A second derivative needs the history, so you put it back.

# %%
import glasstorch as torch
from glasstorch._tensor import alias
from glasstorch.autograd.history import AutogradMeta
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.errors import AutogradError

# What you can use:
#
# saved.tensor        what was kept: an argument, or a tensor without history
#                     on the memory of a result
# saved.version       the version that it had when it was saved
# saved.output_nr     which result of the node it is; -1 for an argument
# saved.had_node      whether it was an argument that had a grad_fn
# tensor._version     the version that a tensor has now
# saved._changed(owner, version)    the message for a tensor that was changed
# alias(tensor)       a tensor on the same memory, without history
# AutogradMeta()      autograd's record of a tensor, to be filled
# tensor._autograd_meta    the record, or None; it has `grad_fn`, `output_nr`,
#                     and in forward mode `tangent`
# owner.result_edge(number)    the values of `grad_fn` and `output_nr` for the
#                     result with this number


def unpack(
    saved: SavedVariable,
    owner: Node,
    shown: bool = False,
) -> torch.Tensor:
    """The tensor that `owner` saved, with its history.

    Raises AutogradError, with the message for it, if the tensor was changed in
    place after it was saved.

    Raises AutogradError if an argument had a history when it was saved and has
    none now, because `detach_()` removed it. The message begins with "Trying
    to use a saved tensor that has been detached in-place". With `shown` such a
    tensor is returned all the same, as `_saved_self` shows it, because no
    gradient is computed from it.

    The history of a result is put on a new tensor on the same memory; what was
    kept stays without one. If what was kept has a tangent, the new tensor gets
    it, too. Integers have no history.

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
