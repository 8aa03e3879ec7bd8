"""Compares pattern and graph from the anchor on, and hands on what was found; looks at users at the end."""

from typing import Any

from glasstorch.compiler.patterns.matcher import NOTHING, Arg, Either, Match, Op, Reader
from glasstorch.fx import Node


def find(pattern: Any, anchor: Node, read: Reader, alone: bool = True) -> Match | None:
    """The match of a pattern whose last operator is a node, or None."""

    def match(pattern: Any, value: Any, found: Match) -> Match | None:
        if isinstance(pattern, Arg):
            if pattern.name in found.values:
                return found if same(found.values[pattern.name], value) else None
            return Match(anchor, {**found.values, pattern.name: value}, found.nodes)
        if isinstance(pattern, Either):
            options = (match(option, value, found) for option in pattern.options)
            return next((option for option in options if option is not None), None)
        if not isinstance(pattern, Op):
            return found if same(pattern, value) else None
        operation = read(value) if isinstance(value, Node) else None
        if operation is None:
            return None
        with_node = Match(anchor, found.values, (*found.nodes, value))
        if operation.word == NOTHING:
            return match(pattern, operation.operands[0], with_node)
        if operation.word not in pattern.words or len(operation.operands) != len(pattern.operands):
            return None
        left: Match | None = with_node
        for one, operand in zip(pattern.operands, operation.operands, strict=True):
            left = None if left is None else match(one, operand, left)
        return left

    found = match(pattern, anchor, Match(anchor, {}, ()))
    if found is None or not alone:
        return found
    needed = any(user not in found.nodes for node in found.nodes if node is not anchor for user in node.users)
    return None if needed else found


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same node, or equal constants of the same class."""
    if isinstance(one, Node) or isinstance(other, Node):
        return one is other
    return type(one) is type(other) and bool(one == other)
