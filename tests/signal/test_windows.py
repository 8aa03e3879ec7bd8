"""Have the windows the shape of PyTorch's and of SciPy's, and are impossible ones refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.signal import windows as scipy_windows

from tests.refusals import same_refusal

Require = Callable[[str], Any]
# name -> our keywords, SciPy's name and arguments
WINDOWS: dict[str, tuple[dict[str, Any], str, tuple[Any, ...]]] = {
    "bartlett": ({}, "bartlett", ()),
    "blackman": ({}, "blackman", ()),
    "cosine": ({}, "cosine", ()),
    "exponential": ({"tau": 2.0}, "exponential", (None, 2.0)),
    "gaussian": ({"std": 1.5}, "gaussian", (1.5,)),
    "general_cosine": ({"a": [0.5, 0.3, 0.2]}, "general_cosine", ([0.5, 0.3, 0.2],)),
    "general_hamming": ({"alpha": 0.6}, "general_hamming", (0.6,)),
    "hamming": ({}, "hamming", ()),
    "hann": ({}, "hann", ()),
    "kaiser": ({"beta": 5.0}, "kaiser", (5.0,)),
    "nuttall": ({}, "nuttall", ()),
}


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 8])
@pytest.mark.parametrize("name", WINDOWS)
def test_it_is_scipys(torch: Any, name: str, length: int, sym: bool) -> None:
    ours, there, arguments = WINDOWS[name]
    found = getattr(torch.signal.windows, name)(length, sym=sym, dtype=torch.float64, **ours)
    wanted = getattr(scipy_windows, there)(length, *arguments, sym=sym)
    if name == "exponential" and length == 2 and not sym:
        wanted = np.exp(-np.abs(np.arange(2) - 1) / 2)  # about the middle of the period, which SciPy rounds
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6, atol=1e-9)


def test_the_dtype_is_the_default_one_or_that_asked_for(torch: Any) -> None:
    assert torch.signal.windows.hann(3).dtype is torch.float32
    assert torch.signal.windows.kaiser(3, dtype=torch.float64).dtype is torch.float64


def test_a_periodic_exponential_may_have_its_centre_anywhere(torch: Any) -> None:
    found = torch.signal.windows.exponential(4, center=0, sym=False, dtype=torch.float64)
    np.testing.assert_allclose(found.numpy(), np.exp(-np.arange(4.0)))


def test_it_can_require_a_gradient(torch: Any) -> None:
    assert torch.signal.windows.gaussian(3, requires_grad=True).requires_grad
    assert torch.signal.windows.bartlett(1, requires_grad=True).requires_grad


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a length below 0": lambda w: w.blackman(-1),
    "a dtype of integers": lambda w: w.hann(3, dtype=w.int64),
    "tau 0": lambda w: w.exponential(3, tau=0),
    "a deviation below 0": lambda w: w.gaussian(3, std=-1),
    "beta below 0": lambda w: w.kaiser(3, beta=-1.0),
    "no coefficients": lambda w: w.general_cosine(3, a=[]),
}


class Windows:
    """A library's windows, with its dtypes at hand."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self.library if name == "int64" else self.library.signal.windows, name)


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_refused_in_pytorchs_words(require: Require, case: str) -> None:
    same_refusal(require("torch"), lambda library: REFUSED[case](Windows(library)))


def test_a_symmetric_exponential_has_its_centre_in_the_middle(torch: Any) -> None:
    with pytest.raises(ValueError, match="Center must be None for symmetric windows"):
        torch.signal.windows.exponential(3, center=1.0)


def test_coefficients_are_a_list(torch: Any) -> None:
    with pytest.raises(TypeError, match="Coefficients must be a list/tuple"):
        torch.signal.windows.general_cosine(3, a=0.5)


def test_a_layout_that_no_tensor_has_is_refused(torch: Any) -> None:
    with pytest.raises(ValueError, match=r"strided tensors only, got: torch\.sparse_coo"):
        torch.signal.windows.hann(3, layout=torch.sparse_coo)


@pytest.mark.parametrize("name", WINDOWS)
def test_a_word_that_no_window_knows_is_refused_in_its_name(torch: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'width'"):
        getattr(torch.signal.windows, name)(3, **WINDOWS[name][0], width=2)


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_without_data_has_its_size(torch: Any, name: str) -> None:
    found = getattr(torch.signal.windows, name)(5, **WINDOWS[name][0], device="meta", dtype=torch.float64)
    assert (found.is_meta, tuple(found.shape), repr(found.dtype)) == (True, (5,), "torch.float64")
