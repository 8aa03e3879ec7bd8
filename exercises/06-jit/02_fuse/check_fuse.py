"""Is the fusion of two nodes allowed where it changes no result, and only there?"""

from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.parser import parse_ir
from workbook.exercises.asking import Ask, expect

HEAD = "graph(%x : Tensor, %y : Tensor, %n : int):"
ONE = "  %one : int = prim::Constant[value=1]()"


def decide(ask: Ask, lines: str, pair: str, accepted: bool, because: str) -> None:
    """Ask about two nodes, named after their results, of a graph that returns the results of its last two nodes."""
    calls = [line.split(" = ") for line in lines.split("; ")]
    body = [f"  %{name} : Tensor = aten::{call}" for name, call in calls]
    returned = ", ".join(f"%{name}" for name, _ in calls[-2:])
    graph = parse_ir("\n".join([HEAD, ONE, *body, f"  return ({returned})\n"]))
    nodes = {value.debug_name: node for node in graph.nodes for value in node.outputs}
    producer, consumer = pair.split()
    came = ask("may_fuse", nodes[producer], nodes[consumer], AliasAnalysis(graph))
    asked = f"whether the nodes of %{producer} and %{consumer} may be fused in this graph:\n{graph}"
    expect(came, accepted, asked=asked, because=because)


def test_neighbours(ask: Ask) -> None:
    """whether two nodes with nothing between them may be fused"""
    decide(ask, "a = neg(%x); b = exp(%a)", "a b", True, "exp uses the result of neg, and both are pointwise")
    decide(ask, "a = neg(%x); b = mul(%y, %a)", "a b", True, "the second input of mul is the result of neg")
    decide(ask, "a = neg(%x); b = exp(%x)", "a b", False, "exp does not use the result of neg")
    decide(ask, "a = neg(%x); b = mm(%a, %y)", "a b", False, "a product of matrices is not pointwise")
    decide(ask, "a = mm(%x, %y); b = exp(%a)", "a b", False, "a product of matrices is not pointwise")
    decide(ask, "a = neg(%x); b = relu_(%a)", "a b", False, "an operator that writes to its argument is not fusible")


def test_what_has_nothing_to_do_with_them(ask: Ask) -> None:
    """whether two nodes may be fused with others between them"""
    because = "mm does not use the producer, so it can run before the loop"
    decide(ask, "a = neg(%x); m = mm(%x, %y); b = mul(%a, %m)", "a b", True, because)
    because = "a node that uses the producer can run after the loop if the consumer does not need it"
    decide(ask, "a = neg(%x); m = mm(%a, %y); b = exp(%a)", "a b", True, because)
    decide(ask, "a = neg(%x); m = mm(%a, %y); k = t(%m); b = exp(%a)", "a b", True, because)


def test_what_needs_the_one_and_is_needed_by_the_other(ask: Ask) -> None:
    """whether two nodes may be fused where a node between them uses the first and is used by the second"""
    because = "mm uses the producer and the consumer uses mm, so it would have to run both after the loop and before it"
    decide(ask, "a = neg(%x); m = mm(%a, %y); b = mul(%a, %m)", "a b", False, because)
    because = "t uses mm and mm uses the producer, so both would have to run after the loop, and also before it"
    decide(ask, "a = neg(%x); m = mm(%a, %y); k = t(%m); b = mul(%a, %k)", "a b", False, because)


def test_a_write_between_them(ask: Ask) -> None:
    """whether two nodes may be fused where a node between them writes to memory"""
    decide(ask, "a = neg(%x); w = relu_(%a); b = exp(%a)", "a b", False, "the consumer reads what relu_ has written")
    because = "relu_ writes to a view, which shares the memory that the consumer reads"
    decide(ask, "a = neg(%x); v = t(%a); w = relu_(%v); b = exp(%a)", "a b", False, because)
    because = "the producer must read before the write, and the consumer after it"
    decide(ask, "a = neg(%x); w = relu_(%x); b = mul(%a, %x)", "a b", False, because)
    because = "the consumer does not read what relu_ writes, so relu_ can run after the loop"
    decide(ask, "o = neg(%x); a = exp(%o); w = relu_(%o); b = sin(%a)", "a b", True, because)
    because = "the memory that is written to is neither the producer's nor the consumer's"
    decide(ask, "o = mm(%x, %y); a = exp(%x); w = relu_(%o); b = sin(%a)", "a b", True, because)


def test_a_write_by_way_of_others(ask: Ask) -> None:
    """whether two nodes may be fused where a write depends on the first and the second depends on the write"""
    because = "add_ uses the result of the producer, and the consumer reads what add_ has written"
    decide(ask, "o = mm(%x, %y); a = neg(%x); w = add_(%o, %a, %one); b = mul(%a, %o)", "a b", False, because)
    because = "mm uses the producer, relu_ must stay behind mm, and the consumer reads what relu_ has written"
    lines = "o = mm(%x, %y); a = neg(%x); m = mm(%a, %o); w = relu_(%o); b = mul(%a, %o)"
    decide(ask, lines, "a b", False, because)
