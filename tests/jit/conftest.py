"""Does every graph that a test of the jit makes come back from its text as it was?

While a test runs, each graph made is kept; when it ends, those that keep the rules of the verifier are printed, read
and printed again. A text that was read before is not read again.
"""

from __future__ import annotations

from collections.abc import Iterator

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
            assert str(parse_ir(text, tensor_constants(graph))) == text
            _read.add(hash(text))


def _keeps_the_rules(graph: Graph) -> bool:
    """Some tests are about graphs that do not."""
    try:
        graph.lint()
    except LintError:
        return False
    return True
