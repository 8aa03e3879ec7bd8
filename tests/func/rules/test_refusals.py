"""Is refused under vmap what would differ in shape from example to example?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def words(torch: Any, refused: Callable[[Any], str], f: Callable[[Any], Any]) -> str:
    return refused(lambda: torch.func.vmap(f)(torch.arange(6.0).view(2, 3)))


@pytest.mark.parametrize("name", ["nonzero", "where", "unique_consecutive"])
def test_a_result_of_unknown_size(torch: Any, refused: Callable[[Any], str], name: str) -> None:
    message = words(torch, refused, getattr(torch, name))
    assert message.startswith("vmap: We do not support batching operators that can output dynamic shape.")
    assert f"Attempted to vmap over aten::{name}." in message


def test_masks(torch: Any, refused: Callable[[Any], str]) -> None:
    assert "Attempting to batch over indexing with a boolean mask" in words(torch, refused, lambda x: x[x > 1])
    assert "Attempted to vmap over `mask` in torch.masked_select" in words(
        torch, refused, lambda x: x.masked_select(x > 1)
    )
    mask = torch.tensor([True, False, True])  # the same for all examples
    assert torch.func.vmap(lambda x: x[mask])(torch.arange(6.0).view(2, 3)).tolist() == [[0, 2], [3, 5]]


def test_bools_of_python(torch: Any, refused: Callable[[Any], str]) -> None:
    assert "vmap over torch.allclose isn't supported yet" in words(torch, refused, lambda x: torch.allclose(x, x))
    assert "not implemented for aten::equal" in words(torch, refused, lambda x: torch.equal(x, x))
