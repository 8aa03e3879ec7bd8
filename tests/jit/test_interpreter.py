"""Does a compiled graph compute what its text says, and let every value go with its last use?"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import ArgumentError, RegistrationError, ShapeError
from glasstorch.dispatch.library import Library
from glasstorch.jit import interpreter
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph, Node
from glasstorch.jit.parser import parse_ir


def compiled(text: str) -> Code:
    return Code(parse_ir(text))


ADD = """
graph(%x : Tensor, %y : Tensor):
  %2 : int = prim::Constant[value=2]()
  %3 : Tensor = aten::add(%x, %y, %2)
  return (%3)
"""

LOOP = """
graph(%x : Tensor, %most : int, %go_on : bool):
  %y : Tensor = prim::Loop(%most, %go_on, %x)
    block0(%i : int, %carried : Tensor):
      %5 : Tensor = aten::mul(%carried, %x)
      %6 : Tensor = aten::pow(%5, %i)
      -> (%go_on, %6)
  return (%y)
"""

IF = """
graph(%x : Tensor, %choice : bool):
  %2 : Tensor = aten::exp(%x)
  %3 : Tensor = prim::If(%choice)
    block0():
      %4 : Tensor = aten::neg(%2)
      -> (%4)
    block1():
      -> (%2)
  %5 : Tensor = aten::relu(%3)
  return (%5)
"""


def test_an_operator_gets_its_inputs_in_order() -> None:
    (result,) = compiled(ADD)(glasstorch.tensor([1.0]), glasstorch.tensor([10.0]))
    assert result.tolist() == [21.0]


def test_a_node_becomes_loads_a_call_and_a_store() -> None:
    assert str(compiled(ADD)).splitlines() == [
        "0 STORE 0 0",
        "1 STORE 1 0",
        "2 MOVE 1 0",
        "3 MOVE 0 0",
        "4 LOADC 0 0",
        "5 OP 0 3",
        "6 STORE 2 0",
        "7 MOVE 2 0",
        "8 RET 0 0",
    ]


def test_a_value_used_twice_by_one_node_is_moved_once() -> None:
    code = compiled("graph(%x : Tensor):\n  %1 : Tensor = aten::mul(%x, %x)\n  return (%1)")
    assert [str(i) for i in code.instructions[1:3]] == ["LOAD 0 0", "MOVE 0 0"]
    assert code(glasstorch.tensor([3.0]))[0].tolist() == [9.0]


def test_a_value_may_be_returned_twice() -> None:
    code = compiled("graph(%x : Tensor):\n  %1 : Tensor = aten::neg(%x)\n  return (%1, %x, %1)")
    assert [t.item() for t in code(glasstorch.tensor(2.0))] == [-2.0, 2.0, -2.0]


@pytest.mark.parametrize(("choice", "wanted"), [(True, 0.0), (False, 1.0)])
def test_an_if_runs_one_of_its_blocks(choice: bool, wanted: float) -> None:
    assert compiled(IF)(glasstorch.tensor(0.0), choice)[0].item() == wanted


def test_the_condition_of_an_if_may_be_used_inside_it() -> None:
    code = compiled("""
graph(%x : Tensor, %choice : bool):
  %1 : Tensor = prim::If(%choice)
    block0():
      %dtype : NoneType = prim::Constant()
      %dims : int[] = prim::Constant[value=[0]]()
      %2 : Tensor = aten::sum(%x, %dims, %choice, %dtype)
      -> (%2)
    block1():
      -> (%x)
  return (%1)
""")
    assert tuple(code(glasstorch.ones(4), True)[0].shape) == (1,)


def test_a_list_that_is_returned_is_made_anew() -> None:
    code = compiled("""
graph():
  %one : int = prim::Constant[value=1]()
  %list : int[] = prim::ListConstruct(%one, %one)
  return (%list)
""")
    (first,), (second,) = code(), code()
    assert first == second == [1, 1]
    assert first is not second


@pytest.mark.parametrize("passes", [0, 1, 4])
def test_a_loop_carries_its_values_along(passes: int) -> None:
    wanted = 2.0
    for i in range(passes):
        wanted = (wanted * 2.0) ** i
    assert compiled(LOOP)(glasstorch.tensor(2.0), passes, True)[0].item() == wanted


def test_a_loop_whose_condition_is_false_does_not_run() -> None:
    assert compiled(LOOP)(glasstorch.tensor(2.0), 3, False)[0].item() == 2.0


def test_lists_and_tuples_are_built_and_taken_apart() -> None:
    code = compiled("""
graph(%x : Tensor, %pair : (Tensor, Tensor)):
  %zero : int = prim::Constant[value=0]()
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%pair)
  %all : Tensor[] = prim::ListConstruct(%b, %a, %x)
  %one : Tensor = aten::cat(%all, %zero)
  %parts : Tensor[] = aten::unbind(%one, %zero)
  %p : Tensor, %q : Tensor, %r : Tensor = prim::ListUnpack(%parts)
  %result : (Tensor, Tensor) = prim::TupleConstruct(%r, %p)
  return (%result)
""")
    x, a, b = (glasstorch.tensor([float(n)]) for n in range(3))
    (result,) = code(x, (a, b))
    assert isinstance(result, tuple)
    assert [t.item() for t in result] == [0.0, 2.0]


def test_a_list_of_another_length_than_the_graph_knows_is_refused() -> None:
    code = compiled("""
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %parts : Tensor[] = aten::unbind(%x, %zero)
  %p : Tensor, %q : Tensor = prim::ListUnpack(%parts)
  return (%p)
""")
    with pytest.raises(ArgumentError, match="Expected 2 elements in a list or tuple but found 3"):
        code(glasstorch.zeros(3))


def test_an_operator_with_several_results_gives_several_values() -> None:
    code = compiled("""
graph(%x : Tensor):
  %dim : int = prim::Constant[value=0]()
  %keepdim : bool = prim::Constant[value=0]()
  %values : Tensor, %indices : Tensor = aten::max(%x, %dim, %keepdim)
  return (%indices, %values)
""")
    indices, values = code(glasstorch.tensor([3.0, 5.0]))
    assert (indices.item(), values.item()) == (1, 5.0)


CAST = """
graph(%x : Tensor{parameter}):
  %dims : int[] = prim::Constant[value=[0]]()
  %keepdim : bool = prim::Constant[value=0]()
{constant}  %4 : Tensor = aten::sum(%x, %dims, %keepdim, %dtype)
  return (%4)
"""


def test_a_dtype_is_decoded_from_its_number() -> None:
    fixed = CAST.format(parameter="", constant="  %dtype : int = prim::Constant[value=7]()\n")
    given = CAST.format(parameter=", %dtype : int", constant="")
    x = glasstorch.ones(2)
    assert compiled(fixed)(x)[0].dtype is glasstorch.float64
    assert compiled(given)(x, 4)[0].dtype is glasstorch.int64


def test_an_error_says_which_node_it_came_from() -> None:
    with pytest.raises(ShapeError) as raised:
        compiled(ADD)(glasstorch.zeros(2), glasstorch.zeros(3))
    assert raised.value.__notes__ == ["in this node of the graph: %3 : Tensor = aten::add(%x, %y, %2)"]


def test_too_few_inputs_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected 2 inputs for this graph, got 1"):
        compiled(ADD)(glasstorch.zeros(2))


def test_a_node_that_no_instruction_runs_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match=r"no instruction runs prim::Mystery .*expected an operator or one of"):
        compiled("graph(%x : Tensor):\n  %1 : Tensor = prim::Mystery(%x)\n  return (%1)")


def test_changing_a_graph_later_does_not_change_its_code() -> None:
    graph = parse_ir(ADD)
    code = Code(graph)
    graph.replace_output(0, graph.inputs[0])
    assert code(glasstorch.tensor(1.0), glasstorch.tensor(1.0))[0].item() == 3.0


TUPLES = """
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %false : bool = prim::Constant[value=0]()
  %pair : (Tensor, Tensor) = prim::TupleConstruct(%y, %x)
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%pair)
  %both : Tensor[] = prim::ListConstruct(%a, %b)
  %one : Tensor = aten::stack(%both, %zero)
  %unused : Tensor = aten::exp(%one)
  %values : Tensor, %indices : Tensor = aten::max(%one, %zero, %false)
  return (%values, %indices)
"""


@pytest.mark.parametrize(
    ("text", "inputs"),
    [(ADD, (1.0, 2.0)), (IF, (1.0, True)), (IF, (1.0, False)), (LOOP, (2.0, 3, True)), (TUPLES, (1.0, 2.0))],
)
def test_running_by_steps_is_running_the_instructions(text: str, inputs: tuple[Any, ...]) -> None:
    code = compiled(text)
    stacks = [[glasstorch.tensor(i) if isinstance(i, float) else i for i in inputs] for _ in range(2)]
    code.run(stacks[0])
    code.run_plainly(stacks[1])
    assert [t.tolist() for t in stacks[0]] == [t.tolist() for t in stacks[1]]


# Liveness ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def alive() -> Iterator[list[int]]:
    """How many of the tensors that `watched::step` made are alive, told each time that it has run."""
    made: list[weakref.ref[Any]] = []
    counts: list[int] = []

    def step(x: Any) -> Any:
        result = x + 1
        made.append(weakref.ref(result))
        counts.append(sum(ref() is not None for ref in made))
        return result

    with Library("watched", "DEF") as library:
        library.define("step(Tensor x) -> Tensor")
        library.impl("step", step, "CPU")
        yield counts


def run_and_count(text: str, *inputs: Any, alive: list[int]) -> list[int]:
    code = compiled(text)
    gc.disable()
    try:
        code(*inputs)
    finally:
        gc.enable()
    return alive


def test_a_value_is_dropped_when_its_last_user_has_run(alive: list[int]) -> None:
    text = """
graph(%x : Tensor):
  %1 : Tensor = watched::step(%x)
  %2 : Tensor = watched::step(%1)
  %3 : Tensor = watched::step(%2)
  %4 : Tensor = watched::step(%3)
  return (%4)
"""
    assert run_and_count(text, glasstorch.zeros(2), alive=alive) == [1, 2, 2, 2]


def test_a_value_with_a_later_use_is_kept(alive: list[int]) -> None:
    text = """
graph(%x : Tensor):
  %1 : Tensor = watched::step(%x)
  %2 : Tensor = watched::step(%1)
  %3 : Tensor = watched::step(%2)
  %4 : Tensor = aten::mul(%1, %3)
  %5 : Tensor = watched::step(%4)
  %6 : Tensor = watched::step(%5)
  return (%6)
"""
    assert run_and_count(text, glasstorch.zeros(2), alive=alive) == [1, 2, 3, 1, 2]


def test_a_value_that_nothing_uses_is_dropped_at_once(alive: list[int]) -> None:
    text = """
graph(%x : Tensor):
  %1 : Tensor = watched::step(%x)
  %2 : Tensor = watched::step(%x)
  %3 : Tensor = watched::step(%x)
  return (%x)
"""
    assert run_and_count(text, glasstorch.zeros(2), alive=alive) == [1, 1, 1]


def test_what_a_loop_reads_lives_as_long_as_the_loop_and_no_longer(alive: list[int]) -> None:
    text = """
graph(%x : Tensor):
  %three : int = prim::Constant[value=3]()
  %true : bool = prim::Constant[value=1]()
  %outer : Tensor = watched::step(%x)
  %y : Tensor = prim::Loop(%three, %true, %x)
    block0(%i : int, %carried : Tensor):
      %inner : Tensor = watched::step(%carried)
      %sum : Tensor = aten::mul(%inner, %outer)
      -> (%true, %sum)
  %last : Tensor = watched::step(%y)
  return (%last)
"""
    assert run_and_count(text, glasstorch.zeros(2), alive=alive) == [1, 2, 2, 2, 1]


def test_what_only_one_branch_reads_is_dropped_after_either(alive: list[int]) -> None:
    text = """
graph(%x : Tensor, %choice : bool):
  %1 : Tensor = watched::step(%x)
  %2 : Tensor = prim::If(%choice)
    block0():
      %3 : Tensor = aten::neg(%1)
      -> (%3)
    block1():
      -> (%x)
  %4 : Tensor = watched::step(%2)
  return (%4)
"""
    assert run_and_count(text, glasstorch.zeros(2), True, alive=alive) == [1, 1]
    alive.clear()
    assert run_and_count(text, glasstorch.zeros(2), False, alive=alive) == [1, 1]


def test_a_kind_without_a_schema_runs_what_was_registered_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "operations", {})
    made = []

    def make(node: Node) -> Callable[..., tuple[Any, ...]]:
        made.append(node.kind)
        return lambda *values: (sum(values[1:], values[0]), values[0])

    interpreter.register_operation("prim::FusionGroup", make)
    graph = Graph()
    x, y = graph.add_input("x"), graph.add_input("y")
    group = graph.insert_node(graph.create("prim::FusionGroup", [x, y, y], 2))
    graph.register_output(group.outputs[0])
    code = Code(graph)
    assert made == ["prim::FusionGroup"]  # when it is compiled, and once
    for run in (code.run, code.run_plainly):
        stack: list[Any] = [glasstorch.ones(1), glasstorch.full((1,), 2.0)]
        run(stack)
        assert [value.item() for value in stack] == [5.0]
    with pytest.raises(RegistrationError, match=r"prim::FusionGroup is run by .* already; refused"):
        interpreter.register_operation("prim::FusionGroup", make)
