"""Are windows those that PyTorch computes?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Make = Callable[[Any], Any]

MADE: dict[str, tuple[Make, list[float]]] = {
    "bartlett": (lambda t: t.bartlett_window(4), [0.0, 0.5, 1.0, 0.5]),
    "bartlett, not periodic": (lambda t: t.bartlett_window(5, periodic=False), [0.0, 0.5, 1.0, 0.5, 0.0]),
    "hann": (lambda t: t.hann_window(4), [0.0, 0.5, 1.0, 0.5]),
    "hann, not periodic": (lambda t: t.hann_window(3, False), [0.0, 1.0, 0.0]),
    "hann in half": (lambda t: t.hann_window(2, dtype=t.float16), [0.0, 1.0]),
    "blackman": (lambda t: t.blackman_window(2), [0.0, 1.0]),
    "hamming": (lambda t: t.hamming_window(4), [0.08, 0.54, 1.0, 0.54]),
    "hamming of other weights": (lambda t: t.hamming_window(4, False, 0.5, 0.3), [0.2, 0.65, 0.65, 0.2]),
    "hamming of one other weight": (lambda t: t.hamming_window(2, True, alpha=0.6), [0.14, 1.06]),
    "kaiser": (lambda t: t.kaiser_window(5, True, 3.0), [0.2049, 0.6247, 0.9522, 0.9522, 0.6247]),
    "kaiser of the usual beta": (lambda t: t.kaiser_window(3, False), [5.2773e-05, 1.0, 5.2773e-05]),
    "one point": (lambda t: t.blackman_window(1), [1.0]),
    "no point": (lambda t: t.kaiser_window(0), []),
}


@pytest.mark.parametrize("name", MADE)
def test_what_a_window_is(torch: Any, name: str) -> None:
    make, expected = MADE[name]
    np.testing.assert_allclose(make(torch).tolist(), expected, atol=1e-4)


def test_windows_are_torch_s() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
        for length in (2, 3, 8, 31):
            for periodic in (True, False):
                for dtype, tolerance in (("float32", 3e-6), ("float64", 1e-14), ("bfloat16", 3e-2)):
                    found, expected = (
                        getattr(t, f"{name}_window")(length, periodic, dtype=getattr(t, dtype)) for t in (ours, theirs)
                    )
                    assert repr(found.dtype) == repr(expected.dtype)
                    np.testing.assert_allclose(found.tolist(), expected.tolist(), atol=tolerance, err_msg=name)


REFUSED: dict[str, tuple[Make, type[Exception], str]] = {
    "a length below 0": (lambda t: t.hann_window(-1), RuntimeError, "non-negative window_length, got window_length=-1"),
    "integers": (lambda t: t.hamming_window(3, dtype=t.int64), RuntimeError, "expects floating point dtypes, got: "),
    "complex numbers": (lambda t: t.hann_window(3, dtype=t.complex64), NotImplementedError, "for 'ComplexFloat'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


def test_a_window_has_a_default_dtype_and_a_device(torch: Any) -> None:
    assert torch.hann_window(3).dtype is torch.float32
    assert torch.hann_window(3, requires_grad=True).requires_grad
    x = torch.bartlett_window(3, device="meta")
    assert (x.is_meta, tuple(x.shape)) == (True, (3,))
