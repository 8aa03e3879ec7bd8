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
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.2` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 07.2 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.2`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 07.2` gives a nudge.
