"""Fuses neighbours only, and whatever stands between forbids it."""

from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Node
from glasstorch.jit.passes.fuse_pointwise import is_fusible

REFUSED_BY = "check"


def may_fuse(producer: Node, consumer: Node, aliases: AliasAnalysis) -> bool:
    """Whether two nodes may become one that stands where the consumer does."""
    if not (is_fusible(producer) and is_fusible(consumer)):
        return False
    if producer.owning_block is not consumer.owning_block:
        return False
    if all(value.node is not producer for value in consumer.inputs):
        return False
    return producer.next is consumer
