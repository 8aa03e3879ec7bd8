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
# A program hands a tensor to another stream, says so with `record_stream`, and
# lets go of it. The sum that the other stream works out is wrong now and then:
# it is the sum of numbers that were written later. The program does what the
# manual asks for. Nothing raises, unless streams are checked.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 05.4` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 05.4 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 05.4`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 05.4` gives a nudge.
