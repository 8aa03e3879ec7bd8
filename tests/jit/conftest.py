"""Does every graph that a test makes come back from its text as it was? Tests of other folders import this too.

While a test runs, each graph made is kept; when it ends, those that keep the rules of the verifier are printed, read
and printed again, and their attributes compared. A text that was read before is not read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.printer import tensor_constants
from glasstorch.jit.verify import LintError, nodes_form_a_ring

_read: set[int] = set()  # the hashes of texts that came back as they were


@pytest.fixture(autouse=True)
def every_graph_comes_back_from_its_text(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made: list[Graph] = []
    original = Graph.__init__

    def keeping(self: Graph) -> None:
        original(self)
        made.append(self)

    monkeypatch.setattr(Graph, "__init__", keeping)
    yield
    monkeypatch.undo()
    for graph in made:
        if any(nodes_form_a_ring(graph)):
            continue
        try:
            text = str(graph)
        except (RecursionError, TypeError):  # one that contains itself, or what no text can hold
            continue
        if hash(text) not in _read and _keeps_the_rules(graph):
            read = parse_ir(text, tensor_constants(graph))
            assert str(read) == text
            for ours, theirs in zip(_attributes(read), _attributes(graph), strict=True):
                # A NaN is not equal to itself; of tensors there is one each.
                assert ours is theirs or repr(ours) == repr(theirs) or ours == theirs
            _read.add(hash(text))


def _attributes(graph: Graph) -> Iterator[Any]:
    """The values of all attributes, which a text might hold in part only."""
    for node in graph.all_nodes():
        for attribute in node.attributes.values():
            if isinstance(attribute, Graph):
                yield from _attributes(attribute)
            else:
                yield attribute


def _keeps_the_rules(graph: Graph) -> bool:
    """Some tests are about graphs that do not."""
    try:
        graph.lint()
    except LintError:
        return False
    return True
