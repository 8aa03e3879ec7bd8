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
# # 06.7 The same constant
#
# A function that is captured may get a number, a string, a dtype or another
# constant. Its value becomes part of the graph, so the graph is right only for
# calls with the same constant. This is what its guard must find out.
#
# A guard is an expression in Python. If it is too weak, a graph runs for a
# call for which it gives another result. If it is too strict, a call compiles
# again although the graph would have been right, perhaps each time.
#
# Write the method that adds the guards of a constant. The library calls it
# whenever a captured function gets one.

# %%
from glasstorch.compiler.guards import Guards


def equal(self: Guards, source: str, value: object) -> None:
    """Add guards that hold if `source` leads to the same constant as `value`.

    Two constants are the same if they have the same class and no program can
    tell them apart by what it computes with them. Two strings with the same
    letters are the same constant, wherever they are in memory. 1 and True are
    not, and neither are 0.0 and -0.0, since a division shows the difference.
    A NaN is the same constant as another NaN.

    `value` is None, a bool, int, float, complex, str or bytes, a slice or a
    range, a dtype, device, layout or memory format, a member of an Enum, or a
    frozenset. Parts of a frozenset or slice are compared with `==`.

    `self.add(kind, source, expression)` adds a guard. None and the bools have
    one guard of the kind "CONSTANT_MATCH". All others have a guard that
    `self.same_type(source, value)` adds, which holds if the class is the same,
    and one of the kind "EQUALS_MATCH".

    In an expression stands `source`, which is code already. It can also use
    builtins, and the name that `self.name_of(obj)` gives to any object.

    >>> guards = Guards()
    >>> equal(guards, "L['n']", 3)
    >>> check = guards.compiled()  # of the arguments and the globals
    >>> check({"n": 3}, {}), check({"n": 4}, {}), check({"n": 3.0}, {})
    (True, False, False)
    >>> equal(guards, "L['kind']", "relu")
    >>> guards.compiled()({"n": 3, "kind": "tanh"}, {})
    False
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.7`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.7` gives a hint, and
# `.venv/bin/workbook lab 06.7` opens a sheet for experiments.
