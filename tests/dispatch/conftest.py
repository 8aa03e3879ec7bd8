"""What the dispatcher's tests share: tensors that are nothing but a key set, and a namespace that is taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from glasstorch.core.keys import CPU_KEYS
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.fallback import PASSED_THROUGH
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry


@pytest.fixture(autouse=True)
def without_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the keys of autograd be transparent, as this layer makes them.

    What autograd does for an operator without a kernel of its own is in tests/autograd/test_unregistered.py.
    """
    transparent = {key: Kernel(fallthrough_kernel, key, "fallback.py", takes_keys=True) for key in PASSED_THROUGH}
    monkeypatch.setattr(registry, "fallbacks", {**registry.fallbacks, **transparent})
    registry.changed()


@pytest.fixture
def tensor() -> Callable[..., TensorImpl]:
    """Makes a tensor that has a key set and nothing else; a plain CPU tensor's unless another is given."""

    def make(keys: int = CPU_KEYS) -> TensorImpl:
        t = TensorImpl()
        t.key_set = keys
        t._autograd_meta = None
        return t

    return make


@pytest.fixture
def library() -> Iterator[Library]:
    """A namespace `sample` of its own for a test."""
    with Library("sample", "DEF") as opened:
        yield opened


@pytest.fixture
def operator(library: Library) -> Operator:
    """An operator of one tensor without kernels."""
    return library.define("op(Tensor x) -> Tensor")
