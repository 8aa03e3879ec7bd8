"""Are all nodes removed that are not needed, and is every write kept that is read later?"""

from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir
from workbook.exercises.asking import Ask, expect

HEAD = "graph(%x : Tensor, %y : Tensor, %one : int):"


def graph(lines: str, returns: str) -> Graph:
    """The graph with these nodes, separated by semicolons; every value without a type is a tensor."""
    body = []
    for line in lines.split(";"):
        names, _, call = line.partition("=")
        typed = ", ".join(name.strip() if ":" in name else f"{name.strip()} : Tensor" for name in names.split(","))
        kind = call.strip() if "::" in call else f"aten::{call.strip()}"
        body.append(f"  {typed} = {kind}")
    return parse_ir("\n".join([HEAD, *body, f"  return ({returns})\n"]))


def left(ask: Ask, lines: str, returns: str, accepted: str, because: str) -> None:
    """Run the pass on a graph and judge which nodes are left, and what it returned."""
    given = graph(lines, returns)
    asked = f"the nodes that are left of this graph, in their order:\n{given}"
    before = len(given.nodes)
    came = ask("eliminate_dead_code", given)
    kinds = " ".join(node.kind.partition("::")[2] for node in given.nodes)
    expect(kinds, accepted, asked=asked, because=because)
    expect(came.value, len(given.nodes) < before, asked=f"whether a node was removed, where this is left:\n{given}")
    given.lint()


def test_nothing_to_remove(ask: Ask) -> None:
    """a graph in which every node is needed"""
    left(ask, "%r = neg(%x)", "%r", "neg", "the graph returns its output")
    left(ask, "%a = neg(%x); %r = mul(%a, %y)", "%r", "neg mul", "the second uses the first, and is itself returned")


def test_a_node_that_nobody_uses(ask: Ask) -> None:
    """a graph with nodes that are not used"""
    left(ask, "%a = neg(%x); %r = tanh(%x)", "%r", "tanh", "the output of neg is not used, and neg writes to nothing")
    because = "when the last node of a chain is gone, the one before it is not used any more"
    left(ask, "%a = neg(%x); %b = exp(%a); %c = mul(%b, %a); %r = tanh(%x)", "%r", "tanh", because)


def test_a_write_to_what_belongs_to_others(ask: Ask) -> None:
    """a graph that writes to one of its inputs"""
    because = "the caller has the input, and can read what was written to it"
    left(ask, "%w = relu_(%x)", "%y", "relu_", because)
    left(ask, "%r = neg(%y); %w = relu_(%x)", "%r", "neg relu_", because)
    left(ask, "%v = t(%x); %w = relu_(%v)", "%y", "t relu_", "a view of an input has the memory of the input")


def test_a_write_that_is_read_later(ask: Ask) -> None:
    """a graph that writes to memory of its own, which is read afterwards"""
    because = "the result of relu_ is not used, but the memory that it changed is read later"
    left(ask, "%a = neg(%x); %w = relu_(%a); %r = tanh(%a)", "%r", "neg relu_ tanh", because)
    left(ask, "%r = neg(%x); %w = relu_(%r)", "%r", "neg relu_", "what is returned is read after everything else")
    because = "the view and its base share their memory"
    left(ask, "%a = neg(%x); %v = t(%a); %w = relu_(%v); %r = tanh(%a)", "%r", "neg t relu_ tanh", because)
    left(ask, "%a = neg(%x); %v = t(%a); %w = relu_(%a); %r = tanh(%v)", "%r", "neg t relu_ tanh", because)
    because = "mul_ is needed for what it writes, so its arguments are read, and relu_ has written to one of them"
    lines = "%a = neg(%x); %b = exp(%x); %w = relu_(%b); %u = mul_(%a, %b); %r = tanh(%a)"
    left(ask, lines, "%r", "neg exp relu_ mul_ tanh", because)


def test_a_write_that_nobody_sees(ask: Ask) -> None:
    """a graph that writes to memory of its own, which is not read afterwards"""
    because = "the memory is the graph's own, and it is not read after the write"
    left(ask, "%a = neg(%x); %w = relu_(%a)", "%y", "", because)
    left(ask, "%a = neg(%x); %r = tanh(%a); %w = relu_(%a)", "%r", "neg tanh", because)
    because = "only reads after the write count, and only those of nodes that are needed"
    left(ask, "%a = neg(%x); %r = tanh(%a); %w = relu_(%a); %u = exp(%a)", "%r", "neg tanh", because)


def test_a_random_draw(ask: Ask) -> None:
    """a graph that draws random numbers, which are not used"""
    lines = (
        "%n : NoneType = prim::Constant(); %s : int[] = prim::ListConstruct(%one);"
        " %a = rand(%s, %n, %n, %n, %n); %r = tanh(%x)"
    )
    because = "the draw changes the state of the generator, so without it every later draw gives other numbers"
    kept = "Constant ListConstruct rand tanh"
    left(ask, lines, "%r", kept, because)
    lines = (
        "%n : NoneType = prim::Constant(); %low : float = prim::Constant[value=0.]();"
        " %high : float = prim::Constant[value=1.]();"
        " %a = neg(%x); %w = relu_(%a); %u = uniform_(%a, %low, %high, %n); %r = tanh(%x)"
    )
    because = "uniform_ is kept for its side effect, and it reads its inputs as any other node does"
    left(ask, lines, "%r", "Constant Constant Constant neg relu_ uniform_ tanh", because)
