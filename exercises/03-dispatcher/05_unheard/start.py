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
# A program records which sizes are asked for, with a kernel of its own for
# `view`. A `reshape` that needs no copy calls `view`, so it is recorded too.
# That works, unless the model ran once before the kernel was registered. Then
# `view` is recorded and `reshape` is not. Under `trace()`, `reshape` is too.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 03.5` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 03.5 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 03.5`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 03.5` gives a nudge.
