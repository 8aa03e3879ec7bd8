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
# # 07.2 Repair: half of it in full precision
#
# To save memory, a network and its input are converted to float16. The network
# runs and its result is correct, but the result is float32, and so is
# everything that the later layers keep for the backward pass. Half of the
# network therefore takes twice the memory that it should, although all
# parameters are float16. If the last layer of such a network is a `Linear`, it
# raises an error about two dtypes.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.2` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 07.2
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.2`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 07.2` gives a nudge.
