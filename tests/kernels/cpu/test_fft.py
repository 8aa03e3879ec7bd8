"""Are Fourier transforms NumPy's, laid out and refused as PyTorch's, and differentiated?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft

import glasstorch
from glasstorch import fft
from glasstorch.autograd import gradcheck

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(9)
REAL_INPUT = ("rfft", "ihfft", "rfftn", "rfft2", "ihfftn", "ihfft2")
ONE_DIM = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
TWO = ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")


def values(name: str, *shape: int, dtype: str = "float64") -> np.ndarray[Any, Any]:
    real = RANDOM.normal(size=shape).astype(dtype)
    return real if name in REAL_INPUT else real + 1j * RANDOM.normal(size=shape).astype(dtype)


def same(ours: Any, wanted: np.ndarray[Any, Any], single: bool) -> None:
    assert ours.dtype.numpy == (wanted.astype("c8" if wanted.dtype.kind == "c" else "f4") if single else wanted).dtype
    tolerance = 1e-5 if single else 1e-12
    np.testing.assert_allclose(ours.resolve_conj().numpy(), wanted, tolerance, tolerance)


@pytest.mark.parametrize("name", ONE_DIM)
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "dim"), [(None, -1), (4, 0), (7, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_dimension(name: str, norm: Any, n: Any, dim: int, dtype: str) -> None:
    x = values(name, 5, 6, dtype=dtype)
    found = getattr(fft, name)(glasstorch.from_numpy(x), n, dim, norm)
    same(found, getattr(np.fft, name)(x, n, dim, norm), dtype == "float32")


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(("s", "dim"), [(None, None), ((4, 7), (0, 2)), ((3, 3), None), (None, (2, 0))])
def test_several_dimensions(name: str, norm: Any, s: Any, dim: Any) -> None:
    x = values(name, 5, 2, 6)
    found = getattr(fft, name)(glasstorch.from_numpy(x), s, dim, norm)
    axes = dim if dim is not None or s is None else tuple(range(-len(s), 0))
    same(found, getattr(scipy.fft, name)(x, s, axes, norm), False)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize(("s", "dim"), [(None, (-2, -1)), ((4, 7), (0, 2))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_dimensions(name: str, s: Any, dim: Any, dtype: str) -> None:
    x = values(name, 5, 2, 6, dtype=dtype)
    found = getattr(fft, name)(glasstorch.from_numpy(x), s, dim, "ortho")
    same(found, getattr(scipy.fft, name)(x, s, dim, "ortho"), dtype == "float32")


def test_what_is_written_to_may_lie_anywhere() -> None:
    x = values("rfft", 3, 4)
    out = glasstorch.empty(3, 3, 2, dtype=glasstorch.complex128)[..., 0]
    assert fft.rfft(glasstorch.from_numpy(x), out=out) is out
    same(out, np.fft.rfft(x), False)


def test_integers_become_floats() -> None:
    assert fft.fft(glasstorch.tensor([1, 2])).dtype is glasstorch.complex64
    assert fft.fftn(glasstorch.tensor(1.0)).item() == 1


def test_no_signals_have_no_transforms() -> None:
    assert fft.fft(glasstorch.ones(0, 3)).shape == (0, 3)
    assert fft.rfftn(glasstorch.ones(0, 6), dim=(1,)).shape == (0, 4)
    assert fft.irfft(glasstorch.ones(0, 3)).shape == (0, 4)


def test_frequencies_are_numpys() -> None:
    for n in (1, 4, 5):
        np.testing.assert_allclose(fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
        np.testing.assert_allclose(fft.rfftfreq(n, 0.5).numpy(), np.fft.rfftfreq(n, 0.5))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_without_points_or_distance_are_pytorchs(require: Callable[[str], Any], name: str) -> None:
    oracle = require("torch")
    for n, d in ((0, 0.5), (4, 0.0), (4, -0.0), (5, -2.0)):
        np.testing.assert_array_equal(getattr(fft, name)(n, d).numpy(), getattr(oracle.fft, name)(n, d).numpy())


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_frequencies_are_counted_in_the_dtype_of_out(torch: Any, name: str, dtype: str) -> None:
    out = torch.empty(6 if name == "fftfreq" else 4, dtype=getattr(torch, dtype))
    assert getattr(torch.fft, name)(6, 0.3, out=out) is out
    assert torch.equal(out, getattr(torch.fft, name)(6, 0.3, dtype=out.dtype))
    assert getattr(torch.fft, name)(6, out=torch.empty(0, device="meta")).shape == out.shape
    with pytest.raises(RuntimeError, match="requires a floating point or complex dtype"):
        getattr(torch.fft, name)(6, out=torch.empty(6, dtype=torch.int64))
    with pytest.warns(UserWarning, match="does not match the computed number of elements"):
        assert getattr(torch.fft, name)(6, out=torch.empty(7)).shape == out.shape


def test_frequencies_fill_an_out_with_gaps_or_rows() -> None:
    for out in (glasstorch.empty(12)[::2], glasstorch.empty(2, 3)):
        fft.fftfreq(6, out=out)
        assert glasstorch.equal(out.reshape(6), fft.fftfreq(6))


@pytest.mark.parametrize(
    "call",
    [
        lambda F, x, z: F.fft(x, dim=0), lambda F, x, z: F.ifft(x), lambda F, x, z: F.fft(z, dim=0),
        lambda F, x, z: F.irfft(z), lambda F, x, z: F.ihfft(x), lambda F, x, z: F.fftn(x),
        lambda F, x, z: F.fftn(x, s=(2,), dim=(0,)), lambda F, x, z: F.rfftn(x), lambda F, x, z: F.irfftn(z),
        lambda F, x, z: F.fftshift(x, dim=0), lambda F, x, z: F.ifftn(z.mT), lambda F, x, z: F.fft2(x.mT),
        lambda F, x, z: F.hfftn(z), lambda F, x, z: F.ihfftn(x), lambda F, x, z: F.ihfftn(x, dim=(0,)),
        lambda F, x, z: F.hfft2(z, dim=(1, 0)), lambda F, x, z: F.fft2(z.reshape(2, 4, 3), dim=(0, 2)),
        lambda F, x, z: F.rfft2(x.reshape(2, 4, 3), dim=(1, 0)), lambda F, x, z: F.irfft2(z.reshape(2, 4, 3)),
    ],
)  # fmt: skip
def test_sizes_strides_dtypes_and_bits_are_pytorchs(require: Require, call: Callable[..., Any]) -> None:
    torch = require("torch")
    x, z = values("rfft", 4, 6, dtype="float32"), values("fft", 4, 6, dtype="float32")
    ours, theirs = (call(lib.fft, lib.from_numpy(x), lib.from_numpy(z)) for lib in (glasstorch, torch))
    assert (tuple(ours.shape), ours.stride(), repr(ours.dtype), ours.is_conj()) == (
        tuple(theirs.shape), theirs.stride(), repr(theirs.dtype), theirs.is_conj(),
    )  # fmt: skip


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.fft.fft(t.ones(4).half()), lambda t: t.fft.fft(t.ones(4), n=0),
        lambda t: t.fft.fft(t.ones(4), norm="x"), lambda t: t.fft.fft(t.ones(4), dim=3),
        lambda t: t.fft.fft(t.tensor(1.0)), lambda t: t.fft.rfft(t.ones(4) + 0j), lambda t: t.fft.ihfft(t.ones(4) + 0j),
        lambda t: t.fft.irfft(t.ones(1)), lambda t: t.fft.irfft(t.ones(4), n=0), lambda t: t.fft.rfftn(t.ones(4) + 0j),
        lambda t: t.fft.fftn(t.ones(4), s=(2, 3)), lambda t: t.fft.fftn(t.ones(4, 4), dim=(0, 0)),
        lambda t: t.fft.fftn(t.ones(4, 4), s=(2, 2), dim=(0,)), lambda t: t.fft.rfftn(t.ones(4), dim=()),
        lambda t: t.fft.fftfreq(4, dtype=t.int64), lambda t: t.fft.hfftn(t.ones(4), dim=()),
        lambda t: t.fft.ihfftn(t.ones(4), dim=()), lambda t: t.fft.ihfftn(t.ones(4) + 0j),
        lambda t: t.fft.hfft2(t.ones(4, 4), dim=(1, 1)), lambda t: t.fft.fft2(t.ones(4)),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    torch = require("torch")
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(Exception) as ours:
        call(glasstorch)
    assert isinstance(ours.value, type(theirs.value))
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("name", [*ONE_DIM, *MANY, *TWO])
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    x = glasstorch.from_numpy(values(name, 2, 4)).requires_grad_()
    assert gradcheck(getattr(fft, name), [x])


@pytest.mark.parametrize("n", [4, 5])
def test_half_a_spectrum_has_the_gradients_of_both_halves(n: int) -> None:
    x = glasstorch.from_numpy(values("irfft", 2, 3)).requires_grad_()
    assert gradcheck(lambda x: fft.irfft(x, n, 0), [x])
    y = glasstorch.from_numpy(values("rfft", n, 2)).requires_grad_()
    assert gradcheck(lambda y: fft.rfft(y, dim=0), [y])


def zeros_and_signs(torch: Any) -> list[Any]:
    """Spectra of real signals, whose imaginary zeros have signs."""
    fft, signals = torch.fft, [torch.arange(4), torch.arange(5.0), torch.ones(1), torch.zeros(4), torch.eye(4)[0]]
    return [
        *(transform(signal) for transform in (fft.fft, fft.ifft, fft.rfft, fft.ihfft) for signal in signals),
        fft.fft2(torch.ones(2, 4)),
        fft.ifft2(torch.ones(3, 4)),
    ]


def test_the_zeros_of_a_spectrum_have_pytorchs_signs(require: Require) -> None:
    for ours, theirs in zip(zeros_and_signs(glasstorch), zeros_and_signs(require("torch")), strict=True):
        ours, theirs = np.array(ours.tolist()), np.array(theirs.tolist())
        assert np.allclose(ours, theirs, atol=1e-6)
        for part in ("real", "imag"):
            a, b = getattr(ours, part), getattr(theirs, part)
            zeros = (a == 0) & (b == 0)
            assert np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros])), (theirs, part)
