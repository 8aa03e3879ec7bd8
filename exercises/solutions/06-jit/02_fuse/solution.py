"""One walk from the producer to the consumer, with a list of those that must stay behind the producer."""

from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Node
from glasstorch.jit.passes.fuse_pointwise import is_fusible
from glasstorch.jit.side_effects import has_side_effects


def touched(node: Node, aliases: AliasAnalysis) -> set[object]:
    """The places in memory of a node's inputs and outputs."""
    values = (*node.inputs, *node.outputs)
    return set().union(*(aliases.places(value) for value in values))


def must_follow(later: Node, earlier: Node, aliases: AliasAnalysis) -> bool:
    """Whether a node must stay behind an earlier one."""
    if any(value.node is earlier for value in later.inputs):
        return True
    if not aliases.writes(earlier).isdisjoint(touched(later, aliases)):
        return True
    if not aliases.writes(later).isdisjoint(touched(earlier, aliases)):
        return True
    return has_side_effects(earlier) and has_side_effects(later)


def may_fuse(producer: Node, consumer: Node, aliases: AliasAnalysis) -> bool:
    """Whether two nodes may become one that stands where the consumer does."""
    if not (is_fusible(producer) and is_fusible(consumer)):
        return False
    if producer.owning_block is not consumer.owning_block:
        return False
    if all(value.node is not producer for value in consumer.inputs):
        return False
    behind = [producer]
    node = producer.next
    while node is not consumer:
        if any(must_follow(node, other, aliases) for other in behind):
            behind.append(node)
        node = node.next
    return not any(must_follow(consumer, other, aliases) for other in behind[1:])
