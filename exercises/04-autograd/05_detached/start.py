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
# Two networks of one layer are trained. After the forward pass, both clip what
# the layer gave, in place and behind autograd's back: through `detach()`. The
# backward pass needs the numbers as they were. The first network is refused,
# as it should be. The second gets a gradient, of numbers that nobody computed.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 04.5` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 04.5 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 04.5`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 04.5` gives a nudge.
