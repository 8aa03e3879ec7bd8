"""Are lines that several threads transform right?"""

from __future__ import annotations

import numpy as np
import pytest

import glasstorch
from glasstorch import fft
from glasstorch.core import parallel


def test_many_lines_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(256, 256)) + 1j * rng.normal(size=(256, 256))
    monkeypatch.setattr(parallel, "_chosen", 2)
    found = fft.fft(glasstorch.from_numpy(x))
    assert found.dtype == glasstorch.complex128
    np.testing.assert_allclose(found.numpy(), np.fft.fft(x), 1e-12, 1e-12)
