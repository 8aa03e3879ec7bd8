"""Do the nodes of all graphs say from which line of the program they come?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch._functorch.aot_autograd import aot_module_simplified, make_boxed_compiler
from glasstorch.compiler.loops.backend import CompiledFxGraph

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")
LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def scaled(x: Any) -> Any:
    return x * 2


def f(x: Any, w: Any) -> Any:
    y = scaled(glasstorch.sin(x))
    z = glasstorch.softmax(y @ w, -1)
    return (z + 1).sum() \
        * 1  # fmt: skip


def graphs() -> list[Any]:
    """The graph that is captured, and those of both passes."""
    found: list[Any] = []

    @make_boxed_compiler
    def keep(module: Any, inputs: Any) -> Any:
        found.append(module)
        return module

    def backend(module: Any, inputs: Any) -> Any:
        found.append(module)
        return aot_module_simplified(module, inputs, keep)

    x, w = glasstorch.randn(4, 3, requires_grad=True), glasstorch.randn(3, 2, requires_grad=True)
    glasstorch.compile(f, backend=backend)(x, w).backward()
    return found


def lines_of(node: Any) -> list[str]:
    """The lines on a node's stack, as written in this file."""
    return [line.strip() for line in (node.stack_trace or "").splitlines()[1::2]]


def test_nodes_have_the_stack_of_the_functions_that_are_inlined() -> None:
    (captured, *_) = graphs()
    doubled = next(node for node in captured.graph.nodes if node.args[1:] == (2,))
    assert lines_of(doubled) == ["y = scaled(glasstorch.sin(x))", "return x * 2"]
    number = LINES.index("    return x * 2") + 1
    assert f'File "{__file__}", line {number}, in scaled\n    return x * 2\n' in doubled.stack_trace
    assert all(node.stack_trace is None for node in captured.graph.find_nodes(op="placeholder"))


def test_operators_of_both_passes_have_the_lines_of_the_first_graph() -> None:
    _, forward, backward = graphs()
    for module in (forward, backward):
        calls = [node for node in module.graph.nodes if node.op == "call_function"]
        assert calls
        assert all(node.stack_trace for node in calls)
    by_target = {str(node.target): lines_of(node) for node in backward.graph.nodes}
    assert by_target["aten.cos.default"] == ["y = scaled(glasstorch.sin(x))"]
    assert by_target["aten._softmax_backward_data.default"] == ["z = glasstorch.softmax(y @ w, -1)"]


def test_a_line_that_ends_with_a_backslash_does_not_swallow_the_next_one_of_the_cpp() -> None:
    _, forward, _ = graphs()
    compiled = CompiledFxGraph(forward)
    comments = [line for line in compiled.cpp_code.splitlines() if "//" in line]
    assert any(line.endswith("# return (z + 1).sum()") for line in comments)
    assert not any(line.endswith("\\") for line in comments)
