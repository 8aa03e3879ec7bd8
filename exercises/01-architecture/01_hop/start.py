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
# # 01.1 Which hop comes next
#
# A call comes to an operator with a set of keys. The highest key of the set
# has the first word. Either a kernel of that key runs, or the key passes by:
# it has nothing to say about this operator, and the next one is asked.
#
# A key set is an integer with two parts. The low bits are backends, the high
# ones functionalities, a higher bit for a higher priority. A key such as
# `AutogradCPU` is no bit of its own: it is the highest functionality,
# autograd, on the highest backend, CPU. `highest_key` puts the two together.
#
# Write the walk. The library asks it for every key set that an operator has
# not met before, and puts what it finds into the operator's table.

# %%
from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key

Passes = Callable[[DispatchKey], bool]
Hop = tuple[DispatchKey, tuple[DispatchKey, ...]]


def next_hop(keys: int, passes_by: Passes) -> Hop:
    """The highest key that does not pass by, and those above it that do.

    The second are in the order in which they were asked, highest first.

    >>> from glasstorch.core.keys import key_set_of
    >>> keys = key_set_of("CPU", "ADInplaceOrView", "AutogradCPU")
    >>> highest_key(keys).name
    'AutogradCPU'
    >>> key, passed = next_hop(keys, lambda key: key.name != "CPU")
    >>> key.name, [one.name for one in passed]
    ('CPU', ['AutogradCPU', 'ADInplaceOrView'])

    A functionality that passes by does so as a whole: it is asked on its
    highest backend only, and the backends stay in the set for those below.

    >>> both = key_set_of("CPU", "Meta", "AutogradCPU")
    >>> key, passed = next_hop(both, lambda key: "Autograd" in key.name)
    >>> key.name, [one.name for one in passed]
    ('Meta', ['AutogradMeta'])

    No key is asked twice, and none below the one that is found. Where all
    pass by, it is `DispatchKey.Undefined`, which is not asked at all.

    >>> next_hop(0, lambda key: True)
    (<DispatchKey.Undefined: 0>, ())
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 01.1`. It may
# be half done: the answer tells what to look at next. `workbook hint 01.1`
# gives a nudge, `workbook lab 01.1` a sheet to play on.
