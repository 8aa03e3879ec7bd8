"""Does a graph read as Python as PyTorch's does, and does the text compute what the graph does?"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import glasstorch
from glasstorch import jit, nn
from glasstorch.core.errors import ArgumentError
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.python_print import constants_of, print_function
from glasstorch.jit.types import TENSOR, TupleType

TEXTS = {
    "nothing": "graph(%0 : Tensor):\n  return (%0)\n",
    "a keyword argument that is needed": """graph(%0 : Tensor, %1 : Tensor):
  %2 : int = prim::Constant[value=2]()
  %3 : Tensor = aten::add(%0, %1, %2)
  %4 : Tensor = aten::relu(%3)
  return (%4)
""",
    "defaults": """graph(%0 : Tensor):
  %1 : int = prim::Constant[value=1]()
  %2 : NoneType = prim::Constant()
  %3 : int[] = prim::Constant[value=[0, -1]]()
  %4 : bool = prim::Constant[value=0]()
  %5 : bool = prim::Constant[value=1]()
  %6 : Tensor = aten::add(%0, %0, %1)
  %7 : Tensor = aten::sum(%6, %3, %4, %2)
  %8 : Tensor = aten::sum(%6, %3, %5, %2)
  %9 : Tensor = aten::mul(%7, %8)
  return (%9)
""",
    "texts and numbers": """graph(%0 : Tensor):
  %1 : str = prim::Constant[value="trunc"]()
  %2 : Tensor = aten::div(%0, %0, %1)
  %3 : Device = prim::Constant[value="cpu"]()
  %4 : int = prim::Constant[value=6]()
  %5 : bool = prim::Constant[value=0]()
  %6 : NoneType = prim::Constant()
  %7 : Tensor = aten::to(%2, %3, %4, %5, %5, %6)
  %8 : float = prim::Constant[value=-0.5]()
  %9 : float = prim::Constant[value=3.]()
  %10 : Tensor = aten::clamp(%7, %8, %9)
  %11 : float = prim::Constant[value=0.10000000000000001]()
  %12 : float = prim::Constant[value=inf]()
  %13 : Tensor = aten::clamp(%10, %11, %12)
  return (%13)
""",
    "lists and tuples": """graph(%0 : Tensor, %1 : Tensor):
  %2 : int = prim::Constant[value=1]()
  %3 : int[] = prim::ListConstruct(%2, %2)
  %4 : Tensor[] = aten::unbind(%0, %2)
  %5 : Tensor, %6 : Tensor = prim::ListUnpack(%4)
  %7 : Tensor[] = prim::ListConstruct(%5, %6)
  %8 : Tensor = aten::stack(%7, %2)
  %16 : Tensor = aten::reshape(%8, %3)
  %9 : int[] = prim::ListConstruct()
  %10 : Tensor = aten::reshape(%16, %9)
  %11 : NoneType = prim::Constant()
  %12 : Tensor?[] = prim::ListConstruct(%11, %1)
  %13 : Tensor = aten::index(%8, %12)
  %14 : (Tensor) = prim::TupleConstruct(%13)
  %15 : (Tensor, (Tensor), Tensor[]) = prim::TupleConstruct(%8, %14, %7)
  return (%15)
""",
    "two results": """graph(%0 : Tensor):
  %1 : int = prim::Constant[value=1]()
  %2 : bool = prim::Constant[value=1]()
  %3 : Tensor, %4 : Tensor = aten::max(%0, %1, %2)
  %5 : (Tensor, Tensor) = prim::TupleConstruct(%4, %3)
  %6 : Tensor, %7 : Tensor = prim::TupleUnpack(%5)
  %8 : Tensor = aten::mul(%6, %7)
  return (%8)
""",
    "branches": """graph(%0 : Tensor, %1 : bool):
  %2 : Tensor, %3 : Tensor = prim::If(%1)
    block0():
      %4 : Tensor = aten::mul(%0, %0)
      %5 : Tensor = aten::mul(%4, %4)
      -> (%4, %5)
    block1():
      -> (%0, %0)
  %6 : Tensor = aten::mul(%2, %3)
  return (%6)
""",
    "a loop that counts": """graph(%0 : Tensor, %1 : int, %2 : bool):
  %3 : bool = prim::Constant[value=1]()
  %4 : Tensor, %5 : Tensor = prim::Loop(%1, %3, %0, %0)
    block0(%6 : int, %7 : Tensor, %8 : Tensor):
      %9 : Tensor = aten::mul(%7, %0)
      %10 : Tensor = prim::If(%2)
        block0():
          %11 : Tensor = aten::relu(%9)
          -> (%11)
        block1():
          -> (%8)
      -> (%3, %10, %9)
  %12 : Tensor = aten::mul(%4, %5)
  return (%12)
""",
    "a write nobody reads": """graph(%0 : Tensor):
  %1 : Tensor = aten::exp(%0)
  %2 : Tensor = aten::mul_(%0, %1)
  %3 : Tensor = aten::neg(%0)
  return (%3)
""",
}


def torch_code(torch: Any, text: str) -> str:
    """What PyTorch prints for a graph, as a function named forward."""
    return str(torch._C._create_function_from_graph("forward", torch._C.parse_ir(text)).code)


@pytest.mark.parametrize("case", TEXTS)
def test_a_graph_reads_as_pytorch_s(case: str, require: Callable[[str], Any]) -> None:
    assert print_function("forward", parse_ir(TEXTS[case])) == torch_code(require("torch"), TEXTS[case])


def random_graph(seed: int) -> Graph:
    """Calls of operators of one and two tensors, on values that are near more often than far."""
    drawn = random.Random(seed)
    graph = Graph()
    values = [graph.add_input() for _ in range(2)]
    for _ in range(drawn.randrange(4, 24)):
        inputs = [drawn.choice(values[-drawn.choice([1, 2, 4, 20]) :]) for _ in range(2)]
        kind = drawn.choice(["aten::relu", "aten::mul", "aten::exp", "aten::maximum", "aten::mul_"])
        values.append(graph.insert(kind, inputs[: 1 if kind in ("aten::relu", "aten::exp") else 2]))
    if drawn.random() < 0.5:
        chosen = drawn.sample(values[-4:], 2)
        graph.register_output(graph.insert("prim::TupleConstruct", chosen, TupleType((TENSOR, TENSOR))))
    else:
        graph.register_output(values[-1])
    return graph


def test_random_graphs_are_nested_and_broken_into_lines_as_pytorch_does(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    for seed in range(150):
        graph = random_graph(seed)
        assert print_function("forward", graph) == torch_code(torch, str(graph)), f"graph {seed}\n{graph}"


class Operators:
    """What the text calls torch: every operator by its name, also those that torch has as methods only."""

    def __getattr__(self, name: str) -> Any:
        return getattr(glasstorch.ops.aten, name)


def run(text: str, name: str, *inputs: Any, constants: Any = ()) -> Any:
    """What the text computes, run as Python."""
    held = SimpleNamespace(**{f"c{i}": tensor for i, tensor in enumerate(constants)})
    space: dict[str, Any] = {"torch": Operators(), "CONSTANTS": held, "Tensor": glasstorch.Tensor, "Tuple": tuple}
    exec(text, space)
    return space[name](*inputs)


def test_the_text_computes_what_the_graph_does() -> None:
    for seed in range(60):
        graph = random_graph(seed)
        x, y = glasstorch.rand(3), glasstorch.rand(3)
        found = run(print_function("f", graph), "f", x.clone(), y.clone())
        (wanted,) = Code(graph)(x.clone(), y.clone())
        for ours, theirs in zip(
            *[value if isinstance(value, tuple) else (value,) for value in (found, wanted)], strict=True
        ):
            assert ours.tolist() == theirs.tolist(), f"graph {seed}"


# Traced programs ----------------------------------------------------------------------------------------------------


def programs(torch: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Functions and their examples, in either library."""
    ones = torch.ones
    return {
        "arithmetic": (lambda x, y: (x * y + 1).relu().sum(), (ones(2, 3), ones(3))),
        "views": (lambda x: x.view(3, 2).t().clone().add_(1).t().transpose(0, 1), (ones(2, 3),)),
        "a tuple in a tuple": (lambda x, y: (x, (y, x + 1)), (ones(2, 3), ones(1))),
        "a structured input": (lambda p: p[0] + p[1][0], ((ones(2, 3), [ones(1)]),)),
        "the same constant twice": (lambda x: (x + 1) * 2 + 1, (ones(2),)),
    }


@pytest.mark.parametrize("case", programs(glasstorch))
def test_a_traced_function_reads_as_pytorch_s(case: str, require: Callable[[str], Any]) -> None:
    codes = []
    for library in (glasstorch, require("torch")):
        function, example = programs(library)[case]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            codes.append(library.jit.trace(function, example).code)
    assert codes[0] == codes[1]


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(glasstorch.ones(3))
        self.register_buffer("b", glasstorch.ones(3))

    def forward(self, x: Any) -> Any:
        return x * self.w + self.b * self.w


def test_a_module_reads_its_parameters_from_self_as_pytorch_s(require: Callable[[str], Any]) -> None:
    torch = require("torch")

    class TorchScaled(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3))
            self.register_buffer("b", torch.ones(3))

        def forward(self, x: Any) -> Any:
            return x * self.w + self.b * self.w

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = torch.jit.trace(TorchScaled(), torch.ones(2, 3)).code
    assert jit.trace(Scaled(), glasstorch.ones(2, 3)).code == theirs


def test_parameters_of_children_are_read_through_them() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    traced = jit.trace(model, glasstorch.ones(1, 2))
    assert traced.code == (
        "def forward(self,\n"
        "    input: Tensor) -> Tensor:\n"
        '  _2 = getattr(self, "2")\n'
        "  bias = _2.bias\n"
        "  weight = _2.weight\n"
        '  _0 = getattr(self, "0")\n'
        "  bias0 = _0.bias\n"
        "  weight0 = _0.weight\n"
        "  _1 = torch.relu(torch.linear(input, weight0, bias0))\n"
        "  return torch.linear(_1, weight, bias)\n"
    )
    x = glasstorch.rand(4, 2)
    assert run(traced.code, "forward", model, x).tolist() == model(x).tolist()


def test_constants_are_numbered_and_shared() -> None:
    held = glasstorch.rand(3)
    traced = jit.trace(lambda x: (x + held) * held + glasstorch.ones(3), glasstorch.zeros(3))
    assert traced.code.count("CONSTANTS.c0") == 2
    constants = constants_of(traced.graph)
    assert constants[0] is held
    x = glasstorch.rand(3)
    assert run(traced.code, "_lambda", x, constants=constants).tolist() == traced(x).tolist()


def test_the_name_of_a_function_in_a_function_is_its_last_part() -> None:
    def scaled(x: Any) -> Any:
        return x * 2

    assert jit.trace(scaled, glasstorch.ones(1)).code.startswith("def scaled(x: Tensor) -> Tensor:\n")


# What PyTorch has no text for ---------------------------------------------------------------------------------------


def test_a_loop_that_its_condition_ends_is_a_while() -> None:
    graph = parse_ir(
        """graph(%x : Tensor, %go_on : bool):
  %most : int = prim::Constant[value=9223372036854775807]()
  %y : Tensor = prim::Loop(%most, %go_on, %x)
    block0(%i : int, %carried : Tensor):
      %5 : Tensor = aten::mul(%carried, %x)
      -> (%go_on, %5)
  return (%y)
"""
    )
    assert print_function("f", graph) == (
        "def f(x: Tensor,\n"
        "    go_on: bool) -> Tensor:\n"
        "  y = x\n"
        "  i = go_on\n"
        "  while i:\n"
        "    i, y = go_on, torch.mul(y, x)\n"
        "  return y\n"
    )


def test_a_loop_with_both_cannot_be_written() -> None:
    graph = parse_ir(
        """graph(%x : Tensor, %most : int, %go_on : bool):
  %y : Tensor = prim::Loop(%most, %go_on, %x)
    block0(%i : int, %carried : Tensor):
      -> (%go_on, %carried)
  return (%y)
"""
    )
    with pytest.raises(ArgumentError, match="cannot be printed as python: it is neither for nor while"):
        print_function("f", graph)


def test_empty_branches_pass_and_nodes_without_outputs_are_lines() -> None:
    graph = parse_ir(
        """graph(%x : Tensor, %c : bool):
   = prim::If(%c)
    block0():
       = prim::Print(%x, %c)
      -> ()
    block1():
      -> ()
  return ()
"""
    )
    assert print_function("f", graph).splitlines()[2:] == ["  if c:", "    print(x, c)", "  else:", "    pass"]


def test_names_that_python_or_the_text_needs_are_changed() -> None:
    graph = parse_ir(
        """graph(%lambda : Tensor, %torch : Tensor, %_0 : Tensor, %x.1 : Tensor, %x : Tensor):
  %1 : Tensor = aten::mul(%lambda, %torch)
  %2 : Tensor = aten::mul(%1, %1)
  %kept : Tensor = aten::mul(%_0, %2)
  %4 : Tensor = aten::mul(%x.1, %x)
  %5 : Tensor = aten::mul(%kept, %4)
  return (%5)
"""
    )
    assert print_function("f", graph).split("Tensor:\n")[1] == (
        "  _1 = torch.mul(lambda0, torch0)\n"
        "  kept = torch.mul(_0, torch.mul(_1, _1))\n"
        "  return torch.mul(kept, torch.mul(x, x0))\n"
    )


def test_a_subgraph_is_a_function_below() -> None:
    traced = jit.trace(lambda x: (x * 2).exp().tanh(), glasstorch.ones(3))
    optimised = traced.graph_for(glasstorch.ones(3))
    text = print_function("f", optimised)
    assert text.startswith(
        "def f(x: Tensor) -> Tensor:\n  return FusionGroup(x)\n\ndef FusionGroup(x: Tensor) -> Tensor:\n"
    )
    x = glasstorch.rand(3)
    assert glasstorch.allclose(run(text, "f", x, constants=constants_of(optimised)), traced(x))
