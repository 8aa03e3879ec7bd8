"""Is a failing graph reduced to the few operators that make it fail, as PyTorch's minifier reduces it?"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any

import pytest

import glasstorch
from glasstorch._functorch.fx_minifier import minifier

SIZE = 60  # operators of a graph
UNARY, BINARY = ("sin", "cos", "tanh", "sigmoid", "neg", "abs"), ("add", "mul", "sub", "maximum")


def program(torch: Any, seed: int) -> Any:
    """A graph of that many operators, somewhere in which `exp` is applied to an `atan`."""
    chance, graph = random.Random(seed), torch.fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    fault = chance.randrange(5, SIZE - 1)
    for place in range(SIZE):
        recent = [chance.choice(values[-5:]) for _ in range(2)]
        name, count = chance.choice([(chance.choice(UNARY), 1), (chance.choice(BINARY), 2)])
        if place in (fault, fault + 1):
            name, count, recent = ("atan", "exp")[place - fault], 1, values[-1:]
        values.append(graph.call_function(getattr(torch, name), tuple(recent[:count])))
    graph.output(tuple(value for value in values if not value.users))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def exp_of_atan(torch: Any, module: Any) -> bool:
    return any(
        node.target is torch.exp and isinstance(node.args[0], torch.fx.Node) and node.args[0].target is torch.atan
        for node in module.graph.nodes
    )


def minified(torch: Any, module: Any, inputs: list[Any], fails: Callable[..., bool], **options: Any) -> Any:
    """The smallest graph and its inputs; what is printed on the way is left out, and the graph runs."""
    find = import_module(f"{torch.__name__}._functorch.fx_minifier").minifier
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        found, values = find(module, inputs, fails, lambda *_: None, **options)
    found(*values)
    return found, values


def called(module: Any) -> list[str]:
    """The names of the operators that are left."""
    nodes = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    return [getattr(node.target, "__name__", node.target) for node in nodes]


@pytest.mark.parametrize("seed", range(8))
def test_a_planted_fault_among_sixty_operators_is_all_that_is_left(torch: Any, seed: int) -> None:
    inputs = [torch.full((3,), 0.5), torch.arange(3.0)]
    found, values = minified(torch, program(torch, seed), inputs, lambda module, _: exp_of_atan(torch, module))
    assert called(found) == ["atan", "exp"]
    assert len(found.graph.nodes) == 4
    assert len(values) == 1


@pytest.mark.parametrize("seed", range(3))
def test_it_leaves_the_operators_and_the_input_that_pytorch_leaves(require: Callable[[str], Any], seed: int) -> None:
    found = []
    for torch in (glasstorch, require("torch")):
        inputs = [torch.full((3,), 0.5), torch.arange(3.0)]
        module, (value,) = minified(torch, program(torch, seed), inputs, lambda one, _, t=torch: exp_of_atan(t, one))
        found.append((called(module), value.tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-6)


def test_a_wrong_value_is_traced_to_its_operator(torch: Any) -> None:
    class Wrong(torch.fx.Interpreter):  # type: ignore[name-defined,misc]
        """A backend whose `sigmoid` is too small for what is greater than 0.7."""

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            value = super().call_function(target, args, kwargs)
            return value - 0.01 * (args[0] > 0.7) if target is torch.sigmoid else value

    def fails(module: Any, inputs: list[Any]) -> bool:
        pairs = zip(module(*inputs), Wrong(module).run(*inputs), strict=True)
        return not all(torch.equal(right, wrong) for right, wrong in pairs)

    module = program(torch, 3)
    assert called(module).count("sigmoid") > 1
    found, (value,) = minified(torch, module, [torch.full((3,), 0.5), torch.arange(3.0)], fails)
    assert called(found) == ["sigmoid"]
    assert (value > 0.7).any()


def test_parts_of_a_result_and_parameters_become_inputs(torch: Any) -> None:
    class Model(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Any) -> Any:
            first, second = torch.chunk(x * 3, 2)
            return torch.tanh(first * self.weight) + torch.cos(second), first

    module = torch.fx.symbolic_trace(Model())
    found, (value,) = minified(torch, module, [torch.arange(4.0)], lambda one, _: "tanh" in called(one))
    assert called(found) == ["tanh"]
    assert value.tolist() == [0, 3]


def test_an_input_that_is_written_to_is_the_same_for_each_question() -> None:
    def forward(x: glasstorch.Tensor) -> glasstorch.Tensor:
        y = glasstorch.sin(x)
        x.add_(1)
        return glasstorch.cos(y) * x

    seen = []

    def fails(module: Any, inputs: list[Any]) -> bool:
        if "add_" in called(module):
            seen.append(inputs[0].tolist())
        module(*inputs)
        return "add_" in called(module)

    given = glasstorch.zeros(2)
    with redirect_stderr(StringIO()):
        found, _ = minifier(glasstorch.fx.symbolic_trace(forward), [given], fails, lambda *_: None)
    assert called(found) == ["add_"]
    assert len(seen) >= 2
    assert seen == [[0, 0]] * len(seen)
    assert given.tolist() == [0, 0]


def test_at_most_so_many_operators_are_taken_out_at_a_time() -> None:
    def first_sizes(**options: Any) -> list[int]:
        sizes = []

        def fails(module: Any, _: object) -> bool:
            sizes.append(len(called(module)))
            return exp_of_atan(glasstorch, module)

        inputs = [glasstorch.ones(3), glasstorch.ones(3)]
        minified(glasstorch, program(glasstorch, 0), inputs, fails, **options)
        return sizes[:2]

    whole, behind_many = first_sizes()
    assert whole == SIZE
    assert behind_many > 1
    assert first_sizes(max_granularity=1) == [SIZE, 1]


def test_the_repro_that_is_printed_is_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    module = program(glasstorch, 1)
    minifier(module, [glasstorch.ones(3), glasstorch.ones(3)], lambda one, _: exp_of_atan(glasstorch, one))
    printed, told = capsys.readouterr()
    assert "# Working Repro with 4 nodes" in printed
    names: dict[str, Any] = {"torch": glasstorch, "device": glasstorch.device}
    exec(printed, names)
    assert names["forward"](None, *names["inps"])[0].shape == (3,)
    assert "Started off with 63 nodes" in told
    assert "Made " in told


def test_what_cannot_be_done_is_refused(torch: Any) -> None:
    module, inputs = program(torch, 0), [torch.ones(3), torch.ones(3)]
    with pytest.raises(RuntimeError, match="Input graph did not fail the tester"):
        minified(torch, module, inputs, lambda *_: False)
    with pytest.raises(RuntimeError, match="max_granularity 3 not power of two"):
        minified(torch, module, inputs, lambda *_: True, max_granularity=3)


def test_values_are_not_saved_to_disk() -> None:
    with pytest.raises(NotImplementedError, match="leave out save_dir"):
        minified(glasstorch, program(glasstorch, 0), [], operator.truth, save_dir="values", offload_to_disk=True)
