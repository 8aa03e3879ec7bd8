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
# # 01.3 Parse a schema
#
# An operator begins as one line of text, its schema:
#
# `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`
#
# Everything that is generated for it is generated from what a parser found in
# that line. Write the part of the parser that reads what stands between the
# parentheses. The library then reads all its declarations with yours.
#
# A parameter is a type, a space and a name, and perhaps `=` and a default.
# The type itself is read by `Type.parse`, which refuses what is none. Types
# and defaults may have brackets in them, with commas and spaces inside:
# `Tensor(a -> *)[] self`, `int[2] stride=[1, 1]`. A lone `*` is no parameter:
# those after it must be given by name.

# %%
from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument, Type


def parse_arguments(text: str) -> tuple[Argument, ...]:
    """The parameters between the parentheses of a declaration, in order.

    `Argument(type, name, default, keyword_only)` is one of them. The type is
    what `Type.parse` gives. The default is the text as it is written, and
    None where there is none.

    >>> one, two = parse_arguments("Tensor self, *, Scalar alpha=1")
    >>> one == Argument(Type.parse("Tensor"), "self", None, False)
    True
    >>> two == Argument(Type.parse("Scalar"), "alpha", "1", True)
    True
    >>> [str(a) for a in parse_arguments("Tensor(a!) x, int[2] step=[1, 1]")]
    ['Tensor(a!) x', 'int[2] step=[1, 1]']
    >>> parse_arguments("")
    ()

    What is no type and name, and a name that stands there twice, is a
    SchemaError whose message quotes it. As every error of the library, it is
    shown as the builtin that it is.

    >>> parse_arguments("Tensor self, int 2d")
    Traceback (most recent call last):
    RuntimeError: cannot read the argument 'int 2d'
    >>> parse_arguments("Tensor a, Tensor a")
    Traceback (most recent call last):
    RuntimeError: two arguments are named 'a'
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.3` gives a hint, and
# `.venv/bin/workbook lab 01.3` opens a sheet for experiments.
