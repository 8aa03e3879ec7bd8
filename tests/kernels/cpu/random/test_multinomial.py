"""Are places drawn by weight as PyTorch draws them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.random.torch_numbers import torch_module


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_places_are_torch_s(dtype: str, replacement: bool, count: int) -> None:
    torch, ours = torch_module(), pytest.importorskip("glasstorch")
    drawn = []
    for library in (ours, torch):
        base = (library.arange(40, dtype=getattr(library, dtype)) % 7 + 0.5).reshape(5, 8)
        library.manual_seed(12)
        drawn.append(
            [
                library.multinomial(weights, count, replacement).tolist()
                for weights in (base, base[1], base.t().contiguous().t(), base[::2], base * 1e-3, base[:0])
            ]
        )
        drawn[-1].append(library.rand(1).item())
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_drawn_from_too(dtype: str) -> None:
    torch, ours = torch_module(), pytest.importorskip("glasstorch")
    drawn = []
    for library in (ours, torch):
        weights = library.tensor([0.25, 4, 0, 1, 16], dtype=getattr(library, dtype))
        library.manual_seed(2)
        drawn.append([library.multinomial(weights, 3, replacement).tolist() for replacement in (True, False)])
    assert drawn[0] == drawn[1]


def test_a_weight_of_zero_is_never_drawn_while_there_are_others(torch: Any) -> None:
    weights = torch.tensor([0.0, 3, 0, 1])
    assert set(torch.multinomial(weights, 200, True).tolist()) == {1, 3}
    for _ in range(20):
        assert set(torch.multinomial(weights, 2).tolist()) == {1, 3}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    "rows",
    [
        [[0.37, 0], [0, 0], [0, 0]],
        [[0.3, 0.7], [1, 1], [0.5, -1]],
        [[0.3, 0.7], [0, 0], [-1, 0]],
        [[0.3, 0.7], [float("inf"), 1]],
        [[float("nan"), 1], [1, 1]],
    ],
)
def test_after_a_row_that_is_refused_the_stream_stands_where_pytorchs_does(rows: list[list[float]], dtype: str) -> None:
    told = []
    for library in (pytest.importorskip("glasstorch"), torch_module()):
        library.manual_seed(3)
        with pytest.raises(RuntimeError, match="invalid multinomial distribution") as refusal:
            library.multinomial(library.tensor(rows, dtype=getattr(library, dtype)), 3, True)
        told.append((str(refusal.value), library.rand(1).item()))
    assert told[0] == told[1]


def test_places_are_an_int64_tensor_without_a_gradient(torch: Any) -> None:
    places = torch.ones(2, 3, requires_grad=True).multinomial(2, generator=torch.Generator())
    assert (tuple(places.shape), places.dtype, places.requires_grad) == ((2, 2), torch.int64, False)
    assert torch.multinomial(torch.ones(2, 3, device="meta"), 5, True).shape == (2, 5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.multinomial(t.ones(3), 4), r"cannot sample n_sample > prob_dist.size\(-1\) samples"),
        (lambda t: t.multinomial(t.ones(3), 0), "cannot sample n_sample <= 0 samples"),
        (lambda t: t.multinomial(t.ones(()), 1), "prob_dist must be 1 or 2 dim"),
        (lambda t: t.multinomial(t.ones(1, 1, 1), 1), "prob_dist must be 1 or 2 dim"),
        (lambda t: t.multinomial(t.ones(3, dtype=t.int64), 1), "only supports floating-point dtypes for input, got: L"),
        (lambda t: t.multinomial(t.zeros(3), 1), r"invalid multinomial distribution \(sum of probabilities <= 0\)"),
        (lambda t: t.multinomial(t.tensor([[1.0], [0.0]]), 1), "invalid multinomial distribution"),
        (lambda t: t.multinomial(t.tensor([1.0, -1]), 2, True), r"\(encountering probability entry < 0\)"),
        (lambda t: t.multinomial(t.tensor([float("nan"), -1]), 2, True), r"\(encountering probability entry < 0\)"),
        (lambda t: t.multinomial(t.tensor([float("inf"), -1]), 2, True), r"probability entry = infinity or NaN\)"),
        (
            lambda t: t.multinomial(t.zeros(3), 2, True),
            r"invalid multinomial distribution \(sum of probabilities <= 0\)",
        ),
        (
            lambda t: t.multinomial(t.ones(3).to(t.float8_e5m2), 2, True),
            "\"multinomial\" not implemented for 'Float8_e5m2'",
        ),
        (lambda t: t.multinomial(t.tensor([1.0, -1]), 1, True), "contains either `inf`, `nan` or element < 0"),
        (lambda t: t.multinomial(t.tensor([1.0, float("inf")]), 1), "contains either `inf`, `nan` or element < 0"),
        (lambda t: t.multinomial(t.tensor([1.0, float("nan")]), 1), "contains either `inf`, `nan` or element < 0"),
        (lambda t: t.multinomial(t.ones(3, 0), 1, True), "expected weights in each row|cannot compute aminmax"),
        (lambda t: t.multinomial(t.ones(3).to(t.float8_e5m2), 1), "\"aminmax_cpu\" not implemented for 'Float8_e5m2'"),
        (lambda t: t.multinomial(t.ones(3), 2, out=t.empty(0)), "multinomial expects Long tensor out, got: Float"),
    ],
)
def test_what_nothing_can_be_drawn_from_is_refused(torch: Any, call: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        call(torch)
