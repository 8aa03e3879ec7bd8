"""How is a pattern of operators found in a graph?

Mirrors: torch/_inductor/pattern_matcher.py (PatternExpr, CallFunction, KeywordArg, Match)
Differs: a pattern names operations by words, and a reader says which word a node is, and what it is applied to. So one
    pattern stands for all spellings.

A pattern is written from its last operation backwards:

>>> pattern = Op("add", Either(Op("mul", Arg("x"), Arg("y")), Arg("x")), 1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from glasstorch.fx.node import Node


@dataclass(frozen=True, slots=True)
class Arg:
    """Anything; in two places of a pattern, the same thing."""

    name: str


class Op:
    """An operation: its word, or one of several, and a pattern for each operand."""

    def __init__(self, words: str | tuple[str, ...], *operands: Any) -> None:
        self.words = (words,) if isinstance(words, str) else words
        self.operands = operands


class Either:
    """The first of several patterns that matches."""

    def __init__(self, *options: Any) -> None:
        self.options = options


class Operation(NamedTuple):
    """What a node does: a word and its operands, which are nodes or constants."""

    word: str
    operands: tuple[Any, ...]


NOTHING: Final = "nothing"  # the word of what gives its operand, and is passed over inside a pattern

Reader = Callable[[Node], Operation | None]


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern was found: what its arguments are, and which nodes its operations are, the last one first."""

    anchor: Node
    values: Mapping[str, Any]
    nodes: tuple[Node, ...]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str) -> Any:
        """What an argument is; None if it stands in an option that was not taken."""
        return self.values.get(name)


def find(pattern: Any, anchor: Node, read: Reader, alone: bool = True) -> Match | None:
    """The match of a pattern that ends at a node; with `alone`, if what lies inside it is needed nowhere else."""
    found = _match(pattern, anchor, Match(anchor, {}, ()), read)
    if found is None or not alone:
        return found
    inside = set(found.nodes)
    if any(user not in inside for node in found.nodes if node is not anchor for user in node.users):
        return None
    return found


def _match(pattern: Any, value: Any, found: Match, read: Reader) -> Match | None:
    if isinstance(pattern, Arg):
        if pattern.name in found.values:
            return found if _same(found.values[pattern.name], value) else None
        return Match(found.anchor, {**found.values, pattern.name: value}, found.nodes)
    if isinstance(pattern, Either):
        options = (_match(option, value, found, read) for option in pattern.options)
        return next((option for option in options if option is not None), None)
    if not isinstance(pattern, Op):
        return found if _same(pattern, value) else None
    operation = read(value) if isinstance(value, Node) else None
    if operation is not None and operation.word == NOTHING:
        return _match(pattern, operation.operands[0], Match(found.anchor, found.values, (*found.nodes, value)), read)
    if operation is None or operation.word not in pattern.words or len(operation.operands) != len(pattern.operands):
        return None
    left: Match | None = Match(found.anchor, found.values, (*found.nodes, value))
    for one, operand in zip(pattern.operands, operation.operands, strict=True):
        if left is None:
            return None
        left = _match(one, operand, left, read)
    return left


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Node) or isinstance(other, Node):
        return one is other
    return type(one) is type(other) and bool(one == other)
