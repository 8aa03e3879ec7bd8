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
# # 02.4 Repair: a slice, saved
#
# A program saves parts of a tensor as bytes and reads them back. The first
# part comes back as it was, but the second does not, and no error is raised.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 02.4` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 02.4
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 02.4`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 02.4` gives a nudge.
