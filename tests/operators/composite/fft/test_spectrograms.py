"""Are signals cut into pieces and put together again as PyTorch does it, and differentiated?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.autograd import gradcheck, gradgradcheck

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(4)
SIGNAL = RANDOM.normal(size=(2, 20))
WINDOW = RANDOM.uniform(0.5, 1, size=6)

TRANSFORMS: list[Callable[[Any, Any, Any], Any]] = [
    lambda t, x, w: t.stft(x, 6, window=w, return_complex=True),
    lambda t, x, w: t.stft(x[0], 6, 2, window=w, normalized=True, return_complex=True),
    lambda t, x, w: t.stft(x, 6, 2, window=w, onesided=False, return_complex=True),
    lambda t, x, w: t.stft(x, 8, 3, 6, w, pad_mode="constant", return_complex=True),
    lambda t, x, w: t.stft(x, 8, 3, 6, w, pad_mode="replicate", return_complex=True),
    lambda t, x, w: t.stft(x, 8, 3, 6, w, pad_mode="circular", return_complex=True),
    lambda t, x, w: t.stft(x, 9, 3, 6, w, center=False, align_to_window=True, return_complex=True),
    lambda t, x, w: t.stft(x, 9, 3, 6, w, center=False, align_to_window=False, return_complex=True),
    lambda t, x, w: t.stft(x + 1j * x.flip(0), 6, 2, window=w),
    lambda t, x, w: t.stft(x, 6, 2, window=t.complex(w, w)),
    lambda t, x, w: x.stft(6, window=w, return_complex=True),
]
INVERSES: list[Callable[[Any, Any, Any], Any]] = [
    lambda t, x, w: t.istft(t.stft(x, 6, window=w, return_complex=True), 6, window=w),
    lambda t, x, w: t.istft(t.stft(x[0], 6, 2, window=w, return_complex=True), 6, 2, window=w),
    lambda t, x, w: t.istft(t.stft(x, 6, window=w, return_complex=True), 6, window=w, length=11),
    lambda t, x, w: t.istft(t.stft(x, 8, 3, 6, w, return_complex=True), 8, 3, 6, w),
    lambda t, x, w: t.istft(t.stft(x, 6, window=w, center=False, return_complex=True), 6, window=w, center=False),
    lambda t, x, w: t.istft(t.stft(x, 6, window=w, onesided=False, return_complex=True), 6, window=w, onesided=False),
    lambda t, x, w: t.istft(
        t.stft(x + 1j * x, 6, window=w, normalized=True), 6, window=w, normalized=True, return_complex=True
    ),
    lambda t, x, w: t.stft(x, 6, window=w, return_complex=True).istft(6, window=w),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("call", TRANSFORMS + INVERSES)
def test_results_are_pytorchs(require: Require, dtype: str, call: Callable[..., Any]) -> None:
    found, wanted = (
        call(t, t.from_numpy(SIGNAL.astype(dtype)), t.from_numpy(WINDOW.astype(dtype)))
        for t in (glasstorch, require("torch"))
    )
    assert repr(found.dtype) == repr(wanted.dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), tolerance, tolerance)


@pytest.fixture
def first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process in which nothing was warned of yet."""
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())


def test_real_and_imaginary_parts_are_given_with_a_warning(first_call: None) -> None:
    with pytest.warns(UserWarning, match="return_complex=False is deprecated"):
        parts = glasstorch.stft(glasstorch.ones(8), 4, window=glasstorch.ones(4), return_complex=False)
    assert tuple(parts.shape) == (3, 9, 2)


def test_a_missing_window_and_a_signal_that_is_too_short_are_warned_of_once(first_call: None) -> None:
    with pytest.warns(UserWarning, match="A window was not provided"):
        spectrum = glasstorch.stft(glasstorch.ones(8), 4, return_complex=True)
    with pytest.warns(UserWarning, match="shorter than the length"):
        signal = glasstorch.istft(spectrum, 4, window=glasstorch.ones(4), length=12)
    assert signal.tolist() == [1] * 10 + [0] * 2


@pytest.mark.parametrize("call", [TRANSFORMS[0], TRANSFORMS[6], INVERSES[0]])
def test_gradients_and_theirs(call: Callable[..., Any]) -> None:
    x, w = (glasstorch.from_numpy(values).requires_grad_() for values in (SIGNAL, WINDOW))
    assert gradcheck(lambda x, w: call(glasstorch, x, w), (x, w), fast_mode=True)
    assert gradgradcheck(lambda x, w: call(glasstorch, x, w), (x, w), fast_mode=True)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda t: t.stft(t.ones(8), 4, window=t.ones(4)), "requires the return_complex parameter"),
        (lambda t: t.stft(t.ones(8), 30, window=t.ones(30), return_complex=True), "Padding size should be less"),
        (lambda t: t.stft(t.ones(8), 9, window=t.ones(9), center=False, return_complex=True), "expected 0 < n_fft < 8"),
        (lambda t: t.stft(t.ones(8), 4, 0, window=t.ones(4), return_complex=True), "got hop_length=0"),
        (
            lambda t: t.stft(t.ones(8), 4, win_length=5, window=t.ones(5), return_complex=True),
            "expected 0 < win_length",
        ),
        (lambda t: t.stft(t.ones(8), 4, window=t.ones(3), return_complex=True), "got window with size"),
        (lambda t: t.stft(t.ones(1, 1, 8), 4, window=t.ones(4), return_complex=True), "expected a 1D or 2D tensor"),
        (lambda t: t.stft(t.ones(8).long(), 4, window=t.ones(4), return_complex=True), "floating point or complex"),
        (lambda t: t.stft(t.ones(8) + 0j, 4, window=t.ones(4), onesided=True), "Cannot have onesided output"),
        (
            lambda t: t.stft(t.ones(8), 4, window=t.ones(4), return_complex=True, align_to_window=True),
            "align_to_window should only be set when center = false",
        ),
        (lambda t: t.istft(t.ones(3, 9), 4, window=t.ones(4)), "requires a complex-valued input"),
        (lambda t: t.istft(t.ones(3, 0) + 0j, 4, window=t.ones(4)), "input tensor cannot be empty"),
        (lambda t: t.istft(t.ones(1, 1, 3, 9) + 0j, 4, window=t.ones(4)), "3 or 4 dimensions, but got 5"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, window=t.ones(4), onesided=False), "when onesided=False, but got 3"),
        (lambda t: t.istft(t.ones(2, 9) + 0j, 4, window=t.ones(4), onesided=True), "when onesided=True, but got 2"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, 0, window=t.ones(4)), "expected 0 < hop_length <= win_length"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, win_length=5, window=t.ones(5)), "expected 0 < win_length <= n_fft"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, window=t.ones(3)), "Invalid window shape"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, window=t.zeros(4)), "window overlap add min: 1"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, window=t.ones(4), return_complex=True), "Cannot have onesided output"),
        (lambda t: t.istft(t.ones(3, 9) + 0j, 4, window=t.ones(4) + 0j), "Complex windows are incompatible"),
    ],
)
def test_both_refuse_in_the_same_words(require: Require, ask: Callable[[Any], Any], words: str) -> None:
    for t in (glasstorch, require("torch")):
        with pytest.raises(RuntimeError, match=words):
            ask(t)
