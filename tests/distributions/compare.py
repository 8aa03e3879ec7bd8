"""How what two libraries give is compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import glasstorch
from tests.core.random.torch_numbers import torch_module


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the class of the error that it raises."""
    try:
        return call()
    except (NotImplementedError, AttributeError) as error:
        return type(error).__name__.replace("AttributeError", "NotImplementedError")


def plain(value: Any) -> Any:
    """Tensors as dtypes and arrays, to be compared between libraries."""
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "detach"):
        return [str(value.dtype).split(".")[-1], np.array(value.detach().tolist(), np.float64)]
    return value


def assert_alike(ours: Any, theirs: Any, rtol: float) -> None:
    """That two plain values are equal, numbers up to a tolerance."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_alike(one, other, rtol)
    elif isinstance(ours, np.ndarray):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * 1e-3)
    else:
        assert ours == theirs


def both(call: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What a call gives with our library and with PyTorch."""
    results = []
    for library in (glasstorch, torch_module()):
        __import__(f"{library.__name__}.distributions")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Singular sample detected")  # which PyTorch says of sound ones
            results.append(plain(call(library)))
    return results[0], results[1]
