"""Is as little saved for the backward pass as PyTorch saves, and is it enough?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

import networkx
import pytest

import glasstorch
from glasstorch._functorch import config
from glasstorch._functorch.partitioners import min_cut_rematerialization_partition
from glasstorch.compiler.max_flow import Network
from tests.compiler.programs import RECOMPUTED, SAME_RESULTS, Program, ramp
from tests.compiler.test_partition import joint_of

Require = Callable[[str], Any]


class Run(NamedTuple):
    """A program that was compiled: results, gradients, and what forward hands to backward."""

    results: list[Any]
    gradients: list[Any]
    saved: list[Any]
    forward: Any
    backward: Any

    @property
    def nbytes(self) -> int:
        values = [node.meta["val"] for node in self.saved]
        return sum(value.numel() * value.element_size() for value in values)


def tensors(t: Any, value: Any) -> list[Any]:
    return [leaf for leaf in t.utils._pytree.tree_leaves(value) if isinstance(leaf, t.Tensor)]


def compiled(t: Any, make: Program, decomposed: bool = False) -> Run:
    aot = import_module(f"{t.__name__}._functorch.aot_autograd")
    cut = import_module(f"{t.__name__}._functorch.partitioners").min_cut_rematerialization_partition
    parts: list[Any] = []

    def partition(joint: Any, inputs: Any, **options: Any) -> Any:
        parts[:] = cut(joint, inputs, **options)
        saved = next(iter(reversed(parts[0].graph.nodes))).args[0][options["num_fwd_outputs"] :]
        parts.append(list(saved))
        return parts[:2]

    def boxed(module: Any, inputs: Any) -> Any:
        return aot.make_boxed_func(module.forward)

    table = t._decomp._core_aten_decompositions_post_autograd() if decomposed else None
    t.manual_seed(5)
    function, *args = make(t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = aot.aot_function(function, boxed, boxed, partition, table)
        results = tensors(t, run(*args))
        backward(results)
    gradients = [arg.grad for arg in tensors(t, args) if arg.is_leaf]
    return Run(results, gradients, parts[2] if parts else [], *(parts[:2] or (None, None)))


def backward(results: list[Any]) -> None:
    wanted = [one for one in results if one.requires_grad]
    if wanted:
        sum((one * one).sum() for one in wanted).backward()


PROGRAMS = {**SAME_RESULTS, **RECOMPUTED}


@pytest.mark.parametrize("decomposed", [False, True], ids=["operators", "core operators"])
@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_no_more_is_saved_than_pytorch_saves(require: Require, make: Program, decomposed: bool) -> None:
    torch = require("torch")
    ours, theirs = compiled(glasstorch, make, decomposed), compiled(torch, make, decomposed)
    assert len(ours.saved) <= len(theirs.saved)
    assert ours.nbytes <= theirs.nbytes


@pytest.fixture
def _double() -> Iterator[None]:
    """Numbers are of double precision."""
    glasstorch.set_default_dtype(glasstorch.float64)
    yield
    glasstorch.set_default_dtype(glasstorch.float32)


@pytest.mark.usefixtures("_double")
@pytest.mark.parametrize("make", RECOMPUTED.values(), ids=RECOMPUTED)
def test_gradients_are_the_functions(make: Program) -> None:
    found = compiled(glasstorch, make, decomposed=True)
    glasstorch.manual_seed(5)
    function, *args = make(glasstorch)
    results = tensors(glasstorch, function(*args))
    backward(results)
    for one, other in zip(found.results, results, strict=True):
        glasstorch.testing.assert_close(one, other)
    for one, arg in zip(found.gradients, [arg for arg in tensors(glasstorch, args) if arg.is_leaf], strict=True):
        glasstorch.testing.assert_close(one, arg.grad)


def calls(module: Any) -> list[str]:
    return [str(node.target) for node in module.graph.nodes if node.op == "call_function"]


def test_a_chain_is_computed_again_from_its_input() -> None:
    run = compiled(glasstorch, lambda t: (lambda x: x.sin().cos().exp(), ramp(t, 8)))
    assert [node.name for node in run.saved] == ["primals_1", "exp"]
    assert "aten.sin.default" in calls(run.backward)


def test_products_reductions_and_random_numbers_are_saved() -> None:
    run = compiled(glasstorch, RECOMPUTED["dropout"])
    assert "aten.native_dropout.default" not in calls(run.backward)
    assert glasstorch.bool in [node.meta["val"].dtype for node in run.saved]


def test_what_is_computed_again_stands_before_its_first_use() -> None:
    def make(t: Any) -> tuple[Any, ...]:
        return lambda x, w: (x.sin().cos() * (x @ w).relu()).sum(), ramp(t, 4, 4), ramp(t, 4, 4)

    names = calls(compiled(glasstorch, make).backward)
    assert names[0] == "aten.expand.default"
    assert "aten.sin.default" in names


def test_two_nodes_that_compute_the_same_are_one_unless_a_setting_says_otherwise() -> None:
    def make(t: Any) -> tuple[Any, ...]:
        return lambda x: x.exp().sin() * x.exp().cos(), ramp(t, 4)

    assert calls(compiled(glasstorch, make).forward).count("aten.exp.default") == 1
    with config.patch(cse=False):
        assert calls(compiled(glasstorch, make).forward).count("aten.exp.default") == 2
    with pytest.raises(AttributeError, match=r"torch\._functorch\.config\.ces does not exist"):
        config.patch(ces=False)


def test_two_results_that_are_computed_alike_have_memory_of_their_own() -> None:
    first, second = compiled(glasstorch, lambda t: (lambda x: (x.exp(), x.exp()), ramp(t, 3))).results
    assert first.data_ptr() != second.data_ptr()


def test_settings_lift_the_bans() -> None:
    def make(t: Any) -> tuple[Any, ...]:
        return lambda x, w: t.softmax(x.sin(), 0).exp() @ w, ramp(t, 6, 6), ramp(t, 6, 6)

    assert "aten._softmax.default" not in calls(compiled(glasstorch, make).backward)
    with config.patch("aggressive_recomputation", True):
        assert "aten._softmax.default" in calls(compiled(glasstorch, make).backward)


def test_parameters_are_free_to_save() -> None:
    def function(x: Any, y: Any) -> list[Any]:
        return [(x * y).sin().sum()]

    x, y = ramp(glasstorch, 8), ramp(glasstorch, 8)
    module = joint_of(function, x, y)
    forward, _ = min_cut_rematerialization_partition(
        module, (x, y), num_fwd_outputs=1, static_lifetime_input_indices=[0, 1]
    )
    assert [str(one) for one in forward.graph.output_node().args[0][1:]] == ["primals_1", "primals_2"]


@pytest.mark.parametrize("seed", range(60))
def test_a_network_is_cut_where_networkx_cuts_it(seed: int) -> None:
    random = Random(seed)
    network, graph = Network(), networkx.DiGraph()
    nodes = range(random.randint(3, 14))
    for node, other in {(random.choice(nodes), random.choice(nodes)) for _ in range(random.randint(4, 50))}:
        if node != other:
            capacity = random.choice([0, 1, 2, 3, 7, math.inf])
            network.add_edge(node, other, capacity)
            graph.add_edge(node, other, capacity=capacity)
    graph.add_nodes_from((0, 1))
    try:
        _, (near, far) = networkx.minimum_cut(graph, 0, 1)
    except networkx.NetworkXUnbounded as error:
        with pytest.raises(ValueError, match=str(error)):
            network.cut(0, 1)
        return
    assert set(network.cut(0, 1)) == {(one, other) for one, other in graph.edges if one in near and other in far}
