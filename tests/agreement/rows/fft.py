"""What do the operators of the family fft compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from tests.agreement.rows.shared import SINGLE_AND_DOUBLE
from tests.agreement.samples import Row, always, call, row, t

Array = np.ndarray[Any, Any]


def complex_of(dtypes: Any) -> Any:
    return dtypes[0].to_complex()


def real_of(dtypes: Any) -> Any:
    return dtypes[0].to_real()


def one_dim(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, n=None, dim=-1, norm=None: function(x, n, dim, norm)


def dims(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, s=None, dim=None, norm=None: function(x, s, dim if dim is None else tuple(dim), norm)


def transform(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, s=None, dim=(-2, -1), norm=None: function(x, s, tuple(dim), norm)


def centred(x: Array, n_fft: int, hop_length: int, window: Array, pad_mode: str = "reflect", **_: Any) -> Array:
    half = n_fft // 2
    signal = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], pad_mode)  # type: ignore[call-overload]
    pieces = np.lib.stride_tricks.sliding_window_view(signal, n_fft, -1)[..., ::hop_length, :]
    return np.swapaxes(np.fft.rfft(pieces * window), -1, -2)


WINDOW = t(4, low=0.5, high=1)


ROWS: tuple[Row, ...] = (
    # Fourier transforms
    row("_fft_r2c", lambda x, dim, mode, onesided: (np.fft.rfftn if onesided else np.fft.fftn)(x, axes=tuple(dim)),
        call(t(2, 6), [1], 0, True), call(t(4, 3), [0], 0, False), call(t(4, 3), [0, 1], 0, True),
        dtypes=SINGLE_AND_DOUBLE, result=complex_of, tolerance=8),
    row("fft_rfft", one_dim(np.fft.rfft), call(t(2, 6)), call(t(2, 5), 4, 1, "ortho"), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_fft", one_dim(np.fft.fft), call(t(2, 6)), call(t(4, 2), 5, 0, "forward"), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_rfftn", dims(np.fft.rfftn), call(t(2, 6)), call(t(2, 3, 4), None, [0, 2]), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_irfft", one_dim(np.fft.irfft), call(t(2, 6)), call(t(2, 5), 7), dtypes=SINGLE_AND_DOUBLE,
        result=real_of, tolerance=8, cuda=False),
    row("fft_fftshift", lambda x, dim=None: np.fft.fftshift(x, dim), call(t(2, 5)), call(t(3, 2), [0])),
    row("fft_ifftshift", lambda x, dim=None: np.fft.ifftshift(x, dim), call(t(2, 5)), call(t(3, 2), [0])),
    row("fft_fftfreq", lambda n, d=1.0, **_: np.fft.fftfreq(n, d), call(5), call(4, 0.5), dtypes=("float32",),
        result=always("float32"), differentiable=False),
    row("fft_rfftfreq", lambda n, d=1.0, **_: np.fft.rfftfreq(n, d), call(5), call(4, 0.5), dtypes=("float32",),
        result=always("float32"), differentiable=False),
    # Fourier transforms
    row("fft_fft2", transform(np.fft.fft2), call(t(2, 6)), call(t(2, 3, 4), [3, 2], [0, 2], "ortho"),
        dtypes=SINGLE_AND_DOUBLE, result=complex_of, tolerance=8, cuda=False),
    row("fft_ifft2", transform(np.fft.ifft2), call(t(2, 6)), dtypes=SINGLE_AND_DOUBLE, result=complex_of, tolerance=8,
        cuda=False),
    row("fft_rfft2", transform(np.fft.rfft2), call(t(2, 6)), call(t(2, 3, 4), None, [0, 1]), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_irfft2", transform(np.fft.irfft2), call(t(2, 6)), call(t(2, 5), [2, 7]), dtypes=SINGLE_AND_DOUBLE,
        tolerance=8, cuda=False),
    row("fft_ihfft2", transform(scipy.fft.ihfft2), call(t(2, 6)), dtypes=SINGLE_AND_DOUBLE, result=complex_of,
        tolerance=8, cuda=False),
    row("fft_ihfftn", transform(scipy.fft.ihfftn), call(t(2, 3, 4), None, [0, 1, 2]), call(t(2, 3), None, [1]),
        dtypes=SINGLE_AND_DOUBLE, result=complex_of, tolerance=8, cuda=False),
    row("stft.center", centred, call(t(2, 9), 4, hop_length=2, window=WINDOW, center=True, return_complex=True),
        call(t(9), 4, hop_length=3, window=WINDOW, center=True, pad_mode="constant", return_complex=True),
        dtypes=SINGLE_AND_DOUBLE, result=complex_of, tolerance=8, cuda=False),
)  # fmt: skip
