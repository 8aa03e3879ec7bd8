"""How is a model drawn: its operators, in boxes that are its modules?

Mirrors: torch/utils/tensorboard/_pytorch_graph.py, _proto_graph.py
Differs: modules are recorded while the trace runs, where PyTorch reads them from the trace afterwards; a parameter has
    its shape, and a tuple has none. `use_strict_trace=False` admits lists as results, without a warning; a dict is
    refused by the trace.

A node's name is a path, and TensorBoard draws one box for each folder of it: `Net/Linear[head]/7` is value 7 of the
graph, computed while the module `head`, a Linear, was running.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from glasstorch.jit._script import ScriptModule
from glasstorch.jit._trace import trace
from glasstorch.jit.ir import Graph, Node, Value
from glasstorch.jit.tracer import TracerWarning, tracing_state
from glasstorch.jit.types import TensorType
from glasstorch.nn.modules.module import Module

PRODUCER = 22  # the version of TensorFlow's graphs that TensorBoard expects
DEVICE = "/device:CPU:0"


def graph(model: Module, args: Any, verbose: bool = False, use_strict_trace: bool = True) -> tuple[Any, Any]:
    """Run the model once in eval mode on these inputs; returns its `GraphDef`, and a `RunMetadata` that names the CPU.

    With `verbose` the traced graph is printed.
    """
    if not isinstance(model, Module):
        raise TypeError(f"add_graph: expected a torch.nn.Module, got {type(model).__name__}")
    with _evaluating(model), warnings.catch_warnings():
        if not use_strict_trace:
            warnings.filterwarnings("ignore", "Encountering a list at the output", TracerWarning)
        try:
            traced = model if isinstance(model, ScriptModule) else _traced(model, args)
        except RuntimeError as error:
            print(error)
            print("Error occurs, No graph saved")
            raise
    if verbose:
        print(traced.graph)
    run = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device=DEVICE)]))
    return GraphDef(node=_nodes(traced.graph, _Boxes(model)), versions=VersionDef(producer=PRODUCER)), run


@contextmanager
def _evaluating(model: Module) -> Iterator[None]:
    training = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, was_training in training:
            module.training = was_training


def _traced(model: Module, args: Any) -> Any:
    """The trace; the scope of each node is the path of the modules that were running, as PyTorch writes it."""
    running: list[tuple[str, Node]] = []  # the scope of a module that runs, and the last node before it

    def enter(path: str) -> Any:
        def before(module: Module, inputs: Any) -> None:
            if (recorded := _recorded()) is not None:
                outer = f"{running[-1][0]}/" if running and running[-1][0] else ""
                running.append((f"{outer}__module.{path}" if path else "", _last(recorded)))

        return before

    def leave(module: Module, inputs: Any, result: Any) -> None:
        if (recorded := _recorded()) is not None:
            scope, before = running.pop()
            node = _last(recorded)
            while node is not before:
                node.scope = node.scope or scope
                assert node.previous is not None
                node = node.previous

    handles = []
    try:
        for path, module in model.named_modules():
            handles.append(module.register_forward_pre_hook(enter(path), prepend=True))
            handles.append(module.register_forward_hook(leave))
        return trace(model, args, check_trace=False)
    finally:
        for handle in handles:
            handle.remove()


def _recorded() -> Graph | None:
    state = tracing_state.get()
    return state.graph if state is not None else None


def _last(graph: Graph) -> Node:
    """The last node so far; the node of the graph's inputs where there is none."""
    previous = graph.return_node.previous
    assert previous is not None
    return previous


class _Boxes:
    """The boxes of a model's modules: the class of each, and its name in the module that holds it."""

    def __init__(self, model: Module) -> None:
        self.model = _class_name(model)
        self.names = {
            path: f"{_class_name(module)}[{path.rpartition('.')[2]}]" for path, module in model.named_modules() if path
        }

    def of_scope(self, scope: str) -> str:
        """`__module.a/__module.a.0` -> `Net/Sequential[a]/Linear[0]`."""
        parts = [self.names[part.removeprefix("__module.")] for part in scope.split("/") if part]
        return "/".join([self.model, *parts])

    def of_parameter(self, name: str) -> str:
        """`a.0.weight` -> `Net/Sequential[a]/Linear[0]/weight`."""
        *path, own = name.split(".")
        return "/".join([self.model, *(self.names[".".join(path[: n + 1])] for n in range(len(path))), own])


def _class_name(module: Module) -> str:
    return str(getattr(module, "original_name", type(module).__name__))


def _nodes(graph: Graph, boxes: _Boxes) -> list[Any]:
    """The nodes of TensorFlow's kind: inputs, parameters, operators, and at the end one for each result."""
    names: dict[Value, str] = {}
    nodes = []
    for value in graph.inputs:
        given = value.debug_name
        if not given.startswith("self."):
            names[value] = f"input/{given}"
            if value.uses:
                nodes.append(_node(names[value], "IO Node", value))
            continue
        own = given.rpartition(".")[2]
        names[value] = f"{boxes.of_parameter(given.removeprefix('self.'))}/{own}"
        nodes.append(_node(names[value], "prim::GetAttr", value, attributes={"name": own}))
    for node in graph.nodes:
        box = boxes.of_scope(node.scope)
        names.update((output, f"{box}/{output.debug_name}") for output in node.outputs)
        inputs = [names[value] for value in node.inputs]
        nodes += [_node(names[output], node.kind, output, inputs, node.attributes) for output in node.outputs]
    nodes += [
        _node(f"output/output.{number}", "IO Node", value, [names[value]])
        for number, value in enumerate(graph.outputs, 1)
    ]
    return nodes


def _node(name: str, kind: str, value: Value, inputs: Sequence[str] = (), attributes: Any = None) -> Any:
    written = "" if kind == "IO Node" else str(attributes or {}).replace("'", " ")  # a quote confuses TensorBoard
    attr = {"attr": AttrValue(s=written.encode("utf-8"))}
    sizes = value.type.sizes if isinstance(value.type, TensorType) else None
    if sizes is not None:
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])
        attr["_output_shapes"] = AttrValue(list=AttrValue.ListValue(shape=[shape]))
    return NodeDef(name=name, op=kind, input=list(inputs), attr=attr)
