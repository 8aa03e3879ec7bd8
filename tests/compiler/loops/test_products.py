"""Is a thin product with a large result computed in blocks, with what follows, and any other as a whole?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.compiler.loops import backend, products
from tests.compiler.loops.test_backend import check, without_compiler

F = torch.nn.functional
torch.manual_seed(0)
X, Y, LARGE = torch.randn(50, 6), torch.randn(6, 8), torch.randn(50, 8)

IN_BLOCKS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "an activation": lambda x, y, z: F.gelu(torch.mm(x, y)),
    "a bias, an activation and what was there": lambda x, y, z: F.relu(torch.mm(x, y) + y[0]) * 2 + z,
    "a softmax of rows": lambda x, y, z: torch.softmax(torch.mm(x, y) * 3, 1),
    "means of rows": lambda x, y, z: torch.mm(x, y).mean(1),
    "a part of the columns": lambda x, y, z: torch.mm(x, y)[:, 2:5].exp(),
    "two results": lambda x, y, z: ((w := torch.mm(x, y)).exp(), w + z),
    "sines": lambda x, y, z: torch.mm(x.sign() * 4e6, y.sign()).sin(),
    "transposed matrices": lambda x, y, z: torch.mm(y.t(), x.t()).abs(),
}
WHOLE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "alone": lambda x, y, z: torch.mm(x, y),
    "a result": lambda x, y, z: ((w := torch.mm(x, y)), w + 1),
    "means of columns": lambda x, y, z: torch.mm(x, y).mean(0),
    "the sum of all": lambda x, y, z: torch.mm(x, y).sum(),
    "read across rows": lambda x, y, z: (w := torch.mm(x, y))[1:] + w[:-1],
    "a transposed result": lambda x, y, z: torch.mm(x, y).t().contiguous() + 1,
    "of integers": lambda x, y, z: torch.mm(x.long(), y.long()) + 1,
    "of batches": lambda x, y, z: torch.bmm(x[None], y[None]) + 1,
}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "LEAST_BYTES", 100)
    monkeypatch.setattr(products, "BYTES_OF_BLOCK", 8 * 4 * 7)  # seven rows; one is left


@pytest.mark.parametrize("name", IN_BLOCKS)
def test_a_product_is_computed_in_blocks(name: str) -> None:
    assert "multiply(" in check(IN_BLOCKS[name], X, Y, LARGE).source_code


@pytest.mark.parametrize("name", WHOLE)
def test_another_is_computed_whole(name: str) -> None:
    assert "multiply(" not in check(WHOLE[name], X, Y, LARGE).source_code


def test_a_product_that_is_not_thin_or_not_large_is_computed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    program = IN_BLOCKS["an activation"]
    monkeypatch.setattr(products, "MOST_INNER", 5)
    assert "multiply(" not in check(program, X, Y, LARGE).source_code
    monkeypatch.undo()
    assert "multiply(" not in check(program, X, Y, LARGE).source_code


def test_numpy_computes_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "compiled", without_compiler)
    monkeypatch.setattr(backend, "tell_once", lambda why: None)
    for program in IN_BLOCKS.values():
        assert "multiply(" not in check(program, X, Y, LARGE).source_code
