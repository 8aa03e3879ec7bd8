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
# # 03.4 Repair: weights that grow wider
#
# A program takes two steps of gradient descent. Its data and its weights are
# float32. The first step succeeds. In the second, the product of data and
# weights is refused, because one of them has become float64.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 03.4` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 03.4
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 03.4`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 03.4` gives a nudge.
