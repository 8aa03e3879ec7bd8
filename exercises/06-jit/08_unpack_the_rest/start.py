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
# # 06.8 Unpack the rest
#
# Python compiles `first, *rest, last = items` to these instructions:
#
#     LOAD_FAST    items
#     UNPACK_EX    257
#     STORE_FAST   first
#     STORE_FAST   rest
#     STORE_FAST   last
#
# `UNPACK_EX` takes the value on top of the stack and puts its parts there, in
# such an order that the instructions behind it can store them. The argument
# has two numbers in it: its lowest eight bits say how many names stand before
# the star, and the bits above them how many stand after it. For 257 that is
# one before and one after.
#
# Write the instruction for the library's interpreter of bytecode, which
# executes it with values that stand for objects. This exercise is about
# CPython 3.11, whose bytecode the library understands.

# %%
from glasstorch.compiler.bytecode.builtins import items_of
from glasstorch.compiler.bytecode.frame_base import FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.values import Sequence


def unpack_ex(self: FrameBase, i: Instruction) -> None:
    """Replace the value on top of the stack by its parts.

    `self.stack` is a list of values, the top at its end. `i.arg` is the
    argument. `items_of(self.recorder, value)` gives an iterator over the items
    of a value, whether it stands for a list, a dict, a string or anything else
    that can be iterated over, and `Sequence(items, list)` is a value that
    stands for a list of these items.

    The top of the stack is then the value for the first name. The value for
    the name with the star is always a list.

    With too few items the program would raise a ValueError, which it may
    catch. An error of the program is `Raised(ValueError(text))`, with Python's
    own text, such as "not enough values to unpack (expected at least 2, got
    1)".

    >>> from glasstorch.compiler.bytecode.capture import capture
    >>> from glasstorch.compiler.bytecode.frame import Frame
    >>> Frame._UNPACK_EX = unpack_ex  # for this example
    >>> def f(items):
    ...     first, *rest = items
    ...     return first, rest
    >>> captured = capture(f, {"items": (1, 2, 3)})
    >>> captured.replay.run([], {"items": (1, 2, 3)}, {})[0]
    (1, [2, 3])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.8`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.8` gives a hint, and
# `.venv/bin/workbook lab 06.8` opens a sheet for experiments.
