"""Is NVIDIA's compiler here? It needs no card."""

from __future__ import annotations

from types import ModuleType

import pytest

from glasstorch.devices import nvrtc


@pytest.fixture(scope="session")
def compiler() -> ModuleType:
    """The module `nvrtc`; the test is skipped where the library is missing."""
    try:
        nvrtc.library()
    except RuntimeError:
        pytest.skip("NVRTC is not installed")
    return nvrtc
