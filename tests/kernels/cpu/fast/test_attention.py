"""When does attention subtract no maximum, and which keys does a part of the queries see?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import Tensor
from glasstorch.kernels.cpu import attention
from glasstorch.nn.functional import scaled_dot_product_attention


def queries_and_others(length: int, by: float = 1.0) -> tuple[Tensor, ...]:
    random = np.random.default_rng(0)
    query, key, value = (random.standard_normal((2, 3, length, 8), np.float32) for _ in range(3))
    return tuple(map(glasstorch.from_numpy, (query * np.float32(by), key, value)))


@pytest.mark.parametrize(("by", "plain"), [(1.0, False), (100.0, True), (float("nan"), True)])
def test_large_scores_go_to_the_plain_kernel(by: float, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(attention.attend, "plain", lambda *given: calls.append(given))
    scaled_dot_product_attention(*queries_and_others(20, by), is_causal=True)
    assert bool(calls) is plain


@pytest.mark.parametrize("length", [20, 128, 129, 700])
def test_parts_of_the_queries_give_what_a_mask_gives(length: int) -> None:
    given = tuple(one.requires_grad_() for one in queries_and_others(length))
    mask = glasstorch.ones(length, length, dtype=glasstorch.bool).tril()
    (found, *of_found), (wanted, *of_wanted) = (
        (output, *glasstorch.autograd.grad(output.sin().sum(), given))
        for output in (
            scaled_dot_product_attention(*given, is_causal=True),
            scaled_dot_product_attention(*given, attn_mask=mask),
        )
    )
    for one, other in zip((found, *of_found), (wanted, *of_wanted), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=2e-6, atol=2e-6)


def test_a_causal_mask_cuts_long_queries_into_four_parts() -> None:
    one = attention.problem(*queries_and_others(1024), None, True, None)
    assert sorted({rows.start for _, rows in one.parts()}) == [0, 256, 512, 768]
    assert [attention.keys_seen(one.part(at, rows)) for at, rows in one.parts()][:4] == [256, 512, 768, 1024]
