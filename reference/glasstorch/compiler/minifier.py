"""Which few operators of a graph make it fail?

Mirrors: torch/_functorch/fx_minifier.py
Differs: a graph gets smaller if it has fewer operators, fewer nodes or fewer outputs, in this order; each question is
    asked about copies of the inputs, so that a graph which writes to them can be asked about again. Values are kept
    in memory, not on disk.

A graph is made smaller as long as it still fails: all behind an operator is cut off, outputs are dropped, operators
are replaced by inputs with the values that they gave, many at a time and then fewer, and what is no longer used goes.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter
from glasstorch.fx.node import Node

NO_OPERATORS = ("placeholder", "output")
VALUE = "concrete_value"  # under this key, a node's `meta` has what it gave


def dump_state(fx_g: GraphModule, inps: Sequence[Tensor]) -> None:
    """Print a graph as a program, with inputs of the same sizes."""
    print(
        f"\n# Working Repro with {len(fx_g.graph.nodes)} nodes\n"
        f"inps = {[(tuple(i.shape), i.dtype, i.device.type) for i in inps]}\n"
        "inps = [torch.ones(shape, dtype=dtype, device=device) for (shape, dtype, device) in inps]\n"
        f"{fx_g.code}\n"
    )


def is_power_of_two(n: int) -> bool:
    """Whether a number is 1, 2, 4 and so on.

    >>> [n for n in range(9) if is_power_of_two(n)]
    [1, 2, 4, 8]
    """
    return n > 0 and n & (n - 1) == 0


@dataclass
class ReproState:
    """A graph with the values of its inputs."""

    graph: Graph
    inps: Sequence[Any]

    def __post_init__(self) -> None:
        inputs = self.graph.find_nodes(op="placeholder")
        if len(inputs) != len(self.inps):
            raise AssertionError(f"len(ph_nodes)={len(inputs)} != len(self.inps)={len(self.inps)}")

    @property
    def size(self) -> tuple[int, int, int]:
        """How many operators, nodes and outputs there are: what is smaller is better."""
        operators = sum(node.op not in NO_OPERATORS for node in self.graph.nodes)
        return operators, len(self.graph.nodes), len(_outputs(self.graph))


def minifier(
    fail_f: GraphModule,
    inps: Sequence[Any],
    module_fails: Callable[[GraphModule, Sequence[Any]], bool],
    dump_state: Callable[[GraphModule, Sequence[Any]], object] = dump_state,
    *,
    save_dir: str | None = None,
    offload_to_disk: bool = False,
    skip_offload: bool = False,
    skip_sanity: bool = False,
    max_granularity: int | None = None,
) -> tuple[GraphModule, Sequence[Any]]:
    """The smallest graph that is found for which `module_fails` is still true, and its inputs.

    `dump_state` is called with it, too. At most `max_granularity` operators are taken out at a time. RuntimeError is
    raised if the graph does not fail as it is, unless `skip_sanity`. Saving values to disk is refused.
    """
    if max_granularity is not None and not is_power_of_two(max_granularity):
        raise RuntimeError(f"max_granularity {max_granularity} not power of two")
    if offload_to_disk or save_dir is not None:
        raise NotImplementedError("the minifier keeps the values of a graph in memory; leave out save_dir")
    search = _Search(fail_f, module_fails)
    _Recorded(fail_f).run(*_copied(inps))
    state = ReproState(fail_f.graph, list(inps))
    if not skip_sanity and not search.still_fails(state):
        raise RuntimeError("Input graph did not fail the tester")
    print(f"Started off with {len(state.graph.nodes)} nodes", file=sys.stderr)
    state = search.smallest(state, max_granularity)
    print(f"Made {search.questions} queries", file=sys.stderr)
    found = GraphModule(fail_f, state.graph)
    dump_state(found, state.inps)
    return found, state.inps


class _Recorded(Interpreter):
    """Runs a graph, and notes what each node gave."""

    def run_node(self, n: Node) -> Any:
        """Run one node; a tensor is copied, as a later node may write to it."""
        value = super().run_node(n)
        n.meta[VALUE] = _copied([value])[0]
        return value


class _Search:
    """Asks about smaller and smaller graphs."""

    def __init__(self, module: GraphModule, module_fails: Callable[[GraphModule, Sequence[Any]], bool]) -> None:
        self.module = module
        self.module_fails = module_fails
        self.questions = 0

    def still_fails(self, state: ReproState) -> bool:
        """Whether a graph fails, which is asked of a copy."""
        self.questions += 1
        module = GraphModule(self.module, copy.deepcopy(state.graph))
        module.graph.lint()
        return bool(self.module_fails(module, _copied(state.inps)))

    def smallest(self, state: ReproState, most: int | None) -> ReproState:
        """Take out as many nodes at a time as possible, then half as many, down to single ones."""
        grain = 1 << (len(state.graph.nodes).bit_length() - 1)
        grain = grain if most is None else min(grain, most)
        while grain:
            better = next(filter(self.still_fails, self.smaller(state, grain)), None)
            if better is None:
                grain //= 2
            else:
                state = better
        return state

    def smaller(self, state: ReproState, grain: int) -> Iterator[ReproState]:
        """The smaller graphs that are worth a question."""
        for way in (_cut_off, _without_outputs, _with_values):
            for tried in way(state, grain):
                tried.graph.eliminate_dead_code()
                tried = _without_unused_inputs(tried)
                if tried.size < state.size:
                    yield tried


def _copied(values: Sequence[Any]) -> list[Any]:
    """The values, tensors as copies that have no history."""
    return [
        value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
        for value in values
    ]


def _outputs(graph: Graph) -> list[Any]:
    """What a graph returns, one by one."""
    returned = graph.output_node().args[0]
    return list(returned) if isinstance(returned, list | tuple) else [returned]


def _taken(state: ReproState) -> tuple[ReproState, list[Node]]:
    """A copy that may be changed, and its operators."""
    graph = Graph()
    returned = graph.graph_copy(state.graph, {})
    graph.output(returned)
    return ReproState(graph, list(state.inps)), [node for node in graph.nodes if node.op not in NO_OPERATORS]


def _cut_off(state: ReproState, grain: int) -> Iterator[ReproState]:
    """The graphs that end with one operator: with each `grain`-th one, the shortest first."""
    for place in range(grain - 1, state.size[0], grain):
        tried, operators = _taken(state)
        tried.graph.output_node().args = ((operators[place],),)
        yield tried


def _without_outputs(state: ReproState, grain: int) -> Iterator[ReproState]:
    """The graphs without some neighbouring outputs."""
    count = len(_outputs(state.graph))
    for place in range(0, count if count > 1 else 0, grain):
        tried, _ = _taken(state)
        outputs = _outputs(tried.graph)
        del outputs[place : place + grain]
        if outputs:
            tried.graph.output_node().args = (tuple(outputs),)
            yield tried


def _with_values(state: ReproState, grain: int) -> Iterator[ReproState]:
    """The graphs in which some neighbouring operators are inputs."""
    for place in range(0, state.size[0], grain):
        tried, operators = _taken(state)
        for node in operators[place : place + grain]:
            _become_input(tried, node)
        yield tried


def _become_input(state: ReproState, node: Node) -> None:
    """Put the tensor that a node gave in its place; of several in one value, each where it is taken out."""
    value = node.meta.get(VALUE)
    if isinstance(value, tuple | list):
        for user in list(node.users):
            _become_input(state, user)
    elif isinstance(value, Tensor) and node.op not in NO_OPERATORS:
        inputs = state.graph.find_nodes(op="placeholder")
        with state.graph.inserting_before(next(iter(state.graph.nodes))):
            made = state.graph.placeholder(node.name)
        if inputs:
            inputs[-1].append(made)
        made.meta[VALUE] = value
        node.replace_all_uses_with(made)
        state.inps = [*state.inps, value]


def _without_unused_inputs(state: ReproState) -> ReproState:
    """The graph without the inputs that nothing uses."""
    kept = []
    for node, value in zip(state.graph.find_nodes(op="placeholder"), state.inps, strict=True):
        if node.users:
            kept.append(value)
        else:
            state.graph.erase_node(node)
    return ReproState(state.graph, kept)
