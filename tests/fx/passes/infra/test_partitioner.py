"""Are the nodes that a backend can compute grouped as PyTorch groups them?"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from operator import add, getitem, mul, sub
from typing import Any

import pytest

from tests.fx.test_against_torch import same

Require = Callable[[str], Any]


def partitioning(t: Any) -> Any:
    return import_module(f"{t.__name__}.fx.passes.infra.partitioner")


def support(t: Any, decide: Callable[[Any], bool]) -> Any:
    made = import_module(f"{t.__name__}.fx.passes.operator_support")
    return made.create_op_support(lambda submodules, node: decide(node))


def a_random_module(t: Any, seed: int) -> Any:
    """Calls of functions, some of which give tuples that are taken apart."""
    draw = random.Random(seed)
    graph = t.fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    for _ in range(draw.randint(3, 18)):
        one, other = (draw.choice(values[-6:]) for _ in range(2))
        if draw.random() < 0.15:
            parts = graph.call_function(divmod, (one, other))
            values += [graph.call_function(getitem, (parts, i)) for i in range(2)]
        else:
            values.append(graph.call_function(draw.choice([add, mul, sub]), (one, other)))
    graph.output(tuple(values[-3:]))
    return t.fx.GraphModule(t.nn.Module(), graph)


@pytest.mark.parametrize("seed", range(60))
def test_random_modules_are_partitioned_as_pytorch_does(require: Require, seed: int) -> None:
    draw = random.Random(500 + seed)
    chosen = [draw.random() < 0.7 for _ in range(60)]
    options: dict[str, Any] = {
        "allows_single_node_partition": draw.random() < 0.5,
        "non_compute_ops": ["_operator.sub"] if draw.random() < 0.4 else None,
        "allowed_single_node_partition_ops": ["_operator.mul"] if draw.random() < 0.4 else None,
        "skip_horizontal_fusion": draw.random() < 0.3,
    }

    def run(t: Any) -> object:
        module = a_random_module(t, seed)
        chosen_nodes = {node for node, yes in zip(module.graph.nodes, chosen, strict=False) if yes}
        rule = support(t, lambda node: node in chosen_nodes and node.op == "call_function")
        partitioner = partitioning(t).CapabilityBasedPartitioner(module, rule, **options)
        parts = partitioner.propose_partitions()
        proposed = [(part.id, list(part.nodes.items())) for part in parts]
        partitioner.remove_bookend_non_compute_ops(parts)
        kept = [list(part.nodes) for part in parts]
        return proposed, kept, partitioner.partition_and_fuse("part_").code

    same(require, run)


def test_a_fused_module_computes_what_it_did(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y).neg() * (x - y))
    x, y = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 4.0])
    before = module(x, y).tolist()
    rule = support(torch, lambda node: node.op == "call_function")
    fused = partitioning(torch).CapabilityBasedPartitioner(module, rule).partition_and_fuse()
    assert [node.op for node in fused.graph.nodes].count("call_module") == 2
    assert fused(x, y).tolist() == before


def test_a_part_holds_nodes_and_their_places(torch: Any) -> None:
    part = partitioning(torch).Partition(3, ["a", "b"], [1, 2])
    part.add_node("c")
    part.remove_node("a")
    assert (part.id, part.size(), str(part)) == (3, 2, "{'b': 2, 'c': None}")
    with pytest.raises(AssertionError, match="must have the same length"):
        partitioning(torch).Partition(3, ["a", "b"], [1])
