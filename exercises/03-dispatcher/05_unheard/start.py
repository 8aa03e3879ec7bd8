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
# # 03.5 Repair: a kernel that is not called
#
# A program registers its own kernel for `view`, which records the sizes of
# each call. A `reshape` that needs no copy calls `view`, so it is recorded
# too. But if the model ran once before the kernel was registered, `view` is
# recorded and `reshape` is not. Under `trace()`, both are recorded even then.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 03.5` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 03.5
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 03.5`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 03.5` gives a nudge.
