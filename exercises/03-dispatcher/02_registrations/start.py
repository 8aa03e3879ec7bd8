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
# # 03.2 The fewest registrations
#
# The section went from registrations to entries. This exercise goes the other
# way. A bug report has a table of some keys of an operator and their rules:
#
#     CPU          kernel
#     AutogradCPU  backend fallback
#     Meta         math kernel
#
# You want to reproduce that operator on your machine. What is the smallest set
# of keys and aliases for which you must register a kernel to get this table?
#
# - The table may show all keys of the operator, or only a few. A kernel may be
#   registered for a key that it does not show.
# - Treat "backend fallback" and "missing" as the same rule, because in both
#   cases no kernel of the operator itself serves the key. Which of the two it
#   is depends on what is registered for all operators.
# - The table may have been copied wrongly, so that no registrations lead to
#   it. Then the answer is None.
# - If several answers are equally short, any of them is accepted.
#
# You can use `choose`, `INCLUDED_IN`, which gives the keys that each of the
# six aliases serves, and `backends_of`, which gives the backends whose
# gradients an autograd key records. Write the function. The library calls it
# with whole tables of its own operators and of PyTorch's.

# %%
from collections.abc import Mapping

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator
from glasstorch.dispatch.resolve import INCLUDED_IN, backends_of, choose

Registrations = frozenset[DispatchKey]


def rule_at(registered: Registrations, key: DispatchKey) -> str:
    """The rule at a key of an operator with these registrations."""
    operator = Operator("lab::op", "lab::op(Tensor x) -> Tensor", "here")
    for name in registered:
        operator.kernels[name] = [Kernel(lambda x: x, name, "here")]
    return choose(operator, key).rule


def fewest_registrations(
    rules: Mapping[DispatchKey, str],
) -> Registrations | None:
    """The fewest keys and aliases whose kernels lead to these rules, or None.

    >>> def found(**table):
    ...     rules = {DispatchKey[key]: rule for key, rule in table.items()}
    ...     answer = fewest_registrations(rules)
    ...     return None if answer is None else sorted(a.name for a in answer)
    >>> found(CPU="math kernel", AutogradCPU="math kernel")
    ['CompositeImplicitAutograd']
    >>> found(CPU="kernel", AutogradCPU="backend fallback", Meta="math kernel")
    ['CPU', 'CompositeImplicitAutograd']
    >>> found(CPU="default backend kernel", XLA="missing", Meta="kernel")
    ['CompositeExplicitAutogradNonFunctional', 'Meta']
    >>> found(CPU="math kernel", Meta="missing") is None
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.2`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.2` gives a hint, and
# `.venv/bin/workbook lab 03.2` opens a sheet for experiments.
