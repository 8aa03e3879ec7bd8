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
# # 07.8 Repair: a loss that stands still
#
# A network is trained under autocast. Its loss is sensitive to rounding, so
# the program computes it in float32, in an inner block with `enabled=False`.
# There are gradients, the optimizer steps, and the weights change, but the
# printed loss is the same in every step. Without the inner block it decreases.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.8` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 07.8
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.8`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 07.8` gives a nudge.
