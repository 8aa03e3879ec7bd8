"""Do random calls, drawn from the operator table, end as PyTorch's do?

Ten calls of each row, five thousand and more, the same at every run: one of the calls of the row; any dtype, also
those that the operator refuses; sizes replaced by 0 or 1; each tensor laid out in memory in one of four ways; NaN and
the infinities among the numbers. Both libraries refuse with the same class of exception, or give results of the same
dtypes and sizes whose values differ by no more than the tolerance of their dtype (TOLERANCES). `make test-all` makes a
hundred calls of each row, and sees that each line of OTHERWISE is needed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest

import glasstorch
from glasstorch.core.dtype import BY_NAME
from tests.agreement.opinfo import builtin, in_torch
from tests.agreement.oracles import operator, results
from tests.agreement.samples import Call, Row, T, in_library, tensors_in
from tests.agreement.table import ROWS

CALLS, MORE_CALLS = 10, 100  # of each row
DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
LAYOUTS = ("row-major", "transposed", "stepped", "expanded")
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
# No infinities: which parts of a product with one are NaN is up to the compiler, in PyTorch too.
SPECIAL_COMPLEX = (np.nan, 0.0, 1.0, 1j)
# Both rtol and atol: a few units in the last place, as sums and products of a dozen numbers may be rounded.
TOLERANCES = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}
# They are given no NaN or infinity. How far one spreads in a transform or a factorization is up to the order of the
# additions, and PyTorch's eigvals ends the process; PyTorch's polynomials at NaN return a variable that was not set;
# its mean of two infinities is NaN where it comes with the variance, by Welford's way to update both;
# its largest distance leaves out the NaN that is the difference of two infinities; BLAS may leave out NaN times 0.
FINITE = re.compile(
    r"fft_|i?stft|linalg_|special_.*polynomial|(var|std)_mean|cdist|addmv"
    r"|.*(cholesky|geqrf|qr|lu|svd|lstsq|triangular_solve|inverse|matrix_exp|det$)"
)
FAULTS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError)


class Otherwise(NamedTuple):
    """Calls that may end differently."""

    rows: str  # a regular expression of their names
    when: Callable[[Call, str], bool]
    why: str


def is_empty(call: Call, run: str) -> bool:
    """Whether some tensor has no elements."""
    return any(0 in spec.shape for spec in tensors_in(call))


def is_empty_of_another_dtype(call: Call, run: str) -> bool:
    """Whether it is empty, of a dtype that some operators refuse."""
    return is_empty(call, run) and run not in ("float32", "float64")


def has_halves(call: Call, run: str) -> bool:
    """Whether the numbers are of half precision."""
    return run in ("float16", "bfloat16")


def is_strided(call: Call, run: str) -> bool:
    """Whether some tensor is not laid out row by row."""
    return any(spec.layout != "row-major" for spec in tensors_in(call))


def is_expanded(call: Call, run: str) -> bool:
    """Whether some tensor has a stride of 0."""
    return any(spec.layout == "expanded" for spec in tensors_in(call))


OTHERWISE = (
    Otherwise("(nan)?median.dim", is_expanded, "PyTorch reads beyond the memory of a tensor with a stride of 0"),
    Otherwise("index_(copy|fill|reduce).*", is_empty, "PyTorch looks at memory that is not there first"),
    Otherwise("fft_.*|stft.*", is_empty, "MKL refuses an empty tensor by an error of its own; here it is transformed"),
    Otherwise("isin.Scalar_Tensor|take_along_dim|kron", is_strided, "PyTorch takes a view of its argument and fails"),
    Otherwise("linalg_.*|det", is_empty_of_another_dtype, "PyTorch asks for the dtype only where it computes"),
    Otherwise("lu_unpack", is_empty, "PyTorch does not look at the sizes of the pivots, nor at where they end"),
    Otherwise("addmv", is_empty, "PyTorch gives the sizes of the vector that is added, with a warning"),
    Otherwise("hash_tensor", has_halves, "the bits of a NaN are not the same after the way from float32"),
    Otherwise("(linalg_)?matrix_exp", has_halves, "PyTorch's polynomial overflows in half precision and gives NaN"),
    Otherwise("linalg_matrix_rank.*", has_halves, "half precision is refused by the first operator that it is made of"),
    Otherwise("(max|min).dim", is_empty_of_another_dtype, "PyTorch refuses complex numbers after an empty dimension"),
    Otherwise("signbit", has_halves, "the sign of a NaN is lost on the way from float32"),
    Otherwise("inner", lambda call, run: run == "bool", "PyTorch's dot of bool is refused but where a stride is 0"),
    Otherwise(
        "addmm|addbmm|linear", lambda call, run: run == "bool" and is_empty(call, run), "PyTorch adds 0 times a long"
    ),
)

Random = np.random.Generator
Require = Callable[[str], Any]


# The operators of both libraries that users call: kernels of a backward pass trust their arguments.
SHARED = [row for row in ROWS if row.in_torch and not row.op.startswith("_") and "backward" not in row.op]


def random_calls(row: Row, count: int) -> Iterator[tuple[Call, Any, str]]:
    """Calls of a row: each with its arguments, arrays in the place of tensors, and the dtype of most of them."""
    random = np.random.default_rng(crc32(row.op.encode()))
    for _ in range(count):
        run = DTYPES[random.integers(len(DTYPES))]
        finite = FINITE.match(row.op) is not None
        # Of equal rows a matrix is singular, which rounding may hide.
        call = changed(row.calls[random.integers(len(row.calls))], LAYOUTS[: 3 if finite else 4], random)
        special = not finite and random.random() < 0.4
        yield call, drawn((call.args, call.kwargs), run, special, random), run


def changed(call: Call, layouts: tuple[str, ...], random: Random) -> Call:
    """The call with other sizes, the same ones wherever a size stood, and other layouts."""
    kept = random.random() < 0.4
    sizes: dict[int, int] = {}

    def size(n: int) -> int:
        return sizes.setdefault(n, n if kept or random.random() < 0.5 else int(random.integers(2)))

    def other(value: Any) -> Any:
        if isinstance(value, T):
            layout = layouts[random.integers(len(layouts) if value.shape else 3)]
            return replace(value, shape=tuple(map(size, value.shape)), layout=layout)
        return [other(v) for v in value] if isinstance(value, list) else value

    return replace(
        call, args=tuple(map(other, call.args)), kwargs={name: other(value) for name, value in call.kwargs.items()}
    )


def drawn(value: Any, run: str, special: bool, random: Random) -> Any:
    """The arguments with an array for each tensor."""
    if isinstance(value, T):
        return array(value, value.dtype or run, special, random)
    if isinstance(value, dict):
        return {name: drawn(v, run, special, random) for name, v in value.items()}
    return type(value)(drawn(v, run, special, random) for v in value) if isinstance(value, tuple | list) else value


def array(spec: T, name: str, special: bool, random: Random) -> np.ndarray[Any, Any]:
    """Numbers of a dtype in the range of the table's, with one that is NaN, infinite or zero if `special`."""
    dtype = BY_NAME[name]
    if spec.distinct:
        values = random.permutation(int(np.prod(spec.shape))).reshape(spec.shape).astype(np.float64)
    elif dtype.is_floating_point or dtype.is_complex:
        values = random.uniform(spec.low, spec.high, spec.shape)
    else:
        low = max(spec.low, 0) if name in ("uint8", "bool") else spec.low
        values = np.asarray(random.integers(int(np.ceil(low)), max(int(spec.high), int(np.ceil(low))) + 1, spec.shape))
    if dtype.is_complex:
        values = values + 1j * random.uniform(spec.low, spec.high, spec.shape)
    choice = SPECIAL_COMPLEX if dtype.is_complex else SPECIAL if dtype.is_floating_point else ()
    if special and choice and values.size:
        values = np.array(values)
        values.flat[random.integers(values.size)] = choice[random.integers(len(choice))]
    if spec.layout == "expanded":
        values = np.broadcast_to(values[:1], spec.shape)
    return np.asarray(values).astype(dtype.numpy)


def outcome(library: Any, called: Any, call: Call, given: Any) -> Any:
    """What a call gives, or the class of the exception it ends with."""
    args, kwargs = in_library(library, call, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return results(called(*args, **kwargs))
        except FAULTS as error:
            return builtin(error)


def check(row: Row, call: Call, given: Any, run: str, torch: Any) -> None:
    """One call in both libraries."""
    name, _, overload = row.op.partition(".")
    theirs = outcome(torch, getattr(getattr(torch.ops.aten, name), overload or "default"), call, given)
    ours = outcome(glasstorch, operator(row.op), call, given)
    what = f"{row.op} of {run}: {call.args} {call.kwargs}\n{given}"
    if isinstance(theirs, type) or isinstance(ours, type):
        assert isinstance(theirs, type), f"refused with {ours}: {what}"
        assert isinstance(ours, type), f"not refused, expected {theirs}: {what}"
        assert issubclass(ours, theirs), f"refused with {ours}, expected {theirs}: {what}"
        return
    for mine, wanted in zip(ours, theirs, strict=True):
        if not isinstance(wanted, torch.Tensor):
            assert type(mine) is type(wanted), what
            np.testing.assert_allclose(mine, wanted, rtol=TOLERANCES["bfloat16"], err_msg=what)
            continue
        assert (repr(mine.dtype), tuple(mine.shape)) == (repr(wanted.dtype), tuple(wanted.shape)), what
        tolerance = TOLERANCES.get(mine.dtype.name, 0) * row.tolerance
        np.testing.assert_allclose(numbers(in_torch(mine, torch)), numbers(wanted), tolerance, tolerance, err_msg=what)


def numbers(tensor: Any) -> np.ndarray[Any, Any]:
    """The elements of a tensor of torch, as wide as they can be; a complex number with one part NaN is NaN."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    if not plain.is_complex():
        return np.asarray(plain.double().numpy())
    values = np.array(plain.cdouble().numpy())
    values[np.isnan(values)] = np.nan
    return values


def excused(row: Row, call: Call, run: str) -> list[Otherwise]:
    """The reasons for which a call may end differently."""
    return [one for one in OTHERWISE if re.fullmatch(one.rows, row.op) and one.when(call, run)]


def check_calls(row: Row, count: int, torch: Any) -> None:
    """Random calls of a row, but for those that may end differently."""
    for call, given, run in random_calls(row, count):
        if not excused(row, call, run):
            check(row, call, given, run, torch)


def test_there_are_five_thousand_calls() -> None:
    assert CALLS * len(SHARED) >= 5000


@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.op)
def test_random_calls_end_as_in_pytorch(row: Row, require: Require) -> None:
    check_calls(row, CALLS, require("torch"))


@pytest.mark.slow
@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.op)
def test_many_random_calls_end_as_in_pytorch(row: Row, require: Require) -> None:
    check_calls(row, MORE_CALLS, require("torch"))


@pytest.mark.slow
@pytest.mark.parametrize("one", OTHERWISE, ids=lambda one: one.rows)
def test_what_may_differ_does(one: Otherwise, require: Require) -> None:
    assert any(differs(row, one, require("torch")) for row in SHARED if re.fullmatch(one.rows, row.op))


def differs(row: Row, one: Otherwise, torch: Any) -> bool:
    """Whether one of the calls that may end differently does."""
    calls = [(call, given, run) for call, given, run in random_calls(row, MORE_CALLS) if one in excused(row, call, run)]
    try:
        for call, given, run in calls:
            check(row, call, given, run, torch)
    except AssertionError:
        return True
    return False
