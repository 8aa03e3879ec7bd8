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
# Somebody changes `x.sum(0)` to `x.sum(dim=0)`, since that reads better. The
# sum of each column was wanted, and now it is the sum of everything. No error
# is raised. A misspelt argument is not complained about either. With two names
# in a call, all is well.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 01.5` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 01.5 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 01.5`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 01.5` gives a nudge.
