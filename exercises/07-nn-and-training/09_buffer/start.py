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
# # 07.9 Repair: momentum that is forgotten
#
# A program keeps all gradients in one block of memory, so that it can send
# them in one piece. It therefore clears them in place, with
# `zero_grad(set_to_none=False)`. Since it switched its SGD to the list form,
# `foreach=True`, the losses have changed: the first step is the same as
# before, but the second one is not. With `set_to_none=True` all forms agree,
# and without momentum they always do.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.9` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 07.9 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.9`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 07.9` gives a nudge.
