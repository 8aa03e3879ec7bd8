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
# # 06.3 Whose memory is it?
#
# A pass may merge, remove or move nodes only where nobody sees it. Everything
# that it knows of memory comes from schemas:
#
#     t(Tensor(a) self) -> Tensor(a)
#     relu_(Tensor(a!) self) -> Tensor(a!)
#     chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
#     max.dim_max(Tensor self, int dim, bool keepdim=False, *,
#         Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!), Tensor(b!))
#
# A letter in parentheses is a name for memory: what has the same letter may
# have the same memory. A mark `!` says that it is written to. `a -> *` is
# memory `a` that ends up in a list: the letter counts, the rest does not.
#
# Write the function that reads this. The library's alias analysis will rest
# on it, and every pass on the alias analysis.

# %%
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.alias_analysis import UNDECLARED_VIEWS, MemoryFacts


def memory_facts(schema: FunctionSchema) -> MemoryFacts:
    """What a schema says of memory: `MemoryFacts(written, sources)`.

    `written` is a tuple of the places (from 0) of arguments that are written
    to. `sources` has a tuple for each result: the places of the arguments
    whose memory the result may have. `schema.arguments` and `schema.returns`
    are what the text has. Of each, `.type.alias` is what stands in
    parentheses, such as "a", "a!" or "a -> *", or None; `.type.is_write` says
    whether a mark is in it. `schema.name` is the name.

    >>> def facts(text):
    ...     return memory_facts(FunctionSchema.parse(text))
    >>> facts("t(Tensor(a) self) -> Tensor(a)")
    MemoryFacts(written=(), sources=((0,),))
    >>> facts("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
    MemoryFacts(written=(0,), sources=((0,),))
    >>> facts("mul(Tensor self, Tensor other) -> Tensor")
    MemoryFacts(written=(), sources=((),))

    Some operators return memory of an argument and do not say so.
    UNDECLARED_VIEWS says of each which argument it is.

    >>> facts("type_as(Tensor self, Tensor other) -> Tensor")
    MemoryFacts(written=(), sources=((0,),))
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.3` gives a hint, and
# `.venv/bin/workbook lab 06.3` opens a sheet for experiments.
