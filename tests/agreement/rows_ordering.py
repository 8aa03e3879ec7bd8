"""What do selections by rank, quantiles, histograms, buckets and further Fourier transforms compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from tests.agreement.samples import LONG, NUMBERS, SAME, Row, always, call, index, row, t

Array = np.ndarray[Any, Any]
SINGLE_AND_DOUBLE = ("float32", "float64")
INT = always("int32")
DISTINCT = t(2, 5, distinct=True)
ROTATED = t(5, 2, distinct=True, layout="transposed")
BOTH = (SAME, LONG)


def complex_of(dtypes: Any) -> Any:
    return dtypes[0].to_complex()


def picked(x: Array, places: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at one place in each row, and the places."""
    values = np.take_along_axis(x, np.expand_dims(places, dim), dim)
    return (values, np.expand_dims(places, dim)) if keepdim else (values.squeeze(dim), places)


def kthvalue(x: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    return picked(x, np.take(np.argsort(x, dim), k - 1, dim), dim, keepdim)


def median(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


def mode(x: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest, where all are different."""
    return picked(x, np.argmin(x, dim), dim, keepdim)


def topk(x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:
    places = np.take(np.argsort(-x if largest else x, dim), range(k), dim)
    return np.take_along_axis(x, places, dim), places


def quantile(x: Array, q: Any, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear") -> Array:
    return np.asarray(np.quantile(x, q, axis=dim, method=interpolation, keepdims=keepdim))  # type: ignore[call-overload]


def bucketize(x: Any, borders: Array, out_int32: bool = False, right: bool = False) -> Array:
    return np.asarray(np.searchsorted(borders, x, "right" if right else "left"))


def histogram(x: Array, bins: Any, weight: Any = None, density: bool = False, range: Any = None) -> tuple[Array, Array]:
    return np.histogram(x, bins, range, density, weight)


def transform(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, s=None, dim=(-2, -1), norm=None: function(x, s, tuple(dim), norm)


def centred(x: Array, n_fft: int, hop_length: int, window: Array, pad_mode: str = "reflect", **_: Any) -> Array:
    half = n_fft // 2
    signal = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], pad_mode)  # type: ignore[call-overload]
    pieces = np.lib.stride_tricks.sliding_window_view(signal, n_fft, -1)[..., ::hop_length, :]
    return np.swapaxes(np.fft.rfft(pieces * window), -1, -2)


SHARES = t(3, low=0, high=1, grad=False)
WINDOW = t(4, low=0.5, high=1)
QUANTILES = (
    call(DISTINCT, SHARES), call(DISTINCT, t(low=0, high=1, grad=False), 1), call(DISTINCT, SHARES, 0, True),
    call(ROTATED, SHARES, -1, interpolation="nearest"), call(DISTINCT, SHARES, 1, interpolation="midpoint"),
)  # fmt: skip
QUANTILES_OF_ONE = (
    call(DISTINCT, 0.3), call(DISTINCT, 0.5, 1, True), call(DISTINCT, 0.3, 1, interpolation="lower"),
    call(DISTINCT, 1.0, 0, interpolation="higher"),
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    # By rank
    row("topk", topk, call(DISTINCT, 2), call(ROTATED, 3, 0, False), call(DISTINCT, 0), call(t(1, distinct=True), 1, 0),
        dtypes=NUMBERS, result=BOTH),
    row("kthvalue", kthvalue, call(DISTINCT, 2), call(ROTATED, 5, 0, True), dtypes=NUMBERS, result=BOTH),
    row("median", lambda x: np.sort(x, None)[(x.size - 1) // 2], call(DISTINCT), call(t(5, distinct=True)), call(t()),
        dtypes=NUMBERS),
    row("nanmedian", lambda x: np.sort(x, None)[(x.size - 1) // 2], call(DISTINCT), call(t()), dtypes=NUMBERS),
    row("median.dim", median, call(DISTINCT, 1), call(ROTATED, 0, True), dtypes=NUMBERS, result=BOTH),
    row("nanmedian.dim", median, call(DISTINCT, 1), call(ROTATED, 0, True), dtypes=NUMBERS, result=BOTH),
    row("mode", mode, call(DISTINCT), call(ROTATED, 0, True), dtypes=NUMBERS, result=BOTH),
    row("msort", lambda x: np.sort(x, 0), call(DISTINCT), call(t(5, distinct=True)), dtypes=NUMBERS, cuda=False),
    row("quantile", quantile, *QUANTILES, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False, tolerance=4),
    row("nanquantile", quantile, *QUANTILES, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False, tolerance=4),
    row("quantile.scalar", quantile, *QUANTILES_OF_ONE, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False, tolerance=4),
    row("nanquantile.scalar", quantile, *QUANTILES_OF_ONE, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False,
        tolerance=4),
    # By bins
    row("bucketize.Tensor", bucketize, call(t(2, 3), t(3, low=1, high=1)),
        call(t(2, 3), t(3, low=1, high=1), right=True),
        call(t(2, 3), t(3, low=0, high=0), out_int32=True, result=INT), dtypes=NUMBERS, result=LONG,
        differentiable=False),
    row("bucketize.Scalar", bucketize, call(1, t(3, low=1, high=1)), call(1, t(3, low=1, high=1), right=True),
        dtypes=NUMBERS, result=LONG, differentiable=False),
    row("bincount", lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength), call(index(6, below=4)),
        call(index(6, below=4), None, 7), call(index(0, below=4)), dtypes=("int64",), result=LONG, differentiable=False,
        meta=False),
    row("histc", lambda x, bins, low, high: np.histogram(x, bins, (low, high))[0], call(t(20), 4, -2, 2),
        call(t(3, 4), 3, -1.5, 1), dtypes=SINGLE_AND_DOUBLE, differentiable=False),
    row("histogram.bin_ct", histogram, call(t(20), 4, range=[-2.0, 2.0]), call(t(3, 4), 5),
        call(t(6), 3, weight=t(6, low=0), range=[-1.0, 1.0], density=True), dtypes=SINGLE_AND_DOUBLE,
        differentiable=False, tolerance=4),
    row("histogram.bins_tensor", histogram, call(t(3, 4, low=0), t(3, low=1, high=1)), dtypes=SINGLE_AND_DOUBLE,
        differentiable=False),
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
