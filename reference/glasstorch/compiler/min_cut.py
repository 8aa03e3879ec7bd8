"""What does the backward pass compute again, so that less is kept in memory until then?

Mirrors: torch/_functorch/partitioners.py (min_cut_rematerialization_partition, solve_min_cut,
    reordering_to_mimic_autograd_engine)
Differs: there is no memory budget, and no random operator is computed again.

Each value of the forward pass is an edge as heavy as its bytes; a value that is not saved is computed again from
others. Cutting the graph between the inputs and the gradients, at the lightest edges, finds what to save. What must not
be computed again hangs on the source by an edge that is never cut.
"""

from __future__ import annotations

import heapq
import math
import operator
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.common_results import fx_graph_cse, raise_getitems
from glasstorch.compiler.joint import LIVES_ON
from glasstorch.compiler.max_flow import Network
from glasstorch.compiler.partition import _extract_fwd_bwd_modules, default_partition, is_primal, is_tangent
from glasstorch.compiler.partition_settings import settings
from glasstorch.compiler.roles import (
    FAR,
    Roles,
    fuses,
    is_compute_intensive,
    is_constant,
    is_random,
    is_recomputable,
    is_view,
    nbytes,
    roles_of,
)
from glasstorch.core.symbols import is_symbol
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node

LONGEST_CHAIN: Final = 100  # nodes, after which a chain of fusible ones is interrupted
CLOSER: Final = 1.1  # a value weighs so much more with each step that it is away from the backward pass
SMALLER: Final = 4  # times: a result that is so much smaller than its arguments is saved


def min_cut_rematerialization_partition(
    joint_module: GraphModule,
    _joint_inputs: Any,
    compiler: str = "inductor",
    *,
    num_fwd_outputs: int,
    static_lifetime_input_indices: list[int] | None = None,
) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward module of a joint graph, of which backward computes again what is cheap.

    What is saved has the fewest bytes that the settings of `torch._functorch.config` allow. Parameters, and the inputs
    whose places are in `static_lifetime_input_indices`, are kept in any case, so that saving them costs nothing.
    """
    joint_module.graph.eliminate_dead_code()
    if settings.cse:
        joint_module.graph = fx_graph_cse(joint_module.graph)
    graph = joint_module.graph
    roles = roles_of(graph, num_fwd_outputs)
    if not roles.backward:
        return default_partition(joint_module, _joint_inputs, num_fwd_outputs=num_fwd_outputs)
    primals = [node for node in graph.nodes if is_primal(node)]
    free = {primals[i] for i in static_lifetime_input_indices or ()}
    free.update(node for node in primals if node.meta.get(LIVES_ON))
    saved = _Cut(graph, roles, free).saved()
    forward, backward = _extract_fwd_bwd_modules(joint_module, saved, num_fwd_outputs=num_fwd_outputs)
    return raise_getitems(forward), raise_getitems(late(backward))


class _Cut:
    """The edges of a joint graph, and where they are cut."""

    def __init__(self, graph: Graph, roles: Roles, free: set[Node]) -> None:
        self.graph, self.roles, self.free = graph, roles, free
        self.edges = Network()
        self.banned: set[Node] = set()

    def saved(self) -> list[Node]:
        """The values to save, in the order of the graph."""
        for node in self.graph.nodes:
            if node.op != "output":
                self._add(node)
        if settings.ban_recompute_used_far_apart:
            self._ban_used_far_apart()
        if settings.ban_recompute_long_fusible_chains:
            self._ban_long_chains()
        cut = {one[0] for one, _ in self.edges.cut(SOURCE, SINK)}
        return [node for node in self.graph.nodes if node in cut]

    def _add(self, node: Node) -> None:
        roles = self.roles
        if node in roles.of_tangents:
            self._edge((node, IN), SINK, math.inf)
            return
        if node in roles.backward:
            self._edge((node, OUT), SINK, math.inf)
        if is_primal(node) or (roles.is_forward(node) and self._costs_too_much(node)):
            self._ban(node)
        self._edge((node, IN), (node, OUT), self._weight(node))
        for user in node.users:
            self._edge((node, OUT), (user, IN), math.inf)

    def _edge(self, one: Any, other: Any, capacity: float) -> None:
        self.edges.add_edge(one, other, capacity=capacity)

    def _ban(self, node: Node) -> None:
        """Let a node not be computed again; a view always may."""
        if not is_view(node):
            self.banned.add(node)
            self._edge(SOURCE, (node, IN), math.inf)

    # What a value weighs ----------------------------------------------------------------------------------------------

    def _weight(self, node: Node) -> float:
        if node in self.free and settings.treat_parameters_as_free_to_save:
            return 0
        if is_symbol(node.meta.get("val")):
            return 1
        if not isinstance(node.meta.get("val"), Tensor):
            return math.inf  # a list: its elements are saved
        if settings.recompute_views and is_view(node):
            return math.inf
        size = int(nbytes(node.meta["val"]) * CLOSER ** max(min(self.roles.distance[node], 100), 1))
        in_memory = node.op == "placeholder" or not all(fuses(node, user) for user in node.users)
        return size if in_memory else 2 * size  # saving it takes a write that would not be there

    # What must not be computed again ----------------------------------------------------------------------------------

    def _costs_too_much(self, node: Node) -> bool:
        if node.op != "call_function" or node.target is operator.getitem:
            return False
        if (settings.recompute_views and is_view(node)) or is_constant(node):
            return False
        if settings.ban_recompute_not_in_allowlist and not settings.aggressive_recomputation:
            if not is_recomputable(node):
                return True
        elif is_random(node) or is_compute_intensive(node):
            return True
        looks = settings.ban_recompute_materialized_backward and not settings.aggressive_recomputation
        if looks and self._is_in_memory_backward(node):
            return True
        if settings.max_dist_from_bw < self.roles.distance[node] < FAR:
            return True
        given = sum(nbytes(one.meta.get("val")) for one in node.args if isinstance(one, Node))
        return settings.ban_recompute_reductions and nbytes(node.meta.get("val")) * SMALLER < given

    def _is_in_memory_backward(self, node: Node) -> bool:
        """Whether backward needs it in memory, and not only within a loop."""
        if is_view(node):
            return False
        left = [node]
        while left:
            one = left.pop()
            for user in one.users:
                if not self.roles.is_forward(user) and not fuses(one, user):
                    return True
                if is_view(user):
                    left.append(user)
        return False

    def _ban_used_far_apart(self) -> None:
        """Of a value that is used in a loop nearby, and by another one far behind it, the second is not repeated."""
        if settings.aggressive_recomputation:
            return
        order = self.roles.order
        for node in order:
            users = [user for user in node.users if user in order]
            if not users:
                continue
            end = self._first_unfusible(users, max(order[user] for user in users))
            for user in users:
                if order[user] > end and fuses(node, user) and user not in self.banned:
                    self._ban(user)

    def _first_unfusible(self, start: list[Node], end: int) -> int:
        """The place of the first node after some that does not fuse with its source; `end` if there is none."""
        order = self.roles.order
        heap = [(order[node], True) for node in start]
        at = list(order)
        heapq.heapify(heap)
        while heap:
            place, is_fused = heapq.heappop(heap)
            if not is_fused:
                return place
            for user in at[place].users:
                if user in order and order[user] <= end:
                    found = (order[user], fuses(at[place], user))
                    if found not in heap:
                        heapq.heappush(heap, found)
        return end

    def _ban_long_chains(self) -> None:
        """A chain from the beginning of a model to its end is not repeated as a whole."""
        if settings.aggressive_recomputation:
            return
        order = self.roles.order
        at, seen = list(order), set[int]()
        for start in range(len(at)):
            heap = [start]
            while heap:
                place = heapq.heappop(heap)
                if place in seen:
                    continue
                seen.add(place)
                if place > start + LONGEST_CHAIN and not heap:
                    self._ban(at[place])
                    break
                for user in at[place].users:
                    if user in order and fuses(at[place], user) and user not in self.banned:
                        heapq.heappush(heap, order[user])


SOURCE, SINK, IN, OUT = "source", "sink", "in", "out"


# When it is computed again --------------------------------------------------------------------------------------------


def late(module: GraphModule) -> GraphModule:
    """The same backward pass, with what is computed again directly before its first use."""
    nodes = list(module.graph.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    firsts = [place[user] for node in nodes if is_tangent(node) for user in node.users]
    if not firsts:
        return module
    graph, copies = Graph(), dict[Node, Node]()

    def insert(node: Node) -> None:
        left, needed = [node], set[Node]()
        while left:
            one = left.pop()
            if one not in needed and one not in copies:
                needed.add(one)
                left += one.all_input_nodes
        for one in sorted(needed, key=place.__getitem__):
            copies[one] = graph.node_copy(one, lambda source: copies[source])

    for node in nodes:
        if node.op == "placeholder":
            insert(node)
    for node in nodes[min(firsts) :]:
        insert(node)
    return GraphModule(module, graph)
