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
# # 07.10 Turn samples inside out
#
# A dataset returns samples. A loader without a `collate_fn` of its own
# combines a list of samples into one batch, whatever they are: tensors,
# numbers, texts, or tuples, lists and dicts of these, nested to any depth.
#
# A table specifies how samples that are not containers are collated. It maps a
# type, or a tuple of types, to a function. Programs may add rows of their own,
# also for containers. Your function finds the row for a sample, and collates a
# container without a row by its parts.
#
# Three helper functions are provided. `is_named_tuple(value)` says whether a
# value is a tuple with named fields. `with_values(like, dict)` and
# `with_items(like, items)` make a mapping or a sequence of the same type as
# `like`, with other contents.
#
# All loaders of the library will use your function; PyTorch's is `collate`, in
# `torch/utils/data/_utils/collate.py`.

# %%
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from glasstorch.data.collate import default_collate_err_msg_format
from glasstorch.data.containers import is_named_tuple, with_items, with_values

Table = dict[type | tuple[type, ...], Callable[..., Any]]


def collate(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """One batch of a list of samples that are all structured like the first.

    The row for exactly the type of the first sample is used. If there is none,
    the first row is used whose type, or one of whose types, the sample is an
    instance of. The row's function is called with the list of samples and with
    the table, as `collate_fn_map`; it returns the batch.

    >>> rows = {int: lambda batch, *, collate_fn_map: max(batch)}
    >>> collate([3, 8, 5], collate_fn_map=rows)
    8

    Containers without a row are collated by their parts. A mapping becomes one
    of its type, with the keys of the first sample. A sample that lacks one of
    these keys raises KeyError; additional keys are left out.

    >>> collate([{"a": 1}, {"a": 2}], collate_fn_map=rows)
    {'a': 2}

    A named tuple becomes one of its type, any other tuple a list, and any
    other sequence one of its type. The parts of sequences are collated as
    tuples, as `zip` returns them, and those of mappings as lists.

    >>> collate([(1, [2]), (3, [4])], collate_fn_map=rows)
    [3, [4]]

    Sequences that are not named tuples have to be of equal length:
    RuntimeError("each element in list of batch should be of equal size").

    Samples of any other type raise
    TypeError(default_collate_err_msg_format.format(type)).
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.10`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.10` gives a hint, and
# `.venv/bin/workbook lab 07.10` opens a sheet for experiments.
