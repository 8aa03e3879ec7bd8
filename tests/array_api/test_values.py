"""Does every function of the namespace compute what array-api-strict computes?

A call is written once and made in both namespaces, with arrays made of the same numbers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest

import glasstorch
import glasstorch.array_api

RANDOM = np.random.default_rng(12)
REAL = RANDOM.uniform(-2, 2, (3, 4))
OTHER = RANDOM.uniform(-2, 2, (3, 4))
INSIDE = RANDOM.uniform(-0.9, 0.9, (3, 4))
POSITIVE = RANDOM.uniform(1.1, 3, (3, 4))
COMPLEX = REAL + 1j * OTHER
WHOLE = RANDOM.integers(-4, 5, (3, 4))
SMALL = RANDOM.integers(1, 4, (3, 4))
TRUTH = WHOLE > 0
TRUTHS = SMALL > 1
SQUARE = RANDOM.normal(size=(2, 3, 3))
DEFINITE = SQUARE @ np.swapaxes(SQUARE, -1, -2) + np.eye(3)
VECTOR = RANDOM.normal(size=5)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, 2.5, -0.5])
REPEATED = np.array([[3, 1, 3], [2, 1, 1]])

Space = Any  # either namespace
CALLS: list[Callable[[Space, Callable[[Any], Any]], Any]] = [
    # Creation
    lambda xp, a: xp.arange(5), lambda xp, a: xp.arange(2, 7, 2), lambda xp, a: xp.arange(3, 1),
    lambda xp, a: xp.arange(0, 1, 0.25, dtype=xp.float64), lambda xp, a: xp.asarray([1, 2]),
    lambda xp, a: xp.asarray([1.0], dtype=xp.float32), lambda xp, a: xp.asarray(True),
    lambda xp, a: xp.empty((2, 0), dtype=xp.int8),
    lambda xp, a: xp.empty_like(a(np.empty((0, 3)))), lambda xp, a: xp.eye(3, dtype=xp.float64),
    lambda xp, a: xp.eye(2, 4, k=1, dtype=xp.int32), lambda xp, a: xp.eye(3, k=-5, dtype=xp.int32),
    lambda xp, a: xp.from_dlpack(a(REAL)), lambda xp, a: xp.full((2, 3), 7), lambda xp, a: xp.full(2, True),
    lambda xp, a: xp.full_like(a(REAL), 3), lambda xp, a: xp.linspace(0, 1, 5, dtype=xp.float64),
    lambda xp, a: xp.linspace(0, 1, 4, endpoint=False, dtype=xp.float64), lambda xp, a: xp.ones((2, 3), dtype=xp.int8),
    lambda xp, a: xp.ones_like(a(WHOLE)), lambda xp, a: xp.zeros(3, dtype=xp.uint8),
    lambda xp, a: xp.zeros_like(a(TRUTH)), lambda xp, a: xp.tril(a(REAL), k=1), lambda xp, a: xp.triu(a(REAL)),
    lambda xp, a: xp.meshgrid(a(VECTOR), a(VECTOR)), lambda xp, a: xp.meshgrid(a(VECTOR), a(VECTOR), indexing="ij"),
    # Dtypes
    lambda xp, a: xp.astype(a(REAL), xp.int64), lambda xp, a: xp.astype(a(WHOLE), xp.complex64, copy=False),
    # Element by element
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL)) for f in (
        "abs", "asinh", "atan", "ceil", "cos", "cosh", "exp", "expm1", "floor", "isfinite", "isinf", "isnan",
        "negative", "positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "square", "tan", "tanh",
        "trunc")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(SPECIAL)) for f in (
        "abs", "ceil", "exp", "floor", "isfinite", "isinf", "isnan", "round", "signbit", "square", "trunc")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(INSIDE)) for f in ("acos", "asin", "atanh")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(POSITIVE)) for f in ("acosh", "log", "log10", "log1p", "log2", "sqrt")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(COMPLEX)) for f in (
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "conj", "cos", "cosh", "exp", "expm1", "imag",
        "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative", "positive", "real", "reciprocal",
        "round", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(WHOLE)) for f in (
        "abs", "bitwise_invert", "ceil", "floor", "isfinite", "negative", "round", "sign", "square", "trunc")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL), a(OTHER)) for f in (
        "add", "atan2", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less",
        "less_equal", "logaddexp", "maximum", "minimum", "multiply", "nextafter", "not_equal", "remainder",
        "subtract")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL), 2.0) for f in (
        "add", "atan2", "copysign", "hypot", "logaddexp", "maximum", "nextafter", "subtract", "equal", "remainder")),
    *(lambda xp, a, f=f: getattr(xp, f)(2.0, a(POSITIVE)) for f in ("atan2", "divide", "less", "pow", "subtract")),
    lambda xp, a: xp.pow(a(POSITIVE), a(REAL)), lambda xp, a: xp.pow(a(COMPLEX), 2),
    *(lambda xp, a, f=f: getattr(xp, f)(a(WHOLE), a(SMALL)) for f in (
        "add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "equal",
        "floor_divide", "less", "maximum", "multiply", "pow", "remainder", "subtract")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(COMPLEX), a(COMPLEX * 2)) for f in (
        "add", "divide", "equal", "multiply", "not_equal", "subtract")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(TRUTH), a(TRUTHS)) for f in (
        "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor")),
    lambda xp, a: xp.logical_not(a(TRUTH)), lambda xp, a: xp.add(a(REAL), a(np.float32(OTHER))),
    lambda xp, a: xp.add(a(np.float32(REAL)), a(np.float64(1.5))), lambda xp, a: xp.multiply(a(np.int8(WHOLE)), 2),
    lambda xp, a: xp.clip(a(REAL)), lambda xp, a: xp.clip(a(REAL), -1, 1), lambda xp, a: xp.clip(a(REAL), max=0.5),
    lambda xp, a: xp.clip(a(REAL), a(-POSITIVE), a(INSIDE)),
    lambda xp, a: xp.sign(a(SPECIAL)),
    # Over dimensions
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL)) for f in ("max", "mean", "min", "prod", "std", "sum", "var")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL), axis=(0, 1), keepdims=True) for f in (
        "max", "mean", "min", "prod", "std", "sum", "var")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL), axis=-1) for f in ("max", "mean", "min", "prod", "std", "sum", "var")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(REAL), axis=()) for f in ("max", "mean", "min", "prod", "std", "sum", "var")),
    *(lambda xp, a, f=f: getattr(xp, f)(a(np.int32(WHOLE)), axis=0) for f in ("max", "min", "prod", "sum")),
    lambda xp, a: xp.sum(a(REAL), dtype=xp.float32), lambda xp, a: xp.prod(a(SMALL), axis=0, dtype=xp.int32),
    lambda xp, a: xp.sum(a(TRUTH.astype(np.int8))), lambda xp, a: xp.sum(a(COMPLEX), axis=1),
    lambda xp, a: xp.var(a(REAL), axis=0, correction=1), lambda xp, a: xp.std(a(REAL), correction=0.5),
    lambda xp, a: xp.all(a(TRUTH)), lambda xp, a: xp.any(a(TRUTH), axis=0), lambda xp, a: xp.all(a(SPECIAL)),
    lambda xp, a: xp.any(a(WHOLE), axis=(0, 1), keepdims=True), lambda xp, a: xp.all(a(np.empty((0, 2))), axis=0),
    lambda xp, a: xp.cumulative_sum(a(VECTOR)), lambda xp, a: xp.cumulative_sum(a(np.int8(WHOLE)), axis=1),
    lambda xp, a: xp.cumulative_sum(a(REAL), axis=0, include_initial=True),
    lambda xp, a: xp.cumulative_prod(a(REAL), axis=-1, include_initial=True),
    lambda xp, a: xp.cumulative_prod(a(VECTOR), dtype=xp.float32), lambda xp, a: xp.diff(a(REAL)),
    lambda xp, a: xp.diff(a(REAL), axis=0, n=2), lambda xp, a: xp.diff(a(REAL), prepend=a(OTHER), append=a(INSIDE)),
    # Searching, sorting, picking
    lambda xp, a: xp.argmax(a(REAL)), lambda xp, a: xp.argmax(a(WHOLE), axis=1),
    lambda xp, a: xp.argmin(a(REAL), axis=0, keepdims=True), lambda xp, a: xp.argmin(a(SMALL)),
    lambda xp, a: xp.argsort(a(WHOLE)), lambda xp, a: xp.argsort(a(WHOLE), axis=0, descending=True),
    lambda xp, a: xp.sort(a(REAL), axis=0), lambda xp, a: xp.sort(a(WHOLE), descending=True),
    lambda xp, a: xp.count_nonzero(a(WHOLE)), lambda xp, a: xp.count_nonzero(a(WHOLE), axis=1, keepdims=True),
    lambda xp, a: xp.count_nonzero(a(TRUTH), axis=(0, 1)), lambda xp, a: xp.count_nonzero(a(COMPLEX), axis=0),
    lambda xp, a: xp.nonzero(a(WHOLE)), lambda xp, a: xp.searchsorted(a(np.sort(VECTOR)), a(VECTOR)),
    lambda xp, a: xp.searchsorted(a(np.array([1, 2, 2, 3])), a(np.array([2, 4])), side="right"),
    lambda xp, a: xp.searchsorted(a(VECTOR), a(REAL[0]), sorter=a(np.argsort(VECTOR))),
    lambda xp, a: xp.take(a(REAL), a(np.array([2, 0])), axis=1), lambda xp, a: xp.take(a(VECTOR), a(np.array([-1, 0]))),
    lambda xp, a: xp.take_along_axis(a(REAL), a(np.argsort(REAL))),
    lambda xp, a: xp.take_along_axis(a(REAL), a(np.array([[0], [-1], [1]])), axis=1),
    lambda xp, a: xp.where(a(TRUTH), a(REAL), a(OTHER)), lambda xp, a: xp.where(a(TRUTH), a(WHOLE), 0),
    lambda xp, a: xp.where(a(TRUTH), 1.0, a(np.float32(REAL))),
    # Empty matrices
    lambda xp, a: xp.linalg.solve(a(np.empty((0, 0))), a(np.empty((0, 2)))),
    lambda xp, a: xp.linalg.solve(a(np.empty((2, 0, 0))), a(np.empty((2, 0, 3)))),
    # Sets
    lambda xp, a: xp.unique_all(a(REPEATED)), lambda xp, a: xp.unique_counts(a(REPEATED)),
    lambda xp, a: xp.unique_inverse(a(REPEATED)), lambda xp, a: xp.unique_values(a(REPEATED)),
    lambda xp, a: xp.unique_all(a(np.array([np.nan, 1.0, np.nan]))), lambda xp, a: xp.unique_values(a(TRUTH)),
    lambda xp, a: xp.unique_counts(a(np.array([1j, 1, 1j]))),
    # Shapes
    lambda xp, a: xp.broadcast_arrays(a(REAL), a(VECTOR[:4])), lambda xp, a: xp.broadcast_to(a(VECTOR), (2, 5)),
    lambda xp, a: xp.concat([a(REAL), a(OTHER)], axis=1), lambda xp, a: xp.concat((a(REAL), a(VECTOR)), axis=None),
    lambda xp, a: xp.concat([a(np.float32(REAL)), a(OTHER)]), lambda xp, a: xp.expand_dims(a(REAL), 1),
    lambda xp, a: xp.expand_dims(a(REAL), -1), lambda xp, a: xp.flip(a(REAL)), lambda xp, a: xp.flip(a(REAL), axis=1),
    lambda xp, a: xp.moveaxis(a(SQUARE), 0, -1), lambda xp, a: xp.moveaxis(a(SQUARE), (0, 1), (1, 2)),
    lambda xp, a: xp.permute_dims(a(SQUARE), (2, 0, 1)), lambda xp, a: xp.repeat(a(REAL), 2),
    lambda xp, a: xp.repeat(a(REAL), a(np.array([1, 0, 2])), axis=0), lambda xp, a: xp.reshape(a(REAL), (4, 3)),
    lambda xp, a: xp.reshape(a(REAL), (-1,), copy=True), lambda xp, a: xp.reshape(a(REAL), (2, 6), copy=False),
    lambda xp, a: xp.roll(a(REAL), 5), lambda xp, a: xp.roll(a(REAL), (1, -1), axis=(0, 1)),
    lambda xp, a: xp.roll(a(REAL), 1, axis=1), lambda xp, a: xp.squeeze(a(REAL[None]), 0),
    lambda xp, a: xp.stack([a(REAL), a(OTHER)], axis=-1), lambda xp, a: xp.tile(a(REAL), (2, 1)),
    lambda xp, a: xp.tile(a(VECTOR), (2, 2)), lambda xp, a: xp.unstack(a(REAL)),
    lambda xp, a: xp.unstack(a(REAL), axis=1),
    # Products
    lambda xp, a: xp.matmul(a(REAL), a(OTHER.T)), lambda xp, a: xp.matmul(a(SQUARE), a(SQUARE[0, 0])),
    lambda xp, a: xp.matrix_transpose(a(SQUARE)), lambda xp, a: xp.tensordot(a(REAL), a(OTHER)),
    lambda xp, a: xp.tensordot(a(REAL), a(OTHER), axes=((0,), (0,))),
    lambda xp, a: xp.tensordot(a(VECTOR), a(VECTOR), axes=0), lambda xp, a: xp.vecdot(a(REAL), a(OTHER)),
    lambda xp, a: xp.vecdot(a(COMPLEX), a(COMPLEX), axis=-2), lambda xp, a: xp.matmul(a(WHOLE), a(WHOLE.T)),
    # linalg
    lambda xp, a: xp.linalg.cholesky(a(DEFINITE)), lambda xp, a: xp.linalg.cholesky(a(DEFINITE), upper=True),
    lambda xp, a: xp.linalg.cross(a(SQUARE), a(SQUARE[:1])), lambda xp, a: xp.linalg.det(a(SQUARE)),
    lambda xp, a: xp.linalg.cross(a(SQUARE[0]), a(DEFINITE[0]), axis=-2),
    lambda xp, a: xp.linalg.diagonal(a(SQUARE), offset=1), lambda xp, a: xp.linalg.eigh(a(DEFINITE)).eigenvalues,
    lambda xp, a: xp.linalg.eigvalsh(a(DEFINITE)), lambda xp, a: xp.linalg.inv(a(SQUARE)),
    lambda xp, a: xp.linalg.matmul(a(SQUARE), a(DEFINITE)), lambda xp, a: xp.linalg.matrix_norm(a(SQUARE)),
    lambda xp, a: xp.linalg.matrix_norm(a(SQUARE), ord="nuc", keepdims=True),
    lambda xp, a: xp.linalg.matrix_norm(a(SQUARE), ord=-2), lambda xp, a: xp.linalg.matrix_power(a(SQUARE), -2),
    lambda xp, a: xp.linalg.matrix_rank(a(DEFINITE)), lambda xp, a: xp.linalg.matrix_rank(a(DEFINITE), rtol=0.9),
    lambda xp, a: xp.linalg.matrix_transpose(a(SQUARE)), lambda xp, a: xp.linalg.outer(a(VECTOR), a(VECTOR[:2])),
    lambda xp, a: xp.linalg.pinv(a(REAL)), lambda xp, a: xp.linalg.pinv(a(REAL), rtol=0.5),
    lambda xp, a: [abs(part) for part in xp.linalg.qr(a(REAL))],
    lambda xp, a: abs(xp.linalg.qr(a(REAL), mode="complete").R), lambda xp, a: xp.linalg.slogdet(a(SQUARE)),
    lambda xp, a: xp.linalg.solve(a(SQUARE), a(VECTOR[:3])), lambda xp, a: xp.linalg.solve(a(SQUARE), a(SQUARE[:1])),
    lambda xp, a: xp.linalg.svd(a(REAL)).S, lambda xp, a: xp.linalg.svd(a(REAL), full_matrices=False).S,
    lambda xp, a: xp.linalg.svdvals(a(SQUARE)), lambda xp, a: xp.linalg.tensordot(a(REAL), a(OTHER)),
    lambda xp, a: xp.linalg.trace(a(SQUARE)), lambda xp, a: xp.linalg.trace(a(WHOLE), offset=1),
    lambda xp, a: xp.linalg.trace(a(SQUARE), dtype=xp.float32), lambda xp, a: xp.linalg.vecdot(a(REAL), a(OTHER)),
    lambda xp, a: xp.linalg.vector_norm(a(REAL)), lambda xp, a: xp.linalg.vector_norm(a(REAL), axis=1, ord=1),
    lambda xp, a: xp.linalg.vector_norm(a(COMPLEX), axis=(0, 1), keepdims=True, ord=3),
    lambda xp, a: xp.linalg.vector_norm(a(REAL), axis=0, ord=xp.inf),
    # fft
    *(lambda xp, a, f=f: getattr(xp.fft, f)(a(COMPLEX), n=5, axis=0, norm="ortho") for f in ("fft", "ifft", "hfft")),
    *(lambda xp, a, f=f: getattr(xp.fft, f)(a(COMPLEX)) for f in ("fft", "fftn", "hfft", "ifft", "ifftn", "irfft")),
    *(lambda xp, a, f=f: getattr(xp.fft, f)(a(REAL)) for f in ("ihfft", "rfft", "rfftn")),
    lambda xp, a: xp.fft.fftn(a(COMPLEX), s=(2, 5), axes=(0, 1)), lambda xp, a: xp.fft.irfftn(a(COMPLEX), axes=(0,)),
    lambda xp, a: xp.fft.irfftn(a(COMPLEX)), lambda xp, a: xp.fft.rfftn(a(REAL), axes=(0,), norm="forward"),
    lambda xp, a: xp.fft.fftfreq(5, d=0.5, dtype=xp.float64), lambda xp, a: xp.fft.rfftfreq(4, dtype=xp.float32),
    lambda xp, a: xp.fft.fftshift(a(REAL)), lambda xp, a: xp.fft.fftshift(a(REAL), axes=1),
    lambda xp, a: xp.fft.ifftshift(a(VECTOR)), lambda xp, a: xp.fft.ifftshift(a(REAL), axes=(0,)),
]  # fmt: skip


def strict(value: Any) -> Any:
    return array_api_strict.asarray(np.asarray(value))


def ours(value: Any) -> Any:
    return glasstorch.array_api.asarray(np.asarray(value).copy())


def arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    """What a call gives, as NumPy's arrays."""
    if isinstance(value, tuple | list):
        return [array for part in value for array in arrays(part)]
    return [value.resolve_conj().numpy() if isinstance(value, glasstorch.Tensor) else np.asarray(value._array)]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_call_gives_the_same_arrays(number: int) -> None:
    call = CALLS[number]
    found, wanted = arrays(call(glasstorch.array_api, ours)), arrays(call(array_api_strict, strict))
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        tolerance = 1e-5 if mine.dtype in (np.float32, np.complex64) else 1e-11
        np.testing.assert_allclose(mine, theirs, tolerance, tolerance)


def test_every_function_is_called() -> None:
    """But those of dtypes, which stand below, and what is tested in test_signatures.py."""
    text = Path(__file__).read_text(encoding="utf-8")
    elsewhere = {"can_cast", "finfo", "iinfo", "isdtype", "result_type", "broadcast_shapes", "isin"}
    names = [name for name in array_api_strict.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(array_api_strict, name))]
    words = set(re.findall(r"\w+", text))
    assert {name for name in functions if name in dir(glasstorch.array_api)} - words == set()
    assert elsewhere <= words


# Questions about dtypes, which answer with no array -------------------------------------------------------------------

NAMES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
]
KINDS = [
    *("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_is_of_the_kinds_that_the_standard_says(name: str) -> None:
    for kind in (*KINDS, ("bool", "integral")):
        found = glasstorch.array_api.isdtype(getattr(glasstorch.array_api, name), kind)
        assert found == array_api_strict.isdtype(getattr(array_api_strict, name), kind)
    assert glasstorch.array_api.isdtype(glasstorch.float32, glasstorch.float32)
    with pytest.raises(ValueError, match="unknown kind 'odd'"):
        glasstorch.array_api.isdtype(glasstorch.float32, "odd")


@pytest.mark.parametrize("name", [name for name in NAMES if "int" in name])
def test_the_limits_of_integers_are_the_same(name: str) -> None:
    found = glasstorch.array_api.iinfo(getattr(glasstorch, name))
    wanted = array_api_strict.iinfo(getattr(array_api_strict, name))
    assert (found.bits, found.min, found.max) == (wanted.bits, wanted.min, wanted.max)
    assert found.dtype is getattr(glasstorch, name)


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_the_limits_of_floats_are_the_same(name: str) -> None:
    found = glasstorch.array_api.finfo(glasstorch.empty(1, dtype=getattr(glasstorch, name)))
    wanted = array_api_strict.finfo(getattr(array_api_strict, name))
    assert (found.bits, found.eps, found.min, found.max, found.smallest_normal) == (
        wanted.bits, wanted.eps, wanted.min, wanted.max, wanted.smallest_normal,
    )  # fmt: skip
    assert found.dtype is getattr(glasstorch, name).to_real()


PROMOTED = ["bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("first", PROMOTED)
@pytest.mark.parametrize("second", PROMOTED)
def test_two_dtypes_that_the_standard_promotes_promote_as_it_says(first: str, second: str) -> None:
    pair, strict_pair = ([getattr(space, name) for name in (first, second)] for space in (glasstorch, array_api_strict))
    try:
        wanted = array_api_strict.result_type(*strict_pair)
    except TypeError:
        return
    assert glasstorch.array_api.result_type(*pair).name == str(wanted).rpartition(".")[2]
    assert glasstorch.array_api.can_cast(*pair) == array_api_strict.can_cast(*strict_pair)


def test_a_number_counts_in_promotion_only_if_its_kind_is_higher() -> None:
    xp = glasstorch.array_api
    assert xp.result_type(xp.float32, 1.5) is xp.float32
    assert xp.result_type(xp.asarray([1], dtype=xp.int8), 300) is xp.int8
    assert xp.result_type(xp.float64, 1j) is xp.complex128
    assert xp.result_type(xp.asarray(1.0, dtype=xp.float64), xp.asarray([1.0], dtype=xp.float32)) is xp.float64
    with pytest.raises(ValueError, match="at least one array or dtype"):
        xp.result_type(1, 2)


def test_membership_and_common_shapes() -> None:
    xp = glasstorch.array_api
    assert xp.isin(xp.asarray([[1, 2], [3, 4]]), xp.asarray([2, 3])).tolist() == [[False, True], [True, False]]
    assert xp.isin(xp.asarray([1, 2]), 2, invert=True).tolist() == [True, False]
    assert xp.isin(2, xp.asarray([1, 2])).item()
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "float64", "complex64"])
def test_membership_is_found_in_every_kind_of_dtype(dtype: str) -> None:
    xp = glasstorch.array_api
    elements, among = (xp.asarray(values, dtype=getattr(xp, dtype)) for values in ([0, 1, 0], [1]))
    assert xp.isin(elements, among).tolist() == [False, True, False]
    assert xp.isin(elements, among, invert=True).tolist() == [True, False, True]


def test_membership_among_many_does_not_compare_all_pairs() -> None:
    x = glasstorch.array_api.arange(200_000.0)  # all pairs would take 40 GB
    assert bool(glasstorch.array_api.isin(x, x + 1.0).sum() == 199_999)


def test_a_bound_that_integers_cannot_hold_counts_as_the_nearest_that_they_can() -> None:
    xp = glasstorch.array_api
    small, signed = xp.asarray([1, 2, 3], dtype=xp.uint8), xp.asarray([1, 2, 3], dtype=xp.int8)
    assert xp.clip(small, -1, 2).tolist() == [1, 2, 2]
    assert xp.clip(small, 300).tolist() == [255, 255, 255]
    assert xp.clip(signed, -1000, 1000).tolist() == [1, 2, 3]
    assert xp.clip(signed, float("-inf"), 2.5).tolist() == [1, 2, 2]
    assert xp.clip(small, xp.asarray(-1, dtype=xp.int8), xp.asarray(1e9)).tolist() == [1, 2, 3]
    assert xp.clip(small, max=xp.asarray(-1, dtype=xp.int8)).tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match="complex has no order"):
        xp.clip(signed, 1j)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda xp, x: xp.prod(x, axis=5), IndexError),
        (lambda xp, x: xp.cumulative_sum(x, axis=5), IndexError),
        (lambda xp, x: xp.cumulative_prod(x, axis=-7), IndexError),
        (lambda xp, x: xp.prod(x, axis=(0, 0)), RuntimeError),
        (lambda xp, x: xp.cumulative_sum(x[0, 0, 0], axis=0), ValueError),
    ],
)
def test_a_dimension_that_is_not_there_or_named_twice_is_refused(call: Callable[[Any, Any], Any], error: type) -> None:
    with pytest.raises(error):
        call(glasstorch.array_api, glasstorch.ones(2, 3, 4))


def test_two_numbers_are_no_arrays() -> None:
    with pytest.raises(TypeError, match="at least one operand must be an array"):
        glasstorch.array_api.add(1, 2)
    with pytest.raises(TypeError, match="expected an array or a Python number"):
        glasstorch.array_api.add(glasstorch.tensor([1]), "2")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda xp: xp.cumulative_sum(xp.ones((2, 2))), "axis must be given"),
        (lambda xp: xp.take(xp.ones((2, 2)), xp.asarray([0])), "axis must be given"),
        (lambda xp: xp.squeeze(xp.ones((2, 1)), 0), "axis 0 has size 2"),
        (lambda xp: xp.nonzero(xp.asarray(1)), "has no indices"),
        (lambda xp: xp.unstack(xp.asarray(1)), "cannot be split"),
        (lambda xp: xp.matrix_transpose(xp.ones(2)), "at least 2 dimensions"),
        (lambda xp: xp.vecdot(xp.ones(2), xp.ones(2), axis=0), "it is negative"),
        (lambda xp: xp.vecdot(xp.ones((2, 1)), xp.ones((2, 2))), "must be the same"),
        (lambda xp: xp.meshgrid(xp.ones(2), indexing="yx"), "'xy' or 'ij'"),
        (lambda xp: xp.reshape(xp.permute_dims(xp.ones((2, 3)), (1, 0)), (6,), copy=False), "without a copy"),
    ],
)
def test_what_the_standard_leaves_out_is_refused(call: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call(glasstorch.array_api)


def test_a_reshaped_array_is_a_copy_or_not_as_is_said() -> None:
    xp = glasstorch.array_api
    x = xp.ones((2, 3))
    assert xp.reshape(x, (6,), copy=True).data_ptr() != x.data_ptr()
    assert xp.reshape(x, (6,), copy=False).data_ptr() == x.data_ptr()
    assert xp.astype(x, xp.float32, copy=False) is x
    assert xp.astype(x, xp.float32) is not x


def test_the_deviation_of_one_element_is_zero_or_nan() -> None:
    xp = glasstorch.array_api
    for function in (xp.std, xp.var):
        assert function(xp.asarray(2.0)).item() == 0
        assert np.isnan(function(xp.asarray(float("nan"))).item())
        assert np.isnan(function(xp.asarray(float("inf"))).item())
        found = function(xp.asarray([1.0, float("nan")]), axis=())
        assert found[0].item() == 0
        assert np.isnan(found[1].item())


def test_grids_and_devices_are_lists() -> None:
    xp = glasstorch.array_api
    assert type(xp.meshgrid(xp.ones(2), xp.ones(3))) is list
    assert xp.meshgrid() == []
    assert xp.__array_namespace_info__().devices()[:1] == [glasstorch.device("cpu")]
