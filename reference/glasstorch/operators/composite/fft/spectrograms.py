"""How is a signal split into frames that are transformed separately, and reconstructed from them?

Mirrors: aten/src/ATen/native/SpectralOps.cpp (stft, istft)
Differs: an error names the arguments in question instead of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.composite.fft.signal_borders import continued
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.fft import BY_POINTS, BY_ROOT, NONE

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

RECTANGLE = "A window was not provided. A rectangular window will be applied,"


# From a signal to frames ----------------------------------------------------------------------------------------


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Tensor:
    """The transforms of the frames, as (batch, frequencies, frames)."""
    return stft_center(
        self, n_fft, hop_length, win_length, window, False, "constant", normalized, onesided, return_complex,
        align_to_window,
    )  # fmt: skip


def stft_center(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    pad_mode: str,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Tensor:
    """As `stft`; with `center`, frame t is centred at `t * hop_length`."""
    if window is None:
        warn_once(
            f"{RECTANGLE}which is known to cause spectral leakage. Other windows such as torch.hann_window or "
            f"torch.hamming_window are recommended to reduce spectral leakage.To suppress this warning and use a "
            f"rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
        )
    if center and align_to_window is not None:
        raise ArgumentError("stft align_to_window should only be set when center = false.")
    hop = n_fft >> 2 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if not _gives_complex(self, window, return_complex):
        if return_complex is None:
            raise ArgumentError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )
    if self.dtype.category < FLOATING:
        _refuse("stft", self, f"expected a tensor of floating point or complex values, got {self.dtype}")
    if self.dim() not in (1, 2):
        _refuse("stft", self, "expected a 1D or 2D tensor")
    signal = self.unsqueeze(0) if self.dim() == 1 else self
    if center:
        signal = continued(signal, n_fft // 2, n_fft // 2, pad_mode)
    _check_pieces(self, signal._shape[1], n_fft, hop, width, window)
    if align_to_window and width < n_fft:
        left = (n_fft - width) // 2
        signal = continued(signal, left, n_fft - width - left, "constant")
    pieces = signal.unfold(1, n_fft, hop)
    if window is not None or width < n_fft:
        pieces = pieces * _window_of(pieces, window, width, n_fft)
    spectrum = _transformed(pieces, normalized, onesided).transpose(1, 2)
    if self.dim() == 1:
        spectrum = spectrum.squeeze(0)
    return spectrum if _gives_complex(self, window, return_complex) else functions.view_as_real(spectrum)


def _gives_complex(self: Tensor, window: Tensor | None, return_complex: bool | None) -> bool:
    if return_complex is not None:
        return return_complex
    return self.dtype.is_complex or (window is not None and window.dtype.is_complex)


def _transformed(pieces: Tensor, normalized: bool, onesided: bool | None) -> Tensor:
    """The spectra along the last dimension."""
    norm = BY_ROOT if normalized else NONE
    if not pieces.dtype.is_complex:
        half = onesided is None or onesided
        return functions._fft_r2c(pieces, [pieces.dim() - 1], norm, half)
    if onesided:
        raise ArgumentError("Cannot have onesided output if window or input is complex")
    return functions._fft_c2c(pieces, [pieces.dim() - 1], norm, True)


def _window_of(like: Tensor, window: Tensor | None, width: int, n_fft: int) -> Tensor:
    """The window, ones by default, padded with zeros on both sides to the number of points."""
    given = functions.ones([width], dtype=like.dtype, device=like.device) if window is None else window
    left = (n_fft - width) // 2
    return given if width == n_fft else functions.constant_pad_nd(given, [left, n_fft - width - left], 0)


def _check_pieces(self: Tensor, length: int, n_fft: int, hop: int, width: int, window: Tensor | None) -> None:
    if not 0 < n_fft <= length:
        _refuse("stft", self, f"expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop <= 0:
        _refuse("stft", self, f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        _refuse("stft", self, f"expected 0 < win_length <= n_fft, but got win_length={width} and n_fft={n_fft}")
    if window is not None and window._shape != (width,):
        _refuse(
            "stft",
            self,
            f"expected a 1D window tensor of size equal to win_length={width}, but got window with size "
            f"{list(window._shape)}",
        )


def _refuse(name: str, self: Tensor, why: str) -> NoReturn:
    raise ShapeError(f"{name}(torch.{self.dtype.scalar_name}Tensor{list(self._shape)}) : {why}")


# From frames to a signal ----------------------------------------------------------------------------------------


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Tensor:
    """The overlapping frames added up, divided by the sum of the squared windows."""
    if window is None:
        warn_once(
            f"{RECTANGLE}Please provide the same window used by stft to make the inversion lossless.To suppress this "
            f"warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
        )
    hop = n_fft >> 2 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    half = _check_spectrum(self, n_fft, hop, width, window, onesided)
    spectrum = (self.unsqueeze(0) if self.dim() == 2 else self).transpose(1, 2)
    pieces = _pieces(spectrum, n_fft, normalized, half, return_complex, window)
    shape_of_window = _window_of(pieces.real if window is None else window, window, width, n_fft)
    count = pieces._shape[1]
    total = n_fft + hop * (count - 1)
    signal = _added_up(pieces * shape_of_window, total, hop)
    envelope = _added_up(shape_of_window.pow(2).expand([1, count, n_fft]), total, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    signal, envelope = (one.slice(1, start, end) for one in (signal, envelope))
    if bool(envelope.abs().min() < 1e-11):
        _refuse("istft", self, "window overlap add min: 1")
    signal = signal / envelope
    if self.dim() == 2:
        signal = signal.squeeze(0)
    if end > total:
        warn_once(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings."
        )
        signal = functions.constant_pad_nd(signal, [0, end - total], 0)
    return signal


def _check_spectrum(
    self: Tensor, n_fft: int, hop: int, width: int, window: Tensor | None, onesided: bool | None
) -> bool:
    """Refuse what no `stft` returns; returns whether the spectrum is one-sided."""
    if not self.dtype.is_complex:
        raise DtypeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if not self.numel():
        _refuse("istft", self, "input tensor cannot be empty.")
    if self.dim() not in (2, 3):
        _refuse("istft", self, f"expected a tensor with 3 or 4 dimensions, but got {self.dim() + 1}")
    points = self._shape[-2]
    half = points != n_fft if onesided is None else onesided
    expected, words = (n_fft // 2 + 1, "n_fft / 2 + 1") if half else (n_fft, "n_fft")
    if points != expected:
        _refuse(
            "istft",
            self,
            f"expected the frequency dimension (3rd to the last) of the input tensor to match {words} when "
            f"onesided={half}, but got {points}",
        )
    if not 0 < hop <= width:
        _refuse("istft", self, "expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        _refuse("istft", self, "expected 0 < win_length <= n_fft")
    if window is not None and window._shape != (width,):
        _refuse("istft", self, "Invalid window shape. window has to be 1D and length of `win_length`")
    return half


def _pieces(
    spectrum: Tensor, n_fft: int, normalized: bool, half: bool, return_complex: bool, window: Tensor | None
) -> Tensor:
    """The inverse transforms along the last dimension."""
    norm = BY_ROOT if normalized else BY_POINTS
    last = [spectrum.dim() - 1]
    if return_complex:
        if half:
            raise ArgumentError("Cannot have onesided output if window or input is complex")
        return functions._fft_c2c(spectrum, last, norm, False)
    if window is not None and window.dtype.is_complex:
        raise ArgumentError("Complex windows are incompatible with return_complex=False")
    if not half:
        spectrum = spectrum.slice(-1, 0, n_fft // 2 + 1)
    return functions._fft_c2r(spectrum, last, norm, n_fft)


def _added_up(pieces: Tensor, total: int, hop: int) -> Tensor:
    """Frames (batch, count, points) overlapped and added to signals (batch, total)."""
    batch, count, points = pieces._shape
    starts = functions.arange(0, count * hop, hop, device=pieces.device).unsqueeze(1)
    positions = (starts + functions.arange(points, device=pieces.device)).reshape([-1])
    empty = pieces.new_zeros([batch, total])
    return empty.index_add(1, positions, pieces.reshape([batch, count * points]))
