"""Are lines that several threads transform right?"""

from __future__ import annotations

import numpy as np

import glasstorch
from glasstorch import fft
from glasstorch.core.parallel import get_num_threads, set_num_threads


def test_many_lines_are_shared_among_threads() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(256, 256)) + 1j * rng.normal(size=(256, 256))
    chosen = get_num_threads()
    try:
        set_num_threads(2)
        found = fft.fft(glasstorch.from_numpy(x))
    finally:
        set_num_threads(chosen)
    assert found.dtype == glasstorch.complex128
    np.testing.assert_allclose(found.numpy(), np.fft.fft(x), 1e-12, 1e-12)
