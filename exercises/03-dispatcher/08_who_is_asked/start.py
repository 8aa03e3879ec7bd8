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
# # 03.8 Who is asked
#
# Several tensors of a call may have a class with a `__torch_dispatch__`, the
# method that the call *asks* for a result. The fallback of the key `Python`
# goes through the tensors from left to right and keeps a tuple of those whose
# classes to ask. Your function puts one more tensor into it:
#
# - each class is asked once, so a tensor whose class is there already is not
#   added;
# - a class that neither defines `__torch_dispatch__` nor inherits it from a
#   base other than Tensor is not asked; `overrides_dispatch(kind)` tells this;
# - a subclass can handle its base, but not the other way round. So a tensor
#   goes before the first one whose class is a base of its own class;
# - in all other cases it goes to the end.
#
# Every call on a tensor subclass in the library will use your function.

# %%
from typing import Any

from glasstorch.dispatch.python_fallback import overrides_dispatch


def with_its_class(asked: tuple[Any, ...], tensor: Any) -> tuple[Any, ...]:
    """The tensors whose classes to ask, with one more if its class is new.

    >>> import glasstorch as torch
    >>> class Base(torch.Tensor):
    ...     @classmethod
    ...     def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
    ...         return NotImplemented
    >>> class Special(Base):
    ...     pass
    >>> base, special = (
    ...     torch.Tensor._make_wrapper_subclass(kind, (2,))
    ...     for kind in (Base, Special)
    ... )
    >>> asked = with_its_class((base,), special)
    >>> [type(one).__name__ for one in asked]
    ['Special', 'Base']
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.8`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.8` gives a hint, and
# `.venv/bin/workbook lab 03.8` opens a sheet for experiments.
