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
# A trace lists the kernels that ran. A key that was asked and had nothing to
# say left no line. Yet it can be found, because each hop notes where it came
# from:
#
# | of a hop | what it is |
# |---|---|
# | `depth` | inside how many kernels it runs |
# | `operator` | the name of the operator |
# | `key` | the key whose kernel ran |
# | `keys` | the key set in which that key was found, as an integer |
#
# The hops of a trace stand in the order in which they began. Not all of them
# belong to one call. A hop was made by the kernel that runs one level above
# it, and there are two ways to make one. That kernel redispatched: the hop is
# of the same operator, and has no key in its set that was not in the kernel's
# set. Then it belongs to the same call. Or the kernel made another call.
#
# Write the function. `trace()` of the library then answers with it, for a
# single hop (`hop.skipped`) and for a call (`hops.passed_by(0)`).

# %%
from collections.abc import Sequence

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.trace import Hop


def passed_by(hops: Sequence[Hop], first: int = 0) -> tuple[DispatchKey, ...]:
    """The keys that passed by in the call that begins at hops[first].

    They are in the order in which they were asked, each of them once.

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

    What was not asked did not pass by: no key below the last hop of the call,
    and none that a kernel took out of the set before it redispatched.

    A functionality such as autograd is asked on the highest backend of the
    set, and passes by as a whole.

    >>> from glasstorch.core.keys import key_set_of
    >>> both = key_set_of("CPU", "Meta", "AutogradCPU")
    >>> hop = Hop(0, "op", DispatchKey.Meta, "kernel", both, "f", "")
    >>> passed_by([hop])
    (<DispatchKey.AutogradMeta: 149>,)

    Where all keys passed by, the key of the hop is `Undefined`. And in a trace
    of what runs outside of traces, `trace(as_run=True)`, there are hops whose
    set is 0: nobody was asked.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.1` gives a hint, and
# `.venv/bin/workbook lab 01.1` opens a sheet for experiments.
