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
# # 03.10 Repair: a mode that hears nothing
#
# Two modes are on, one inside the other. The inner mode passes each call on,
# so it should reach the outer mode next, but it does not. While the method of
# the inner mode runs, the outer mode is on the stack of modes, as expected. A
# call made after the inner block has ended does not reach it either.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 03.10` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from.
# `.venv/bin/workbook faulty 03.10 --mended` runs the program with your
# function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 03.10`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 03.10` gives a nudge.
