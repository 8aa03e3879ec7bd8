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
# and without momentum they agree in either case.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.9` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 07.9
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.9`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 07.9` gives a nudge.
