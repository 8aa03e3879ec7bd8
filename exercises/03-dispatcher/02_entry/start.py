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
# # 03.2 One entry of the table
#
# A few kernels were registered for an operator, some for a runtime key and
# some for an alias. What does one runtime key lead to? These rules are tried
# in this order, and the first that applies gives the kernel and its name.
#
# | a kernel was registered for | for these keys | rule |
# |---|---|---|
# | the key itself | that key | kernel |
# | CompositeExplicitAutogradNonFunctional | served, Undefined | see below |
# | CompositeExplicitAutograd | served, Undefined | see below |
# | CompositeImplicitAutogradNestedTensor | served | nested kernel |
# | CompositeImplicitAutograd | served, Undefined | math kernel |
# | Autograd | served | autograd kernel |
# | FuncTorchBatchedDecomposition | served | batched kernel |
# | the key, for all operators | all | backend fallback |
# | nothing | all | missing |
#
# The two explicit ones give a "default backend kernel". Which keys an alias
# serves stands in `INCLUDED_IN`. `Undefined` is the key of a call without
# tensors, and three of the aliases serve it as well.
#
# CompositeImplicitAutograd has two exceptions.
#
# - An autograd key takes it only if no backend whose gradients it records has
#   a kernel registered for its very key, and none is registered for
#   CompositeExplicitAutograd. Otherwise the rules below decide.
# - AutogradOther records for many backends. If one of them has a kernel
#   registered for its very key, nobody can say which is meant: there is no
#   kernel, and the rule is "ambiguous autogradother".
#
# Write the decision. Every entry of every table will be yours.

# %%
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.resolve import INCLUDED_IN, Choice, backends_of


def choose(operator: Operator, key: DispatchKey) -> Choice:
    """The kernel at a runtime key, and the rule: Choice(key, kernel, rule).

    `operator.kernels` maps keys and aliases to lists of kernels, of which the
    last is in force; a list is empty where all of them were taken back.
    `INCLUDED_IN[alias]` are the runtime keys that an alias serves.
    `backends_of(key)` are the keys of the backends whose gradients an
    autograd key records, and none for any other key. `registry.fallbacks`
    maps a key to the kernel for all operators, where there is one.

    >>> matmul = registry.find("aten::matmul")
    >>> choose(matmul, DispatchKey.CPU).rule
    'math kernel'
    >>> choose(registry.find("aten::mm"), DispatchKey.AutogradCPU).rule
    'autograd kernel'
    >>> choose(matmul, DispatchKey.Functionalize)
    Choice(key=<DispatchKey.Functionalize: 90>, kernel=None, rule='missing')
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 03.2`. It may
# be half done: the answer tells what to look at next. `workbook hint 03.2`
# gives a nudge, `workbook lab 03.2` a sheet to play on.
