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
# # 04.9 Repair: a batch in two halves
#
# A batch that is too large for the memory is processed in two halves, with a
# backward pass for each and one step at the end. Since the gradients are added
# up, they should equal those of the whole batch. For the first of the two
# layers in `symptom.py` they do. For the second they do not, but only if the
# batch is divided: with one backward pass for each step, this library computes
# the right gradients.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 04.9` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function that contains it, name it
# `mended`, leave out decorators, and mend it. The names that it uses from its
# old file are available here, too. `.venv/bin/workbook faulty 04.9 --mended`
# runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 04.9`. It checks the place
# first, so you can run it before you mend anything.
# `.venv/bin/workbook hint 04.9` gives a nudge.
