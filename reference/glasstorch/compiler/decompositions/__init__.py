"""Which operators are made of simpler ones, for a compiler that knows only those?

Reading order: `table` (how a decomposition is registered and looked up), `by_formula` (pointwise operators, from the
formulas of the kernels), `shared`, then by kind: `elements`, `sums`, `activation`, `losses`, `normalization`,
`batch_norm`, `views`, `rearranging`, `creation`, `indexing`, `windows`, `resampling`.

A function here computes what an operator's kernel does, writes to nothing that it was given, and calls operators only.
What is composed of others for every backend (`operators/composite`) is not said again: a trace sees its parts.

Mirrors: torch/_decomp, torch/_refs
"""

from glasstorch.compiler.decompositions import (
    activation,
    batch_norm,
    by_formula,
    creation,
    elements,
    indexing,
    losses,
    normalization,
    rearranging,
    resampling,
    sums,
    table,
    views,
    windows,
)

__all__ = [
    "activation",
    "batch_norm",
    "by_formula",
    "creation",
    "elements",
    "indexing",
    "losses",
    "normalization",
    "rearranging",
    "resampling",
    "sums",
    "table",
    "views",
    "windows",
]

by_formula.register()
table.register_forms()
