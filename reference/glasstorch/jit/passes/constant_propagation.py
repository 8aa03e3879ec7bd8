"""What can be computed before the graph runs?

Mirrors: torch/csrc/jit/passes/constant_propagation.cpp (ConstantPropagator)
Differs: a returned tensor is not folded: each run returns a new one, and a constant would be the same one every time.
    Uninitialised memory is not folded either. PyTorch folds both.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.operator import keys_of, tensors_of
from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.constants import UNKNOWN, known
from glasstorch.jit.ir import Graph, Node, Value
from glasstorch.jit.side_effects import has_side_effects, is_uninitialised
from glasstorch.jit.types import as_argument


def propagate_constants(graph: Graph) -> bool:
    """Run the operators whose inputs are all constants, and the control flow whose conditions are.

    An operator whose call fails stays in the graph, and fails when the graph runs. Tensors that require grad, that are
    written to, or that may be returned are not folded.
    """
    changed = _propagate(graph.block.nodes, AliasAnalysis(graph))
    graph.lint()
    return changed


def _propagate(nodes: tuple[Node, ...], analysis: AliasAnalysis) -> bool:
    changed = False
    for node in nodes:
        if node.kind == "prim::If":
            changed |= _visit_if(node, analysis)
        elif node.kind == "prim::Loop":
            changed |= _visit_loop(node, analysis)
        elif _may_be_folded(node, analysis):
            changed |= _fold(node)
    return changed


def _visit_if(node: Node, analysis: AliasAnalysis) -> bool:
    condition = known(node.inputs[0])
    if condition is UNKNOWN:
        changed = [_propagate(block.nodes, analysis) for block in node.blocks]
        return any(changed)
    chosen = node.blocks[0 if condition else 1]
    nodes = chosen.nodes
    for inner in nodes:
        inner.move_before(node)
    _replace_all(node, chosen.outputs)
    _propagate(nodes, analysis)
    return True


def _visit_loop(node: Node, analysis: AliasAnalysis) -> bool:
    times, start = map(known, node.inputs[:2])
    if start is False or (times is not UNKNOWN and times <= 0):
        _replace_all(node, node.inputs[2:])
        return True
    return _propagate(node.blocks[0].nodes, analysis)


def _replace_all(node: Node, values: tuple[Value, ...]) -> None:
    """Replace the node's outputs by these values, with which they share memory, and remove the node."""
    for kept, dropped in zip(values, node.outputs, strict=True):
        dropped.replace_all_uses_with(kept)
    node.destroy()


def _may_be_folded(node: Node, analysis: AliasAnalysis) -> bool:
    return (
        node.maybe_schema() is not None
        and not has_side_effects(node)
        and not is_uninitialised(node)
        and not analysis.has_writers((*node.inputs, *node.outputs))
        and not any(map(analysis.is_returned, node.outputs))
    )


def _fold(node: Node) -> bool:
    """Replace the node's outputs by constants, if its inputs are constants and a graph can hold the results."""
    inputs = [known(value) for value in node.inputs]
    if any(value is UNKNOWN for value in inputs):
        return False
    arguments = [as_argument(a.type, value) for a, value in zip(node.schema().arguments, inputs, strict=True)]
    if any(isinstance(tensor, Tensor) and tensor.requires_grad for tensor in tensors_of(arguments)):
        return False
    try:
        result = node.operator().redispatch(compute_keys(keys_of(arguments)), *arguments)
    except Exception:  # noqa: BLE001 (any error is raised again when the graph runs)
        return False
    results = [result] if len(node.outputs) == 1 else list(result)
    if not all(isinstance(value, TensorImpl | bool | int | float | str) for value in results):
        return False
    with node.graph.inserting_before(node):
        for output, value in zip(node.outputs, results, strict=True):
            output.replace_all_uses_with(node.graph.insert_constant(value))
    node.destroy()
    return True
