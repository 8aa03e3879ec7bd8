"""Is a pattern found and replaced where PyTorch's rewriter finds and replaces it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.fx.test_against_torch import same

Require = Callable[[str], Any]

# A program, a pattern, what takes its place.
REWRITES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "a function": lambda t: (lambda x: t.relu(x) + t.sin(x), lambda x: t.sin(x), lambda x: t.cos(x)),
    "twice": lambda t: (
        lambda x, w1, w2: x + t.max(t.cat([w1, w2]).sum()) + t.max(t.cat([w1, w2]).sum()),
        lambda a, b: t.cat([a, b]), lambda a, b: t.stack([a, b]),
    ),
    "a chain": lambda t: (
        lambda x: t.neg(t.relu(t.neg(t.relu(x)))), lambda x: t.neg(t.relu(x)), lambda x: t.sigmoid(x),
    ),
    "overlaps": lambda t: (lambda x: t.relu(t.relu(t.relu(x))), lambda x: t.relu(t.relu(x)), lambda x: t.neg(x)),
    "used elsewhere": lambda t: (lambda x: t.relu(x) + t.neg(t.relu(x)), lambda x: t.neg(t.relu(x)), lambda x: x),
    "a value used twice": lambda t: (lambda x: two(t, x), lambda x: t.neg(t.relu(x)), lambda x: t.sigmoid(x)),
    "a literal": lambda t: (lambda x: t.add(x, 1) + t.add(x, 2), lambda x: t.add(x, 2), lambda x: t.sub(x, 2)),
    "a literal as a wildcard": lambda t: (
        lambda x: t.add(x, 1) + 3, lambda x, y: t.add(x, y), lambda x, y: t.sub(x, y),
    ),
    "two results": lambda t: (
        lambda x: (t.relu(x) * 2, t.relu(x) + 1), lambda x: (t.relu(x) * 2, t.relu(x) + 1), lambda x: (x, t.neg(x)),
    ),
    "one of two results": lambda t: (lambda x: shared(t, x), lambda x: shared(t, x), lambda x: (t.neg(x), t.sin(x))),
    "methods": lambda t: (lambda x: x.relu().neg(), lambda x: x.relu().neg(), lambda x: x.sigmoid()),
    "keywords": lambda t: (lambda x: x.sum(dim=1), lambda x: x.sum(dim=1), lambda x: x.mean(dim=1)),
    "other keywords": lambda t: (lambda x: x.sum(dim=0), lambda x: x.sum(dim=1), lambda x: x.mean(dim=1)),
    "an overload with defaults": lambda t: (
        lambda x: t.ops.aten.add.Tensor(x, x, alpha=1), lambda x, y: t.ops.aten.add.Tensor(x, y), lambda x, y: x,
    ),
    "the whole program": lambda t: (lambda x: t.relu(x), lambda x: t.relu(x), lambda x: t.sin(t.cos(x))),
    "what is not there": lambda t: (lambda x: t.relu(x), lambda x: t.sigmoid(x), lambda x: x),
    "lists of several": lambda t: (
        lambda x: t.cat([x, x + 1, x + 2]), lambda a, b, c: t.cat([a, b, c]), lambda a, b, c: t.stack([c, b, a]),
    ),
    "too few parameters": lambda t: (lambda x: t.add(x, 1), lambda x, y: t.add(x, y), lambda x: x),
}  # fmt: skip


def two(t: Any, x: Any) -> Any:
    y = t.relu(x)
    return t.neg(y) + y


def shared(t: Any, x: Any) -> Any:
    y = t.relu(x)
    return y, y * 2


@pytest.mark.parametrize("make", REWRITES.values(), ids=REWRITES)
def test_a_graph_is_rewritten_as_by_pytorch(require: Require, make: Callable[[Any], tuple[Any, Any, Any]]) -> None:
    def run(t: Any) -> object:
        program, pattern, replacement = make(t)
        module = t.fx.symbolic_trace(program)
        matches = t.fx.replace_pattern(module, pattern, replacement)
        module.graph.lint()
        found = [(match.anchor.name, [(str(pn), str(gn)) for pn, gn in match.nodes_map.items()]) for match in matches]
        return module.code, found

    same(require, run)


def test_modules_of_the_replacement_are_copied(torch: Any) -> None:
    class Pattern(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return torch.relu(x)

    class Replacement(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.full((1,), 5.0))
            self.act = torch.nn.Sigmoid()

        def forward(self, x: Any) -> Any:
            return self.act(x) * self.scale

    module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    torch.fx.replace_pattern(module, torch.fx.symbolic_trace(Pattern()), torch.fx.symbolic_trace(Replacement()))
    assert module(torch.zeros(1)).item() == pytest.approx(3.5)
    assert [name for name, _ in module.named_parameters()] == ["scale"]
    assert [type(child).__name__ for child in module.children()] == ["Sigmoid"]


def test_a_filter_and_a_callback_decide(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.add(x, 1) + torch.add(x, 30))

    def is_large(match: Any, graph: Any, pattern: Any) -> bool:
        return any(node.args[1:] == (30,) for node in match.nodes_map.values() if node.op == "call_function")

    def doubled(match: Any, graph: Any, pattern: Any) -> Any:
        return torch.fx.symbolic_trace(lambda x: x * 2).graph

    replaced = torch.fx.subgraph_rewriter.replace_pattern_with_filters(
        module, lambda x: torch.add(x, 7), match_filters=[is_large], ignore_literals=True, replacement_callback=doubled
    )
    assert [[node.name for node in one.replacements] for one in replaced] == [["mul"]]
    assert module(torch.full((1,), 10.0)).item() == 31


def test_neither_replacement_nor_callback_is_refused(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    with pytest.raises(AssertionError, match="Must provide either a replacement GraphModule or a replacement callback"):
        torch.fx.subgraph_rewriter.replace_pattern_with_filters(module, lambda x: torch.relu(x))


def test_an_attribute_that_the_replacement_lacks_is_named() -> None:
    module = glasstorch.fx.symbolic_trace(lambda x: glasstorch.relu(x))
    with module.graph.inserting_before(module.graph.output_node()), pytest.warns(UserWarning, match="no underlying"):
        module.graph.get_attr("nope")
    replacement = glasstorch.fx.symbolic_trace(lambda x: glasstorch.sin(x))
    with pytest.raises(RuntimeError, match="target nope, but the referenced attribute does not exist"):
        glasstorch.fx.replace_pattern(module, lambda x: glasstorch.relu(x), replacement)
