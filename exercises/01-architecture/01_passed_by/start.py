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
# # 01.1 Which keys passed by
#
# A trace lists the kernels that ran. A key that was passed by ran no kernel,
# so the trace has no line for it. It can still be found, because each hop
# records the key set in which its key was looked up:
#
# | of a hop | what it is |
# |---|---|
# | `depth` | inside how many kernels it runs |
# | `operator` | the name of the operator |
# | `key` | the key whose kernel ran |
# | `keys` | the key set in which that key was found, as an integer |
#
# The hops of a trace are in the order in which they began, and not all of them
# belong to one call. A hop at depth 1 or more was made by a kernel that runs
# one level above it, and there are two ways in which a kernel can make a hop.
# It can redispatch: then the hop has the same operator, and its set has no key
# that was not in the kernel's set. Such a hop belongs to the same call. Or the
# kernel can make another call.
#
# Write the function. The library's `trace()` then uses it to answer for a
# single hop (`hop.skipped`) and for a call (`hops.passed_by(0)`).

# %%
from collections.abc import Sequence

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.trace import Hop


def passed_by(hops: Sequence[Hop], first: int = 0) -> tuple[DispatchKey, ...]:
    """The keys that were passed by in the call that begins at hops[first].

    They are in the order in which the dispatcher came to them, each once.

    >>> import glasstorch as torch
    >>> from glasstorch.dispatch.trace import trace
    >>> x = torch.ones(2, 2)
    >>> with trace() as hops:
    ...     result = x + x
    >>> for hop in hops:
    ...     print(hop.depth, hop.operator, hop.key.name)
    0 aten::add.Tensor AutogradCPU
    1 aten::add.Tensor CPU
    >>> [key.name for key in passed_by(hops, 0)]
    ['ADInplaceOrView', 'BackendSelect']

    Only keys to which the dispatcher came are passed by: no key below that of
    the last hop of the call, and none that a kernel took out of the set before
    it redispatched.

    The dispatcher looks up a functionality such as autograd on the highest
    backend of the set, and passes it by as a whole.

    >>> from glasstorch.core.keys import key_set_of
    >>> both = key_set_of("CPU", "Meta", "AutogradCPU")
    >>> hop = Hop(0, "op", DispatchKey.Meta, "kernel", both, "f", "")
    >>> passed_by([hop])
    (<DispatchKey.AutogradMeta: 149>,)

    If all keys were passed by, the key of the hop is `Undefined`. A trace with
    `trace(as_run=True)`, which records what runs when nobody traces, has hops
    whose set is 0: there the dispatcher looked up no key.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.1` gives a hint, and
# `.venv/bin/workbook lab 01.1` opens a sheet for experiments.
