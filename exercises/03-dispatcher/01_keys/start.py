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
# # 03.1 Sets of keys
#
# A key set is one integer. Its lowest bits are the backends, one for each
# name in `BACKENDS`, so bit 0 is CPU. The bits above are the functionalities,
# one for each name in `FUNCTIONALITIES`. The first of them, Dense, is bit 16,
# because there are 16 backends.
#
# A runtime key names the place of a kernel in the table of an operator.
#
# - A functionality in `PER_BACKEND` has a runtime key on each backend. The
#   key's name is the prefix given in `PER_BACKEND` and then the backend's
#   name: AutogradFunctionality on Meta is AutogradMeta, and Dense on Meta,
#   whose prefix is empty, is Meta. Such a key has two bits.
# - Any other functionality is itself a runtime key, with one bit. Some of
#   these have names that look like the other kind: AutocastCUDA and MkldnnCPU
#   are functionalities of their own and have no backend bit.
#
# Write the three functions below. None of them needs another.

# %%
from collections.abc import Iterator

from glasstorch.core.keys import (
    ALIASES,
    BACKENDS,
    FUNCTIONALITIES,
    PER_BACKEND,
    DispatchKey,
)


def key_set_of(*keys: DispatchKey | str) -> int:
    """The bits of these runtime keys, given as names or as members.

    >>> key_set_of("Meta") == 1 << 16 | 1 << 15
    True
    >>> bin(key_set_of("CUDA", DispatchKey.CPU))
    '0b10000000000000011'

    `Undefined` adds no bit, and the set without keys is 0. A tensor cannot
    have an alias, such as Autograd. If an alias is given, raise an
    AssertionError whose text names it.

    >>> key_set_of("Undefined")
    0
    """
    raise NotImplementedError


def highest_key(keys: int) -> DispatchKey:
    """The runtime key that a set goes to.

    That is the key of the set's highest functionality. If the functionality
    is in PER_BACKEND, it is the key on the set's highest backend; if the set
    then has no backend, the result is Undefined, whatever is below that
    functionality in the set. A set with only backends gives Undefined too.

    >>> highest_key(0b11 << 16 | 0b11).name
    'FPGA'
    >>> highest_key(0b01 << 16 | 0b11).name
    'CUDA'
    """
    raise NotImplementedError


def runtime_keys(keys: int) -> Iterator[DispatchKey]:
    """Yield the runtime keys in a set, the lowest functionality first.

    A functionality in PER_BACKEND gives a key for every backend of the set,
    in the order of BACKENDS.

    >>> [key.name for key in runtime_keys(0b11 << 16 | 0b11)]
    ['CPU', 'CUDA', 'FPGA']
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.1` gives a hint, and
# `.venv/bin/workbook lab 03.1` opens a sheet for experiments.
