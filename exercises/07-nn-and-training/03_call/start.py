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
# # 07.3 A call in a hurry
#
# A module that has hooks is called through a `Call`, an object that represents
# this one call. `run` executes its parts in order:
#
# | of a call | what it is, or does |
# |---|---|
# | `module`, `args`, `kwargs` | the module and the arguments of the call |
# | `result` | the output; None until there is one |
# | `called` | the numbers of the forward hooks that were called |
# | `_run_forward_pre_hooks()` | may replace `args` and `kwargs` |
# | `_forward_hooks()` | pairs of a number and a forward hook |
# | `_run_forward_hook(number, hook)` | may replace `result` |
# | `_run_always_called_hooks()` | calls those that are not in `called` |
# | `_backward_hook()` | puts the two nodes around the call, or is None |
# | `_register_non_full_backward_hooks()` | for older hooks; goes last |
#
# `_hasty` below is such a `run`. It works correctly in a network without
# errors whose hooks replace nothing. Its users report:
#
# - with a pre-hook that scales the input, a backward hook receives gradients
#   of another tensor than the input that `forward` received;
# - with a forward hook that replaces the output, a backward hook receives
#   gradients of another tensor than the output that the caller received;
# - a hook that is always called, and that itself raised an error, was called
#   twice;
# - a training loop continued after an error in `forward`, with the result
#   None.
#
# There are four places to change. All lines that you need are already there,
# except for one.

# %%
from typing import Any

from glasstorch.nn.modules.calling import Call


def _hasty(call: Call) -> Any:
    """A call of a module, written in a hurry."""
    try:
        backward = call._backward_hook()
        if backward is not None:
            call.args = backward.setup_input_hook(call.args)
        call._run_forward_pre_hooks()
        call.result = call.module.forward(*call.args, **call.kwargs)
        if backward is not None:
            call.result = call._watched(backward)
        for number, hook in call._forward_hooks():
            call._run_forward_hook(number, hook)
            call.called.add(number)
        call._register_non_full_backward_hooks()
    except Exception:  # noqa: BLE001
        call._run_always_called_hooks()
    return call.result


def run(call: Call) -> Any:
    """The output of a call after all of its hooks: `_hasty`, mended.

    `backward.setup_input_hook(args)` returns the arguments as tensors that are
    watched: the backward hooks receive the gradients of the tensors that it
    returns. `call._watched(backward)` does the same for `call.result`.

    After an error in a hook or in `forward`, the forward hooks that were
    registered with `always_call` run, unless they have already been called,
    and the error is raised to the caller.

    >>> import glasstorch as torch
    >>> layer = torch.nn.Identity()
    >>> add = lambda module, args, output: output + 1
    >>> handle = layer.register_forward_hook(add)
    >>> run(Call(layer, (torch.ones(2),), {}))
    tensor([2., 2.])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.3` gives a hint, and
# `.venv/bin/workbook lab 07.3` opens a sheet for experiments.
