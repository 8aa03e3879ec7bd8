"""Looks at the two nodes only, and not at what stands between them.

Refused by: check
"""

from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Node
from glasstorch.jit.passes.fuse_pointwise import is_fusible


def may_fuse(producer: Node, consumer: Node, aliases: AliasAnalysis) -> bool:
    """Whether two nodes may become one that stands where the consumer does."""
    if not (is_fusible(producer) and is_fusible(consumer)):
        return False
    if producer.owning_block is not consumer.owning_block:
        return False
    return any(value.node is producer for value in consumer.inputs)
