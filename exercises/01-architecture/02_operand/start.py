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
# # 01.2 Whose turn is it
#
# For `a + b` Python first calls `type(a).__add__(a, b)`. If the result is
# `NotImplemented`, which is a value for this purpose and not an error, Python
# calls the method of the right operand, `type(b).__radd__(b, a)`. Python
# raises a TypeError only if that method does not exist or returns
# `NotImplemented` too.
#
# `torch.add(a, b)` takes no part in this, because it refuses arguments of the
# wrong type with an `ArgumentTypeError`. The methods behind `+`, `-`, `<` and
# the other operators call such a function and turn its refusal into
# `NotImplemented`. This is the step that you write here. The library then uses
# your function for every operator whose right operand is not a tensor.

# %%
from collections.abc import Callable
from typing import Any

from glasstorch.core.errors import ArgumentTypeError

Function = Callable[..., Any]


def method_operator(function: Function, self: Any, other: Any) -> Any:
    """What a method behind an operator of Python returns.

    It is the result of the function for the two operands, whatever that is:

    >>> method_operator(lambda a, b: a - b, 7, 5)
    2

    or `NotImplemented`, if the function refuses their types:

    >>> def refuses(a, b):
    ...     raise ArgumentTypeError("argument 'other' must be Tensor")
    >>> method_operator(refuses, 7, "a text")
    NotImplemented

    Any other error is raised unchanged. The function may write into its first
    operand, so call it only once.

    >>> from glasstorch.core.errors import ShapeError
    >>> def does_not_fit(a, b):
    ...     raise ShapeError("the sizes do not fit")
    >>> method_operator(does_not_fit, 7, 5)
    Traceback (most recent call last):
    RuntimeError: the sizes do not fit
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.2`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.2` gives a hint, and
# `.venv/bin/workbook lab 01.2` opens a sheet for experiments.
