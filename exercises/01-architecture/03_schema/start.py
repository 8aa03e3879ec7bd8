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
# All code that is generated for the operator depends on what a parser finds in
# that line. Write the part of the parser that reads the text between the
# parentheses. The library then reads all its declarations with your function.
#
# A parameter is a type, a space and a name, and possibly `=` and a default.
# `Type.parse` reads the type and refuses a text that is not one. Types and
# defaults may contain brackets, with commas and spaces inside, as in `Tensor(a
# -> *)[] self` and `int[2] stride=[1, 1]`. A lone `*` is not a parameter: it
# means that the parameters after it must be passed by name.

# %%
from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument, Type


def parse_arguments(text: str) -> tuple[Argument, ...]:
    """The parameters between the parentheses of a declaration, in order.

    Each is an `Argument(type, name, default, keyword_only)`. The type is what
    `Type.parse` returns. The default is the text as it is written, or None if
    there is no default.

    >>> one, two = parse_arguments("Tensor self, *, Scalar alpha=1")
    >>> one == Argument(Type.parse("Tensor"), "self", None, False)
    True
    >>> two == Argument(Type.parse("Scalar"), "alpha", "1", True)
    True
    >>> [str(a) for a in parse_arguments("Tensor(a!) x, int[2] step=[1, 1]")]
    ['Tensor(a!) x', 'int[2] step=[1, 1]']
    >>> parse_arguments("")
    ()

    A parameter that is not a type and a name, and a name that is used twice,
    raise a SchemaError whose message quotes the text. A traceback shows it
    under the name of its builtin base class, as with all the library's errors.

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
