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
# # 06.4 Repair: a result that is too old
#
# A traced function returns the same result as the function itself. Then one
# line is added, so that it also returns the total of an intermediate result.
# Now the first result of the traced function differs from that of the function
# itself, although the total is right. Without the fuser, the traced function
# is right again.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 06.4` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function that contains it, name it
# `mended`, leave out decorators, and mend it. The names that it uses from its
# old file are available here, too. `.venv/bin/workbook faulty 06.4 --mended`
# runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 06.4`. It checks the place
# first, so you can run it before you mend anything.
# `.venv/bin/workbook hint 06.4` gives a nudge.
