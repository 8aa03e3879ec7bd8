"""Are patterns found where they are, with their arguments and nodes, and nowhere else?"""

import operator
from collections.abc import Callable
from typing import Any

from glasstorch.compiler.patterns.matcher import NOTHING, Arg, Either, Match, Op, Operation
from glasstorch.fx import Graph, Node
from workbook.exercises.asking import Ask, expect

CALLS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": operator.abs,
    "same": operator.pos,
}
WORDS = {function: word for word, function in CALLS.items()}
X, Y, Z = Arg("x"), Arg("y"), Arg("z")


def read(node: Node) -> Operation | None:
    """What a node of these graphs does; `same` gives back its operand."""
    if node.op != "call_function":
        return None
    word = WORDS[node.target]  # type: ignore[index]
    return Operation(NOTHING if word == "same" else word, tuple(node.args))


def graph_of(text: str) -> dict[str, Node]:
    """The nodes of a graph, by name: `c = add a 1; d = neg c` with inputs a and b, and all given names returned."""
    graph = Graph()
    nodes = {name: graph.placeholder(name) for name in "ab"}
    program, _, returned = text.partition(" -> ")
    for line in program.split("; "):
        name, _, call = line.partition(" = ")
        word, *given = call.split()
        nodes[name] = graph.call_function(
            CALLS[word], tuple(nodes[one] if one in nodes else eval(one) for one in given)
        )
        nodes[name].name = name
    graph.output(tuple(nodes[name] for name in returned.split()))
    return nodes


def text_of(pattern: Any) -> str:
    """A pattern as a program writes it."""
    if isinstance(pattern, Arg):
        return f"Arg({pattern.name!r})"
    if isinstance(pattern, Either):
        return f"Either({', '.join(map(text_of, pattern.options))})"
    if isinstance(pattern, Op):
        words = repr(pattern.words if len(pattern.words) > 1 else pattern.words[0])
        return f"Op({', '.join([words, *map(text_of, pattern.operands)])})"
    return repr(pattern)


def told(match: Any) -> object:
    """The arguments and nodes of a match, by name."""
    if not isinstance(match, Match):
        return match
    order = list(match.nodes)
    wrong = any(used in order[:place] for place, node in enumerate(order) for used in node.all_input_nodes)
    names = sorted({node.name for node in order})
    values = {name: str(one) if isinstance(one, Node) else repr(one) for name, one in sorted(match.values.items())}
    return (match.anchor.name, values, "a node after one that it uses" if wrong else names)


def judge(ask: Ask, pattern: Any, text: str, accepted: object, because: str, alone: bool = True) -> None:
    """Ask for a pattern at the node `z`, which is the last one of the graph."""
    anchor = graph_of(text)["z"]
    asked = f"the anchor, arguments and nodes of {text_of(pattern)} at z in: {text}{'' if alone else ', alone=False'}"
    expect(ask("find", pattern, anchor, read, alone), accepted, read=told, asked=asked, because=because)


def test_operations(ask: Ask) -> None:
    """one operation after the other"""
    because = "words and operands are those of the graph, from the anchor backwards"
    judge(ask, Op("neg", X), "z = neg a -> z", ("z", {"x": "a"}, ["z"]), because)
    judge(
        ask, Op("neg", Op("add", X, Y)), "c = add a b; z = neg c -> z", ("z", {"x": "a", "y": "b"}, ["c", "z"]), because
    )
    judge(ask, Op(("add", "mul"), X, Y), "z = mul a b -> z", ("z", {"x": "a", "y": "b"}, ["z"]), because)
    judge(ask, Op("add", X, Y), "z = mul a b -> z", None, "the node does something else")
    judge(ask, Op("neg", Op("add", X, Y)), "c = mul a b; z = neg c -> z", None, "the node does something else")
    judge(ask, Op("add", X), "z = add a b -> z", None, "the node has another number of operands")
    judge(ask, Op("add", X, Y, Z), "z = add a b -> z", None, "the node has another number of operands")
    judge(ask, Op("neg", Op("neg", X)), "z = neg a -> z", None, "an input is no operation")
    judge(ask, Op("add", Op("neg", X), Y), "z = add 2 a -> z", None, "a constant is no operation")


def test_arguments(ask: Ask) -> None:
    """the same argument in two places"""
    because = "two places with the same name stand for the same thing"
    judge(ask, Op("add", X, X), "z = add a a -> z", ("z", {"x": "a"}, ["z"]), because)
    judge(ask, Op("add", X, X), "z = add a b -> z", None, because)
    nested = Op("add", Op("mul", X, Y), X)
    judge(ask, nested, "c = mul a b; z = add c a -> z", ("z", {"x": "a", "y": "b"}, ["c", "z"]), because)
    judge(ask, nested, "c = mul a b; z = add c b -> z", None, because)
    twice = Op("add", Op("mul", a := Arg("of"), X), Op("mul", a, Y))
    accepted = ("z", {"of": "2", "x": "a", "y": "b"}, ["c", "d", "z"])
    judge(ask, twice, "c = mul 2 a; d = mul 2 b; z = add c d -> z", accepted, because)
    judge(ask, twice, "c = mul 2 a; d = mul 2.0 b; z = add c d -> z", None, "the constants have other classes")
    judge(ask, twice, "c = mul 2 a; d = mul 3 b; z = add c d -> z", None, because)


def test_constants(ask: Ask) -> None:
    """constants in a pattern"""
    for constant, given in ((1, "1"), (2.0, "2.0"), (None, "None"), (True, "True")):
        pattern = Op("add", X, constant)
        judge(ask, pattern, f"z = add a {given} -> z", ("z", {"x": "a"}, ["z"]), "the constants are equal")
    for constant, given in ((1, "1.0"), (1, "True"), (0, "False"), (1, "2"), (1, "b"), (None, "0")):
        because = "they have different classes, or are different, or one of them is a node"
        judge(ask, Op("add", X, constant), f"z = add a {given} -> z", None, because)


def test_options(ask: Ask) -> None:
    """several options"""
    either = Op("neg", Either(Op("add", X, Op("abs", Y)), Op("add", X, 1), X))
    because = "the first option that matches counts, and one that fails leaves nothing behind"
    judge(ask, either, "c = add a 1; z = neg c -> z", ("z", {"x": "a"}, ["c", "z"]), because)
    judge(ask, either, "c = add a 2; z = neg c -> z", ("z", {"x": "c"}, ["z"]), because)
    judge(ask, either, "d = abs b; c = add a d; z = neg c -> z", ("z", {"x": "a", "y": "b"}, ["c", "d", "z"]), because)
    judge(ask, Either(Op("abs", X), Op("neg", Y)), "z = neg a -> z", ("z", {"y": "a"}, ["z"]), because)
    judge(ask, Op("neg", Either(1, Op("abs", X))), "z = neg a -> z", None, "no option matches")


def test_nodes_that_change_nothing(ask: Ask) -> None:
    """nodes that are passed over"""
    because = "such a node is passed over where an operation is expected, and belongs to the match"
    text = "c = abs a; d = same c; z = neg d -> z"
    judge(ask, Op("neg", Op("abs", X)), text, ("z", {"x": "a"}, ["c", "d", "z"]), because)
    text = "c = abs a; d = same c; e = same d; z = neg e -> z"
    judge(ask, Op("neg", Op("abs", X)), text, ("z", {"x": "a"}, ["c", "d", "e", "z"]), because)
    judge(ask, Op("neg", X), "c = same a; z = neg c -> z", ("z", {"x": "c"}, ["z"]), "an argument is the node as it is")


def test_others_need_what_lies_inside(ask: Ask) -> None:
    """a node inside of the pattern that is used elsewhere"""
    pattern, found = Op("neg", Op("abs", X)), ("z", {"x": "a"}, ["c", "z"])
    for text in ("c = abs a; z = neg c -> z c", "c = abs a; z = neg c; d = mul c 2 -> z d"):
        judge(ask, pattern, text, None, "the value of c is needed outside of the match")
        judge(ask, pattern, text, found, "with alone=False that does not matter", alone=False)
    judge(ask, pattern, "c = abs a; z = neg c; d = mul z 2 -> z d", found, "users of the anchor get what replaces it")
    judge(ask, pattern, "d = neg a; c = abs a; z = neg c -> z d", found, "an argument may have other users")
    judge(ask, Op("add", Op("abs", X), Op("abs", X)), "c = abs a; z = add c c -> z", found, "both uses are inside")
    text = "c = abs a; d = same c; z = neg d; e = mul d 2 -> z e"
    judge(ask, pattern, text, None, "a node that is passed over lies inside, too")
