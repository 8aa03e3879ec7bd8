"""Is a joint graph cut where eager mode would?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.compiler.effects import observe
from glasstorch.compiler.joint import trace_joint
from glasstorch.compiler.partition import default_partition, extract


def joint(function: Any, *args: Any) -> Any:
    return joint_of(lambda *values: [function(*values)], *args)


def joint_of(flat: Any, *args: Any) -> Any:
    """The joint graph of a function that returns a list."""
    return trace_joint(flat, args, observe(flat, args))


def test_forward_returns_what_backward_needs() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    forward, backward = default_partition(joint(lambda x: x.exp().sin(), x), (x,), num_fwd_outputs=1)
    result, *saved = forward(x.detach())
    assert len(saved) == len(backward.graph.find_nodes(op="placeholder")) - 1
    (gradient,) = backward(*saved, glasstorch.ones(2))
    expected = glasstorch.autograd.grad(x.exp().sin().sum(), x)[0]
    assert glasstorch.allclose(gradient, expected)
    assert glasstorch.equal(result, x.exp().sin().detach())


def test_a_node_knows_its_pass() -> None:
    graph = joint(lambda x: x.exp(), glasstorch.ones(2, requires_grad=True)).graph
    tags = {node.name: node.meta.get("partitioner_tag") for node in graph.nodes if node.op == "call_function"}
    assert tags["exp"] == "is_forward"
    assert tags["mul"] == "is_backward"


def test_what_cannot_be_computed_is_named() -> None:
    module = glasstorch.fx.symbolic_trace(lambda x, y: x.relu() + y)
    x, _, _, add, _ = module.graph.nodes
    with pytest.raises(RuntimeError, match=r"extract: \[add\] cannot be computed from \[x\]"):
        extract(module.graph, [x], [add])
