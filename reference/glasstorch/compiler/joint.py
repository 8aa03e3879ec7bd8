"""How do a function and its backward pass become one graph?

Mirrors: torch/_functorch/_aot_autograd/graph_capture.py (aot_dispatch_base_graph, aot_dispatch_autograd_graph),
    torch/_functorch/_aot_autograd/graph_capture_wrappers.py (create_joint)
Differs: effects.py says what is refused.

The function runs on functional tensors, so that it writes to nothing, with gradients recorded; then the gradients of
its results are asked for, and `make_fx` records the operators of both. In the graph, `primals` are the function's
arguments and `tangents` the gradients that arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from glasstorch._subclasses.fake_tensor import FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.autograd.anomaly_mode import set_detect_anomaly
from glasstorch.autograd.graph import grad
from glasstorch.autograd.runs_again import watcher
from glasstorch.compiler.drawn_again import Runs
from glasstorch.compiler.effects import Effects, Functionalized, mode_of
from glasstorch.compiler.remembered import remember_in_backward
from glasstorch.func.functional_tensor import functional, inside, is_functional, sync
from glasstorch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.traceback import preserve_node_meta
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.composite.dropout import as_one_operator

TAG: Final = "partitioner_tag"
FORWARD: Final = "is_forward"
BACKWARD: Final = "is_backward"
LIVES_ON: Final = "lives_on"  # whether a primal is kept in any case, as a parameter is

Table = Any


def trace_forward(
    fn: Callable[..., Any], args: Sequence[Any], effects: Effects, table: Table = None, fakes: Any = None
) -> GraphModule:
    """The graph of a function of flat arguments, without gradients: it returns what `Effects` says.

    It is traced with `fakes`, if they are given, in place of fake tensors like the arguments.
    """

    def run(*values: Any) -> tuple[Any, ...]:
        return tuple(map(_value, effects.graph_results(Functionalized(fn, values, [False] * len(values)))))

    with preserve_node_meta():
        return make_fx(run, table, "fake", _allow_non_fake_inputs=True)(*(fakes or _fake(args)))


def trace_joint(
    fn: Callable[..., Any], args: Sequence[Any], effects: Effects, table: Table = None, fakes: Any = None
) -> GraphModule:
    """The graph of a function and its gradients: of primals and tangents, it returns results and gradients.

    There is a tangent for each result that takes a gradient, and a gradient, or None, for each argument.
    """
    needs = [argument.requires_grad for argument in effects.arguments]
    taking = zip(effects.written, effects.differentiable, strict=False)
    copied = [place for place, takes in taking if takes]  # a leaf must not be written to

    runs: list[Runs] = []

    def joint(primals: list[Any], tangents: list[Any]) -> tuple[list[Any], list[Any]]:
        mode = get_proxy_mode()
        assert mode is not None, "it is traced"
        runs.append(Runs(mode.tracer.graph))
        dropout, watching = as_one_operator.set(True), watcher.set(runs[0])
        try:
            return both(primals, tangents)
        finally:
            as_one_operator.reset(dropout)
            watcher.reset(watching)

    def both(primals: list[Any], tangents: list[Any]) -> tuple[list[Any], list[Any]]:
        run = Functionalized(fn, primals, needs, copied)
        results = effects.graph_results(run)
        _tag(FORWARD)
        differentiable = [value for value, takes in zip(results, effects.differentiable, strict=True) if takes]
        sources = [wrapper for wrapper, needed in zip(run.wrappers, needs, strict=True) if needed]
        remember_in_backward(results)
        arriving = [functional(tangent) for tangent in tangents]  # backward may write to what it makes of them
        found = iter(grad(differentiable, sources, arriving, allow_unused=True) if differentiable else [])
        gradients = [next(found, None) if needed else None for needed in needs]
        _tag(BACKWARD)
        return [_value(value) for value in results], [_value(value) for value in gradients]

    primals = fakes or _fake(args)
    with mode_of(primals):
        shapes = effects.graph_results(Functionalized(fn, primals, needs, copied))
        tangents = [_value(s).clone() for s, takes in zip(shapes, effects.differentiable, strict=True) if takes]
    # Whether a gradient is NaN is asked of the numbers, when the graph runs.
    with preserve_node_meta(), set_detect_anomaly(False):
        module = make_fx(joint, table, "fake", _allow_non_fake_inputs=True)(primals, tangents)
    if runs[0].later:
        runs[0].draw_once()
        module.recompile()
    _refuse_lost_gradients(module)
    for node, arg in zip(module.graph.find_nodes(op="placeholder"), args, strict=False):
        node.meta[LIVES_ON] = isinstance(arg, Parameter)
    return module


def _refuse_lost_gradients(module: GraphModule) -> None:
    """A tensor that is no argument is a constant of the graph, which gets no gradient.

    Backward may use one: a checkpoint computes again with a module's own parameters.
    """
    for node in module.graph.find_nodes(op="get_attr"):
        value = getattr(module, node.target)
        if node.meta.get(TAG) == FORWARD and isinstance(value, Tensor) and value.requires_grad:
            raise NotImplementedError(
                f"aot_function: the function uses a tensor of sizes {list(value.shape)} that requires grad and is no "
                "argument, so its gradient would be lost; pass it as an argument, or a module to aot_module"
            )


def _fake(args: Sequence[Any]) -> list[Any]:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    return [mode.from_tensor(arg).detach() if isinstance(arg, Tensor) else arg for arg in args]


def _value(value: Any) -> Any:
    """What a functional tensor holds, with what was written to it through its views."""
    if not is_functional(value):
        return value
    sync(value)
    return inside(value).value


def _tag(tag: str) -> None:
    """Note in the nodes that are new which pass they belong to."""
    mode = get_proxy_mode()
    if mode is not None:
        for node in mode.tracer.graph.nodes:
            node.meta.setdefault(TAG, tag)
