"""Is every kernel that a test launches one that is compiled for a card?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import registers
from glasstorch.devices import modules
from glasstorch.devices.driver import Driver, Module

_asked: set[tuple[str, str, tuple[str, ...]]] = set()


@pytest.fixture(scope="session", autouse=True)
def kernels_are_noted() -> Iterator[None]:
    """Note every kernel that a driver was asked for."""
    compiled = modules._module

    def noting(on: Driver, file: str, expression: str, defines: tuple[str, ...]) -> Module:
        module = compiled(on, file, expression, defines)
        _asked.add((file, expression, defines))
        return module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, "_module", noting)
        yield


@pytest.fixture(scope="module", autouse=True)
def kernels_are_declared(kernels_are_noted: None) -> Iterator[None]:
    """Fail where a test's kernel is missing from its file's `instantiations`: NVRTC would never see it."""
    yield
    assert not (missing := _asked - registers.declared()), f"not in `instantiations`: {sorted(missing)}"
