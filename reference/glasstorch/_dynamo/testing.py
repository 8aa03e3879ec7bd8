"""Which backends count and keep graphs, for tests?

Mirrors: torch/_dynamo/testing.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.backends import lookup_backend
from glasstorch.compiler.boxed import make_boxed_func
from glasstorch.compiler.captured import reset
from glasstorch.compiler.loops.backend import compile_fx, compile_fx_inner
from glasstorch.compiler.optimize import optimize
from glasstorch.core.pytree import tree_map
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx._names import at
from glasstorch.fx.graph_module import GraphModule

Run = Callable[..., Any]


def _calls(gm: GraphModule) -> int:
    return sum("call" in node.op for node in gm.graph.nodes)


class CompileCounter:
    """A backend that runs graphs as they are, and counts them and their calls."""

    def __init__(self) -> None:
        self.clear()

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Run:
        self.frame_count += 1
        self.op_count += _calls(gm)
        return gm.forward

    def clear(self) -> None:
        """Begin at 0."""
        self.frame_count = self.op_count = 0


class CompileCounterWithBackend:
    """A backend that hands graphs to another one, counts them and keeps them."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.clear()

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Run:
        self.frame_count += 1
        self.op_count += _calls(gm)
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        """Begin at 0, without graphs."""
        self.frame_count = self.op_count = 0
        self.graphs: list[GraphModule] = []


class EagerAndRecordGraphs:
    """A backend that runs graphs as they are, and keeps them."""

    def __init__(self) -> None:
        self.graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Run:
        self.graphs.append(gm)
        return gm.forward


class AotEagerAndRecordGraphs:
    """A backend that runs the graphs of both passes as they are, and keeps them and what they were made of."""

    def __init__(self) -> None:
        self.graphs: list[GraphModule] = []
        self.fw_graphs: list[GraphModule] = []
        self.bw_graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Run:
        from glasstorch.compiler.aot import compile_flat
        from glasstorch.compiler.partition import default_partition

        self.graphs.append(gm)
        run = compile_flat(gm, example_inputs, _keeping(self.fw_graphs), _keeping(self.bw_graphs), default_partition)
        return lambda *values: run(values)


def _keeping(graphs: list[GraphModule]) -> Callable[..., Run]:
    def compiler(gm: GraphModule, example_inputs: Sequence[Any]) -> Run:
        graphs.append(gm)
        return make_boxed_func(gm.forward)

    return compiler


class InductorAndRecordGraphs:
    """A backend that runs loops, and keeps the graphs that were captured and those that loops were made of."""

    def __init__(self) -> None:
        self.graphs: list[GraphModule] = []
        self.inductor_graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Run:
        def inner(module: GraphModule, inputs: Sequence[Any]) -> Run:
            self.inductor_graphs.append(module)
            return compile_fx_inner(module, inputs)

        self.graphs.append(gm)
        return compile_fx(gm, example_inputs, inner)


def extract_graph(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[Any], list[Any]]:
    """The result of a function, and the graphs that it was captured as: before autograd, and its forward passes."""
    backend = AotEagerAndRecordGraphs()
    result = optimize(backend)(fn)(*args, **kwargs)
    return result, backend.graphs, backend.fw_graphs


def same(a: Any, b: Any, tol: float = 1e-4) -> bool:
    """Whether two results are alike."""
    try:
        at("testing").assert_close(a, b, rtol=tol, atol=tol, equal_nan=True)
    except AssertionError:
        return False
    return True


def standard_test(
    self: Any,
    fn: Callable[..., Any],
    nargs: int,
    expected_ops: int | None = None,
    expected_ops_dynamic: int | None = None,
    expected_frame_count: int = 1,
) -> None:
    """Compile a function of so many tensors and compare: results, operators, graphs."""
    counter = CompileCounter()
    inputs = [at("randn")(10, 10) for _ in range(nargs)]
    again = [at("randn")(10, 10) for _ in range(nargs)]
    wanted, wanted_again = fn(*inputs), fn(*again)
    reset()
    compiled = optimize(counter)(fn)
    for given, expected in ((inputs, wanted), (again, wanted_again), (inputs, wanted)):
        assert same(compiled(*given), expected), (given, expected)
    assert counter.frame_count == expected_frame_count
    if expected_ops is not None:
        assert counter.op_count == expected_ops


def clone_me(x: Any) -> Any:
    """A copy of a tensor that requires grad as it does; None stays None."""
    return None if x is None else x.detach().clone().requires_grad_(x.requires_grad)


def requires_bwd_pass(out: Any) -> bool:
    """Whether a result, or a part of it, requires grad."""
    found: list[bool] = []
    tree_map(lambda x: found.append(isinstance(x, Tensor) and x.requires_grad), out)
    return any(found)


def reduce_to_scalar_loss(out: Any) -> Any:
    """One number of all tensors in a result."""
    if isinstance(out, Tensor):
        return out.sum() / out.numel()
    if isinstance(out, list | tuple):
        return sum(map(reduce_to_scalar_loss, out)) / len(out)
    if isinstance(out, dict):
        return sum(map(reduce_to_scalar_loss, out.values())) / len(out)
    if out is None:
        return 0.0
    raise NotImplementedError(f"don't know how to reduce {type(out)}")


def strip_comment(code: str) -> str:
    """The code without comments that take a line."""
    return re.sub(r"(?m)^ *#.*\n?", "", code)


def remove_trailing_space(code: str) -> str:
    """The code without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in code.split("\n"))


def normalize_gm(gm_str: str) -> str:
    """The code of a graph without comments and blanks at the ends of lines, for a comparison."""
    return remove_trailing_space(strip_comment(gm_str))


def rand_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: Any = None,
    device: Any = "cpu",
    extra_size: int = 0,
) -> Any:
    """A tensor of random elements with these strides."""
    dtype = at("float32") if dtype is None else dtype
    needed = 1 + extra_size + sum((n - 1) * step for n, step in zip(size, stride, strict=True) if n > 1)
    if dtype.is_floating_point or dtype.is_complex:
        buffer = at("randn")(needed, dtype=dtype, device=device)
    else:
        buffer = at("zeros")(needed, dtype=dtype, device=device)
    return at("as_strided")(buffer, tuple(size), tuple(stride))


__getattr__ = refuse_unknown_names(__name__)
