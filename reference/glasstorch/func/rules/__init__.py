"""What does an operator do to a batch?

Reading order: `elements` (one element at a time), `dims` (along dimensions), `products`, `indexing`, `images`
(convolution, pooling), `losses`, `draws` (random numbers), `refusals`, `decompositions` (operators made of others at
the level of vmap).

Mirrors: aten/src/ATen/functorch/BatchRules*.cpp
Differs: a few rules serve most operators. The key `vmap` of an operator's row names its rule; what its dimensions are
    is told by the names in its schema.
"""

from __future__ import annotations

from importlib import import_module

from glasstorch.dispatch.tags import Tag
from glasstorch.func.batching import BY_TAG, RULES, Rule
from glasstorch.operators.generated.registry import OPERATORS


def rule_named(name: str) -> Rule:
    """The rule that a row names, as module.function."""
    module, _, function = name.rpartition(".")
    return Rule(getattr(import_module(f"glasstorch.func.rules.{module}"), function), module == "decompositions")


RULES.update((row.name, rule_named(row.vmap)) for row in OPERATORS if row.vmap is not None)
BY_TAG.update(
    (Tag[tag], rule_named(name))
    for tag, name in (
        ("nondeterministic_seeded", "draws.drawn"),
        ("pointwise", "elements.pointwise"),
    )
)
