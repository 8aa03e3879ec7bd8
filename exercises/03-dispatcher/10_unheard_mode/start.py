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
# so the outer mode should see it next, but it sees nothing. While the inner
# mode's method runs, the outer mode is on the stack of modes, as it should be.
# It does not see a call made after the inner block has ended, either.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 03.10` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 03.10 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 03.10`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 03.10` gives a nudge.
