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
# # 01.5 Repair: a total instead of a row
#
# A programmer changes `x.sum(0)` to `x.sum(dim=0)`, because that is easier to
# read. It should be the sum of each column, but now it is the sum of all
# elements, and no error is raised. A misspelt argument name raises no error
# either, although a call with two named arguments works correctly.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 01.5` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 01.5
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 01.5`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 01.5` gives a nudge.
