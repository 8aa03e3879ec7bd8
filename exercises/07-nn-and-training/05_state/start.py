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
# run. For some numbers of draws, it does not. For others, the run gives
# different results after the first evaluation.
#
# `faulty/glasstorch/` beside this file is the library with one fault in one
# function. `.venv/bin/workbook faulty 07.5` runs `symptom.py` on it. Find the
# line and say where it is. Then copy the function in which it stands, named
# `mended` and without decorators, and mend it: it finds the names of its old
# file here, too. `.venv/bin/workbook faulty 07.5 --mended` runs the program
# with your function.

# %%
from __future__ import annotations

FILE = ""  # below faulty/glasstorch/, for example "core/device.py"
LINE = 0


def mended():
    """The function in which that line stands, mended."""
    raise NotImplementedError


# %% [markdown]
# Save the file and run `.venv/bin/workbook check 07.5`. It first looks at the
# place, so you may ask about that before you mend anything.
# `.venv/bin/workbook hint 07.5` gives a nudge.
