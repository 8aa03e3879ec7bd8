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
# # 03.3 A table that forgets
#
# The table of an operator is a dictionary from key sets to entries. Python
# calls its `__missing__` for a set that it does not hold. The method computes
# the entry and keeps it, so that the next call finds it.
#
# Every registration empties the tables that it affects, and adds 1 to the
# registry's *generation*, which is a number. It does both while it holds the
# registry's lock. But a thread that computes an entry does not hold the lock
# all the time, so another thread may register a better kernel in the meantime.
# Then the first thread has an entry that is out of date. It may use the entry
# for its own call, but it must not put it into the table, where it would stay.
#
# Write the function. Every table of the library will call yours.

# %%
from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve


def missing(table: DispatchTable, keys: int) -> Boxed:
    """The entry for a key set that a table does not hold.

    `resolve(table.operator, keys)` returns a resolution, and its `entry` is
    the entry. While a trace is on, `registry.wrap` is not None. Then the
    entry is `registry.wrap(table.operator, resolution)`, which records a hop
    and calls the kernel.

    Keep it with `table[keys] = entry` if `registry.generation` is still what
    it was before you began. Hold `registry.lock` while you check and keep, or
    another thread could register between the two. Do not hold the lock while
    `resolve` runs. If it raises, let the error propagate and keep nothing.

    >>> from glasstorch.core.keys import CPU_KEYS
    >>> table = DispatchTable(registry.find("aten::neg"))
    >>> entry = missing(table, CPU_KEYS)
    >>> table == {CPU_KEYS: entry}
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.3` gives a hint, and
# `.venv/bin/workbook lab 03.3` opens a sheet for experiments.
