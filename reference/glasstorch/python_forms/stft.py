"""Which overload of the operator does `stft` call?

Mirrors: torch/functional.py (stft), torch/_tensor.py (Tensor.stft)
Differs: the operator pads the signal, which the function does there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The short-time Fourier transform of a signal: (batch, frequencies, frames), complex.

    A frame has `n_fft` elements and begins `hop_length` (by default a quarter of that) after the previous one; it is
    multiplied by `window`, which has `win_length` elements. With `center`, the signal is first padded at both ends.
    Of a real signal only non-negative frequencies are returned, unless `onesided` is false. `return_complex` must be
    given for a real signal; where it is false, the last dimension holds real and imaginary parts.

    >>> import glasstorch as torch
    >>> torch.stft(torch.ones(8), 4, window=torch.ones(4), return_complex=True).shape
    torch.Size([3, 9])
    """
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            stft,
            (input,),
            input,
            n_fft,
            hop_length=hop_length,
            win_length=win_length,
            window=window,
            center=center,
            pad_mode=pad_mode,
            normalized=normalized,
            onesided=onesided,
            return_complex=return_complex,
            align_to_window=align_to_window,
        )
    return functions.stft(
        input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex,
        align_to_window,
    )  # fmt: skip
