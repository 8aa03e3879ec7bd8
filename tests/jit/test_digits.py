"""Is the digits network, traced, the network it was, and does it run with fewer nodes and fewer allocations?

The network is that of examples/digits.py and, where pixels come raw, examples/traced_digits.py: there the change of
scale is a part of the program.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch import jit, nn
from glasstorch.core.allocator import LARGE, cpu_allocator

EXAMPLES = Path(__file__).parents[2] / "examples"
IMAGES = 7000  # so many that even ten scores for each are a block that the allocator counts


@pytest.fixture(scope="module")
def examples() -> Iterator[Any]:
    """The module traced_digits, with `torch` meaning glasstorch while it is imported."""
    before = dict(sys.modules)
    sys.path.insert(0, str(EXAMPLES))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("torch", "digits", "traced_digits")]:
        del sys.modules[name]
    for name in [name for name in sys.modules if name.partition(".")[0] == "glasstorch"]:
        sys.modules["torch" + name.removeprefix("glasstorch")] = sys.modules[name]
    try:
        yield importlib.import_module("traced_digits")
    finally:
        sys.path.remove(str(EXAMPLES))
        for name in [name for name in sys.modules if name not in before]:
            del sys.modules[name]
        sys.modules.update(before)


def pixels(count: int) -> glasstorch.Tensor:
    glasstorch.manual_seed(1)
    return glasstorch.randint(0, 17, (count, 64)).float()


@pytest.fixture(scope="module")
def reader(examples: Any) -> nn.Module:
    glasstorch.manual_seed(0)
    images = pixels(100) / 16
    made: nn.Module = examples.Reader(examples.make_model(), examples.Data(images, images[:, 0]))
    return made


def allocations(run: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many blocks of at least LARGE bytes are asked for, when everything that is made once was made."""
    run()
    asked: list[int] = []
    allocate = cpu_allocator.allocate

    def counting(nbytes: int) -> Any:
        asked.append(nbytes)
        return allocate(nbytes)

    with monkeypatch.context() as patch:
        patch.setattr(cpu_allocator, "allocate", counting)
        run()
    assert all(nbytes >= LARGE for nbytes in asked)
    return len(asked)


def test_the_traced_networks_give_eager_s_logits(examples: Any, reader: nn.Module) -> None:
    images = pixels(500)
    for model in (examples.make_model(), reader):
        traced = jit.trace(model, images[:1])
        with glasstorch.no_grad():
            assert glasstorch.equal(traced(images), model(images))
        assert glasstorch.allclose(traced(images), model(images), rtol=1e-6, atol=1e-6)


def test_the_traced_networks_give_eager_s_gradients(examples: Any, reader: nn.Module) -> None:
    images = pixels(64)
    digits = glasstorch.arange(64) % 10
    for model in (examples.make_model(), reader):
        traced = jit.trace(model, images[:1])
        found = []
        for either in (traced, model):
            loss = nn.functional.cross_entropy(either(images), digits)
            found.append(glasstorch.autograd.grad(loss, list(model.parameters())))
        for ours, theirs in zip(*found, strict=True):
            assert glasstorch.allclose(ours, theirs, rtol=1e-5, atol=1e-7)


def test_the_optimised_graph_has_fewer_nodes_and_a_group(reader: nn.Module) -> None:
    images = pixels(2)
    traced = jit.trace(reader, images)
    with glasstorch.no_grad():
        optimised = traced.graph_for(images)
    assert len(optimised.nodes) < len(traced.graph.nodes)
    groups = optimised.find_all_nodes("prim::FusionGroup")
    scaling = groups[0].attributes["Subgraph"]
    assert [node.kind for node in scaling.nodes if node.kind != "prim::Constant"] == [
        "aten::div",
        "aten::sub",
        "aten::div",
    ]


def test_the_plain_network_has_groups_and_no_more_nodes_or_allocations(
    examples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, images = examples.make_model(), pixels(IMAGES)
    traced = jit.trace(model, images[:1])
    with glasstorch.no_grad():
        optimised = traced.graph_for(images)
        eager = allocations(lambda: model(images), monkeypatch)
        assert allocations(lambda: traced(images), monkeypatch) <= eager
    assert [node.kind for node in optimised.nodes if node.kind != "prim::Constant"] == [
        "prim::FusionGroup" if node.kind == "aten::relu" else node.kind
        for node in traced.graph.nodes
        if node.kind != "prim::Constant"
    ]
    for group in optimised.find_all_nodes("prim::FusionGroup"):
        kinds = [node.kind for node in group.attributes["Subgraph"].nodes if node.kind != "prim::Constant"]
        assert kinds == ["aten::add", "aten::relu"]


@pytest.mark.parametrize("fuser", ["numpy", "default"])
def test_the_optimised_graph_allocates_less(fuser: str, reader: nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    images = pixels(IMAGES)
    traced = jit.trace(reader, images[:1])
    with glasstorch.no_grad(), jit.fuser(fuser):
        eager = allocations(lambda: reader(images), monkeypatch)
        with jit.optimized_execution(False):
            assert allocations(lambda: traced(images), monkeypatch) == eager
        assert eager == 8  # div, sub, div, and five layers
        assert allocations(lambda: traced(images), monkeypatch) == 6
