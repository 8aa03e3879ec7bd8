"""Do blocks of any size give the same softmax?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glasstorch.kernels.cpu import softmax
from glasstorch.kernels.cpu.fast import thresholds

random = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(10, 7), (10, 70), (9, 6, 5)])
def test_blocks_of_any_size_agree(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = random.standard_normal(shape), random.standard_normal(shape)
    given = x.copy(), y.copy()
    functions: list[tuple[Any, list[Any]]] = [
        (softmax.softmax, [x]),
        (softmax.log_softmax, [x]),
        (softmax.softmax_backward, [x, y]),
        (softmax.log_softmax_backward, [x, y]),
    ]
    whole = [softmax.along.run(function, inputs, 1) for function, inputs in functions]
    for block, short in ((1, 0), (100, 1000), (150, 0)):
        monkeypatch.setattr(thresholds, "STRIP", block)
        monkeypatch.setattr(thresholds, "SOFTMAX_TRANSPOSED_UP_TO", short)
        for (function, inputs), wanted in zip(functions, whole, strict=True):
            np.testing.assert_allclose(softmax.along.run(function, inputs, 1), wanted)
    np.testing.assert_array_equal((x, y), given)


@pytest.mark.parametrize("size", [10, 40, 1000])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_rows_far_apart_have_maxima_of_their_own(torch: Any, name: str, size: int) -> None:
    row = torch.arange(size).to(torch.float32) / size
    far = torch.stack([row, row + 1000, row - 1000])
    found = getattr(far, name)(1)
    assert torch.allclose(found, getattr(row, name)(0).expand(3, size), rtol=1e-3, atol=1e-3)
