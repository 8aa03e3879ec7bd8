"""Do results of Fourier transforms lie in memory as PyTorch's?"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

NAMES = ["fft", "rfft", "irfft", "hfft", "fftn", "ifftn", "rfftn", "irfftn"]


def strides(t: Any, name: str, case: random.Random) -> tuple[int, ...] | None:
    """Where the result of a random call lies; None where it is refused."""
    ndim = case.randint(1, 4)
    sizes = [case.choice([1, 2, 3, 4]) for _ in range(ndim)]
    steps, step = [0] * ndim, 1
    for d in case.sample(range(ndim), ndim):
        steps[d] = step * case.choice([1, 1, 2])
        step = steps[d] * sizes[d]
    dims = case.sample(range(ndim), case.randint(1, ndim))
    data = np.ones(1 + sum((n - 1) * s for n, s in zip(sizes, steps, strict=True)), case.choice(["f4", "c8"]))
    x = t.from_numpy(data).as_strided(sizes, steps)
    try:
        many, points = name.endswith("n"), case.choice([None, None, 1, 5])
        of_each = {"s": points and [points] * len(dims)} if many else {"n": points}
        result = getattr(t.fft, name)(x, dim=dims if many else dims[0], **of_each)
    except RuntimeError:
        return None
    return tuple(result.stride())


@pytest.mark.parametrize("name", NAMES)
def test_results_have_pytorchs_strides(require: Any, name: str) -> None:
    import glasstorch

    oracle = require("torch")
    found = [strides(glasstorch, name, random.Random(seed)) for seed in range(150)]
    assert found == [strides(oracle, name, random.Random(seed)) for seed in range(150)]
    assert sum(one is not None for one in found) > 50
