"""Are random numbers put where PyTorch puts them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda t: t.zeros(3, 4),
    "transposed": lambda t: t.zeros(4, 3).t(),
    "permuted": lambda t: t.zeros(2, 3, 4).permute(1, 2, 0),
    "with gaps": lambda t: t.zeros(6, 8)[::2, 1::2],
    "with gaps, transposed": lambda t: t.zeros(8, 6).t()[:, ::2],
    "a scalar": lambda t: t.zeros(()),
    "empty": lambda t: t.zeros(0, 3),
}
DRAWS: dict[str, Callable[[Any], Any]] = {
    "uniform_": lambda x: x.uniform_(-1, 3),
    "normal_": lambda x: x.normal_(1, 2),
    "random_": lambda x: x.random_(-5, 100),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("draw", DRAWS)
def test_the_numbers_follow_the_order_in_memory(require: Callable[[str], Any], layout: str, draw: str) -> None:
    results = []
    for library in (require("glasstorch"), require("torch")):
        library.manual_seed(7)
        x = LAYOUTS[layout](library)
        assert DRAWS[draw](x) is x
        results.append((x.tolist(), library.rand(1).item()))
    assert results[0] == results[1]


def test_a_generator_draws_beside_the_default_stream(torch: Any) -> None:
    torch.manual_seed(0)
    expected = torch.rand(2).tolist()
    torch.manual_seed(0)
    own = [torch.Generator().manual_seed(0) for _ in range(5)]
    assert torch.rand(2, generator=own[0]).tolist() == expected
    assert torch.zeros(2).uniform_(generator=own[1]).tolist() == expected
    torch.randn(2, generator=own[2])
    torch.randint(9, (2,), generator=own[3])
    torch.randint(-9, 9, (2,), generator=own[4])
    assert torch.rand(2).tolist() == expected


def test_what_cannot_be_drawn(torch: Any) -> None:
    overlapping = torch.zeros(1).expand(3)
    for draw in DRAWS.values():
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
            draw(overlapping)
    with pytest.raises(RuntimeError, match="'from' to be less than 'to', but got from=5 >= to=3"):
        torch.randint(5, 3, (2,))
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.rand(3, dtype=torch.int64)


def test_integers_are_int64_unless_told(torch: Any) -> None:
    assert torch.randint(3, (2,)).dtype is torch.int64
    assert torch.randint(0, 3, (2,), dtype=torch.float32).dtype is torch.float32
    assert torch.randint(3, (2,), dtype=None).dtype is torch.int64
