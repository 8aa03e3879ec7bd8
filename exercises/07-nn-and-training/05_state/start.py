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
# # 07.5 Repair: a state that does not repeat
#
# A training run adds noise to its input. Every few steps, it evaluates the
# network on other noise, inside `torch.random.fork_rng()`, which restores the
# state of the generator afterwards, so the evaluation should not change the
# run. For some numbers of draws this is true, but for others, the run gives
# different results after the first evaluation.
#
# `faulty/glasstorch/` next to this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.5` runs `symptom.py` on it. Find the
# faulty line and say where it is. Then copy the function that contains it,
# without decorators, name the copy `mended`, and correct it: here too, it can
# use the names of the file that it comes from. `.venv/bin/workbook faulty 07.5
# --mended` runs the program with your function.

# %%
from __future__ import annotations

FILE = ""  # in faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function that contains that line, corrected."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.5`. It first checks the
# place, so you can run it before you correct anything.
# `.venv/bin/workbook hint 07.5` gives a nudge.
