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
# # 04.5 Repair: a gradient of numbers that were changed
#
# Two networks of one layer are trained. After the forward pass both clip the
# output of the layer in place, hidden from autograd by `detach()`, although
# the backward pass needs the numbers as they were. In the first network the
# backward pass raises an error, as it should. In the second it returns a
# gradient, computed from the clipped numbers.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 04.5` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function that contains it, name it
# `mended`, leave out decorators, and mend it. The names that it uses from its
# old file are available here, too. `.venv/bin/workbook faulty 04.5 --mended`
# runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 04.5`. It checks the place
# first, so you can run it before you mend anything.
# `.venv/bin/workbook hint 04.5` gives a nudge.
