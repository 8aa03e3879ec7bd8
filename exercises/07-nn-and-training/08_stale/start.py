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
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.8` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 07.8 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.8`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 07.8` gives a nudge.
