"""Is a wrapped tensor printed with its level and its value?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")

BATCH = "BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[0., 1., 2.],\n            [3., 4., 5.]])\n)"


def texts(transform: Any, *arguments: Any) -> list[str]:
    """What a function prints of its argument under a transform."""
    seen: list[str] = []

    def f(x: Any) -> Any:
        seen.append(repr(x))
        assert str(x) == f"{x}" == seen[-1]
        return x.sum()

    transform(f)(*arguments)
    return seen


def test_a_batch_shows_its_level_and_hidden_dimension(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3)
    assert texts(torch.func.vmap, x) == [BATCH]
    assert texts(lambda f: torch.func.vmap(f, in_dims=1), x) == [BATCH.replace("bdim=0", "bdim=1")]


def test_a_tracked_tensor_shows_its_level(torch: Any) -> None:
    (text,) = texts(torch.func.grad, torch.arange(3.0))
    assert text.startswith("GradTrackingTensor(lvl=1, value=\n    tensor([0., 1., 2.]")


def test_levels_are_nested(torch: Any) -> None:
    (text,) = texts(lambda f: torch.func.vmap(torch.func.grad(f)), torch.arange(6.0).view(2, 3))
    lines = text.split("\n")
    assert lines[0].startswith("GradTrackingTensor(lvl=2, value=")
    assert lines[1] == "    BatchedTensor(lvl=1, bdim=0, value="


def test_debug_unwrap_gives_the_value(torch: Any) -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.extend([torch.func.debug_unwrap(x), torch.func.debug_unwrap(x, recurse=False)])
        return x.sum()

    x = torch.arange(6.0).view(2, 3)
    torch.func.vmap(torch.func.grad(f))(x)
    assert repr(seen[0]) == repr(x)
    assert repr(seen[1]).startswith("BatchedTensor(lvl=1, ")
    assert torch.func.debug_unwrap(x) is x
