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
# # 01.1 Which keys were passed by
#
# A trace lists the kernels that ran. A key with a fallthrough is passed by and
# runs no kernel, so the trace has no line for it. It can still be worked out,
# because each hop records the key set in which its key was looked up:
#
# | of a hop | what it is |
# |---|---|
# | `depth` | the number of kernels inside which it runs |
# | `operator` | the name of the operator |
# | `key` | the key whose kernel ran |
# | `keys` | the key set in which that key was found, as an integer |
#
# The hops of a trace are in the order in which they began, and not all of them
# belong to one call. A hop at depth 1 or more was made by a kernel that runs
# one level above it, and a kernel can make a hop in two ways. It can
# redispatch: then the hop has the same operator, its set has no key that was
# not in the kernel's set, and it belongs to the same call. Or the kernel can
# call an operator, which begins another call.
#
# Write the function. The library's `trace()` then uses it to answer for a
# single hop (`hop.skipped`) and for a call (`hops.passed_by(0)`).

# %%
from collections.abc import Sequence

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.trace import Hop


def passed_by(hops: Sequence[Hop], first: int = 0) -> tuple[DispatchKey, ...]:
    """The keys that were passed by in the call that begins at hops[first].

    They are in the order in which the dispatcher reached them, each once.

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

    Only keys that the dispatcher reached are passed by. A key below that of
    the last hop of the call is not, and neither is a key that a kernel took
    out of the set before it redispatched.

    The dispatcher looks up a functionality such as autograd on the highest
    backend of the set only, so it passes the functionality by on all backends.

    >>> from glasstorch.core.keys import key_set_of
    >>> both = key_set_of("CPU", "Meta", "AutogradCPU")
    >>> hop = Hop(0, "op", DispatchKey.Meta, "kernel", both, "f", "")
    >>> passed_by([hop])
    (<DispatchKey.AutogradMeta: 149>,)

    If all keys were passed by, the key of the hop is `Undefined`. In a trace
    made with `trace(as_run=True)`, which records what runs without tracing,
    some hops have the set 0, because the dispatcher looked up no key there.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.1` gives a hint, and
# `.venv/bin/workbook lab 01.1` opens a sheet for experiments.
