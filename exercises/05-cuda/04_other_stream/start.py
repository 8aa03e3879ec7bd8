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
# # 05.4 Repair: a sum of numbers from the future
#
# A program uses a tensor on another stream, tells the allocator so with
# `record_stream`, and deletes the tensor. Now and then the sum that the other
# stream computes is wrong, because its numbers were overwritten before the
# stream had read them. The program does everything that the manual asks for.
# No error is raised, unless streams are checked.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 05.4` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function that contains it, name it
# `mended`, leave out decorators, and mend it. The names that it uses from its
# old file are available here, too. `.venv/bin/workbook faulty 05.4 --mended`
# runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 05.4`. It checks the place
# first, so you can run it before you mend anything.
# `.venv/bin/workbook hint 05.4` gives a nudge.
