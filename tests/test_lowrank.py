"""Is a matrix of low rank found again, as PyTorch finds it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

Require = Callable[[str], Any]


def of_rank(rank: int, *shape: int, dtype: Any = None) -> Any:
    left = glasstorch.randn(*shape[:-1], rank, dtype=dtype)
    return left @ glasstorch.randn(*shape[:-2], rank, shape[-1], dtype=dtype)


@pytest.mark.parametrize("dtype", [glasstorch.float64, glasstorch.complex128])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (2, 6, 6)])
def test_a_matrix_of_low_rank_is_the_product_of_its_parts(shape: tuple[int, ...], dtype: Any) -> None:
    x, shift = of_rank(2, *shape, dtype=dtype), glasstorch.ones(shape[-1], dtype=dtype)
    for made, given, extra in ((x, x, None), (x, x + shift, shift)):
        u, s, v = glasstorch.svd_lowrank(given, 3, M=extra)
        assert s.shape[-1] == 3
        np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mH).numpy(), made.numpy(), atol=1e-10)


def test_principal_directions_are_those_of_the_centred_matrix() -> None:
    x = of_rank(2, 8, 5, dtype=glasstorch.float64) + 3
    u, s, v = glasstorch.pca_lowrank(x, 4)
    np.testing.assert_allclose(((u * s) @ v.mT).numpy(), (x - x.mean(0)).numpy(), atol=1e-10)
    u, s, v = glasstorch.pca_lowrank(x, center=False)
    np.testing.assert_allclose(((u * s) @ v.mT).numpy(), x.numpy(), atol=1e-10)


def test_a_seed_gives_pytorchs_approximation(require: Require) -> None:
    torch = require("torch")
    x = np.random.default_rng(1).normal(size=(9, 6)).astype("float32")
    found = []
    for library in (glasstorch, torch):
        library.manual_seed(5)
        u, s, v = library.svd_lowrank(library.from_numpy(x.copy()), 2, 1)
        found.append((u * s) @ v.mT)
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), atol=1e-5)


@pytest.mark.parametrize(("options", "message"), [({"q": 9}, r"q\(=9\)"), ({"niter": -1}, r"niter\(=-1\)")])
def test_what_cannot_be_approximated_is_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        glasstorch.pca_lowrank(glasstorch.ones(3, 4), **options)
