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
# A pass may merge, remove or move nodes only where no result changes. All that
# it knows about memory comes from schemas:
#
#     t(Tensor(a) self) -> Tensor(a)
#     relu_(Tensor(a!) self) -> Tensor(a!)
#     chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
#     max.dim_max(Tensor self, int dim, bool keepdim=False, *,
#         Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!), Tensor(b!))
#
# A letter in parentheses is a name for memory: values with the same letter may
# share their memory. A mark `!` says that the memory is written to. `a -> *`
# is memory `a` that goes into a list; only the letter matters here.
#
# Write the function that reads this. The library's alias analysis will use it,
# and every pass uses the alias analysis.

# %%
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.alias_analysis import UNDECLARED_VIEWS, MemoryFacts


def memory_facts(schema: FunctionSchema) -> MemoryFacts:
    """What a schema says about memory: `MemoryFacts(written, sources)`.

    `written` is a tuple with the places (from 0) of the arguments that are
    written to. `sources` has a tuple for each result, with the places of the
    arguments whose memory the result may share. `schema.arguments` and
    `schema.returns` are those of the text. Of each, `.type.alias` is the text
    in parentheses, such as "a", "a!" or "a -> *", or None; `.type.is_write`
    says whether it has a mark. `schema.name` is the name.

    >>> def facts(text):
    ...     return memory_facts(FunctionSchema.parse(text))
    >>> facts("t(Tensor(a) self) -> Tensor(a)")
    MemoryFacts(written=(), sources=((0,),))
    >>> facts("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
    MemoryFacts(written=(0,), sources=((0,),))
    >>> facts("mul(Tensor self, Tensor other) -> Tensor")
    MemoryFacts(written=(), sources=((),))

    Some operators return memory of an argument although their schema does not
    say so. UNDECLARED_VIEWS gives for each the place of that argument.

    >>> facts("type_as(Tensor self, Tensor other) -> Tensor")
    MemoryFacts(written=(), sources=((0,),))
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.3` gives a hint, and
# `.venv/bin/workbook lab 06.3` opens a sheet for experiments.
