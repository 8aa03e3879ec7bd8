"""What do the tests of products of matrices multiply, and when do they call two products equal?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import glasstorch as torch

random = np.random.default_rng(0)
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.mT.contiguous().mT,
    "apart": lambda x: torch.stack((x, x + 1), -1)[..., 0],
    "one row": lambda x: x[..., :1, :].expand(x.shape),
}
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}


def given(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Numbers that half precision holds; integers large enough to wrap around."""
    if dtype.is_floating_point:
        return torch.tensor(random.integers(-16, 17, shape) / 8.0).to(dtype)
    return torch.tensor(random.integers(0, 2**62, shape)).to(dtype)


def assert_equal(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """The same sizes, strides, dtype and, within what the dtype can tell apart, values."""
    assert (actual.shape, actual.stride(), actual.dtype) == (expected.shape, expected.stride(), expected.dtype)
    tolerance = TOLERANCE.get(expected.dtype, 0)
    here, there = (x.cpu().to(torch.float64 if tolerance else x.dtype).numpy() for x in (actual, expected))
    np.testing.assert_allclose(here, there, rtol=tolerance, atol=tolerance * 10)
