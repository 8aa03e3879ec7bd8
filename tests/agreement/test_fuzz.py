"""Do random calls, drawn from the operator table, end as PyTorch's do?

Nine calls of each row that compare elements, five thousand and more, the same at every run: one of the calls of the
row; any dtype, also those that the operator refuses; sizes replaced by 0 or 1; each tensor laid out in memory in one
of four ways; NaN and the infinities among the numbers. Both libraries refuse with the same class of exception, or give
results of the same dtypes and sizes whose values differ by no more than the tolerance of their dtype (TOLERANCES). A
call that a line of OTHERWISE excuses is made too, and may differ in the stated way only. `make test-all` makes a
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
from tests.agreement.opinfo import in_torch
from tests.agreement.oracles import operator, results
from tests.agreement.samples import Call, Row, T, in_library, tensors_in
from tests.agreement.table import ROWS
from tests.refusals import builtin

CALLS, MORE_CALLS = 9, 100  # of each row, whose values are compared
TRIES = 60
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
# its largest distance leaves out the NaN that is the difference of two infinities; BLAS may leave out NaN times 0,
# and PyTorch's convolutions NaN times the zeros around an image.
FINITE = re.compile(
    r"fft_|i?stft|linalg_|special_.*polynomial|(var|std)_mean|cdist|addmv|conv|instance_norm"
    r"|.*(cholesky|geqrf|qr|lu|svd|lstsq|triangular_solve|inverse|matrix_exp|det$)"
)
FAULTS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError)


# The ways in which a call may end differently.
VALUES, FORM, CLASS = "values", "dtypes or sizes", "class of the refusal"
OURS_REFUSES, THEIRS_REFUSES = "only ours refuses", "only PyTorch's refuses"
CRASHES = "PyTorch's may read what is not its own"
UNWRITTEN = "PyTorch's values are whatever its memory held"  # they may agree by chance: such a call is never counted


class Otherwise(NamedTuple):
    """Calls that may end differently."""

    rows: str  # a regular expression of their names
    when: Callable[[Call, str], bool]
    way: str  # one of the above
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


def is_resized(call: Call, run: str) -> bool:
    """Whether a size was replaced, for a row in whose calls none is 0 or 1."""
    return any({0, 1} & set(spec.shape) for spec in tensors_in(call))


OTHERWISE = (
    Otherwise(
        "(nan)?median.dim", is_expanded, CRASHES, "PyTorch reads beyond the memory of a tensor with a stride of 0"
    ),
    Otherwise("_?native_batch_norm.*", is_resized, CRASHES, "PyTorch checks these sizes in the functions above them"),
    Otherwise("(lstm|gru|rnn_.*)\\..*", is_resized, CRASHES, "PyTorch takes gates that weights lack"),
    Otherwise(
        "instance_norm|embedding_renorm_", is_expanded, OURS_REFUSES, "PyTorch writes to elements that share memory"
    ),
    Otherwise("index_(copy|fill|reduce).*", is_empty, CRASHES, "PyTorch looks at memory that is not there first"),
    Otherwise(
        "fft_.*|stft.*",
        is_empty,
        THEIRS_REFUSES,
        "MKL refuses an empty tensor by an error of its own; here it is transformed",
    ),
    Otherwise(
        "conv.*",
        lambda call, run: True,
        OURS_REFUSES,
        "a result or a kernel of no elements, which PyTorch's own kernels refuse, and oneDNN's do not",
    ),
    Otherwise(
        "convolution",
        lambda call, run: run in ("complex64", "complex128"),
        THEIRS_REFUSES,
        "PyTorch splits complex numbers into their parts before this operator",
    ),
    Otherwise(
        "isin.Scalar_Tensor|take_along_dim|kron|conv_tbc",
        is_strided,
        THEIRS_REFUSES,
        "PyTorch takes a view of its argument and fails",
    ),
    Otherwise(
        "linalg_.*|det", is_empty_of_another_dtype, OURS_REFUSES, "PyTorch asks for the dtype only where it computes"
    ),
    Otherwise(
        "lu_unpack", is_empty, CRASHES, "PyTorch does not look at the sizes of the pivots, nor at where they end"
    ),
    Otherwise("addmv", is_empty, FORM, "PyTorch gives the sizes of the vector that is added, with a warning"),
    Otherwise("hash_tensor", has_halves, VALUES, "the bits of a NaN are not the same after the way from float32"),
    Otherwise(
        "(linalg_)?matrix_exp", has_halves, VALUES, "PyTorch's polynomial overflows in half precision and gives NaN"
    ),
    Otherwise(
        "linalg_matrix_rank.*",
        has_halves,
        CLASS,
        "half precision is refused by the first operator that it is made of",
    ),
    Otherwise(
        "(max|min).dim",
        is_empty_of_another_dtype,
        CLASS,
        "PyTorch refuses complex numbers after an empty dimension",
    ),
    Otherwise(
        "multi(label)?_margin_loss(_forward)?", is_empty, UNWRITTEN, "PyTorch writes nothing where nothing is lost"
    ),
    Otherwise("signbit", has_halves, VALUES, "the sign of a NaN is lost on the way from float32"),
    Otherwise(
        "inner",
        lambda call, run: run == "bool",
        OURS_REFUSES,
        "PyTorch's dot of bool is refused but where a stride is 0",
    ),
    Otherwise(
        "addmm|addbmm|linear",
        lambda call, run: run == "bool" and is_empty(call, run),
        THEIRS_REFUSES,
        "PyTorch adds 0 times a long",
    ),
)

# Rows of which so many calls in TRIES give elements to compare.
FEWER = {
    "adaptive_max_pool3d": 7, "avg_pool3d": 7, "binary_cross_entropy": 7, "float_power_.Scalar": 6,
    "float_power_.Tensor": 5, "fractional_max_pool2d": 7, "glu_jvp": 7, "grid_sampler": 5,
    "grid_sampler_2d": 6, "gru.input": 4, "layer_norm": 8, "linalg_tensorinv": 8, "linalg_tensorsolve": 5,
    "lstm.input": 7, "multi_margin_loss": 5,
    "multilabel_margin_loss": 7, "multilabel_margin_loss_forward": 7, "nanquantile": 5, "nanquantile.scalar": 8,
    "native_layer_norm": 8, "pdist": 7, "quantile": 4, "quantile.scalar": 6, "rnn_tanh.input": 8, "rrelu_with_noise": 8,
    "softplus": 8, "upsample_linear1d": 8, "upsample_nearest2d": 7,
}  # fmt: skip

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


class Differs(AssertionError):
    """A call that does not end as PyTorch's, and in which of the ways that an `Otherwise` names."""

    def __init__(self, way: str, what: str) -> None:
        super().__init__(f"{way}: {what}")
        self.way = way


def check(row: Row, call: Call, given: Any, run: str, torch: Any) -> int | None:
    """One call in both libraries: how many elements were compared, or None if both refuse it."""
    name, _, overload = row.op.partition(".")
    theirs = outcome(torch, getattr(getattr(torch.ops.aten, name), overload or "default"), call, given)
    ours = outcome(glasstorch, operator(row.op), call, given)
    what = f"{row.op} of {run}: {call.args} {call.kwargs}\n{given}"
    if isinstance(theirs, type) or isinstance(ours, type):
        if not isinstance(theirs, type):
            raise Differs(OURS_REFUSES, f"{ours}, {what}")
        if not isinstance(ours, type):
            raise Differs(THEIRS_REFUSES, f"{theirs}, {what}")
        if not issubclass(ours, theirs):
            raise Differs(CLASS, f"{ours}, expected {theirs}, {what}")
        return None
    compared = 0
    for mine, wanted in zip(ours, theirs, strict=True):
        if not isinstance(wanted, torch.Tensor):
            assert type(mine) is type(wanted), what
            np.testing.assert_allclose(mine, wanted, rtol=TOLERANCES["bfloat16"], err_msg=what)
            compared += 1
            continue
        if (repr(mine.dtype), tuple(mine.shape)) != (repr(wanted.dtype), tuple(wanted.shape)):
            raise Differs(FORM, f"{mine.dtype} {mine.shape}, expected {wanted.dtype} {wanted.shape}, {what}")
        tolerance = TOLERANCES.get(mine.dtype.name, 0) * row.tolerance
        if not np.allclose(numbers(in_torch(mine, torch)), numbers(wanted), tolerance, tolerance, equal_nan=True):
            raise Differs(VALUES, f"{mine}, expected {wanted}, {what}")
        compared += wanted.numel()
    return compared


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


def compared_calls(row: Row, wanted: int, tries: int, torch: Any) -> int:
    """Random calls of a row until so many values agreed, or all tries are made; how many calls did."""
    compared = 0
    for call, given, run in random_calls(row, tries):
        if compared < wanted and tried(row, call, given, run, torch):
            compared += 1
    return compared


def tried(row: Row, call: Call, given: Any, run: str, torch: Any) -> int | None:
    """As `check`; None for a call that ends otherwise for a reason. Ours runs even where PyTorch's may not."""
    reasons = {one.way for one in excused(row, call, run)}
    if CRASHES in reasons:
        outcome(glasstorch, operator(row.op), call, given)
        return None
    try:
        compared = check(row, call, given, run, torch)
        return None if UNWRITTEN in reasons else compared
    except Differs as difference:
        if difference.way not in reasons and not (difference.way == VALUES and UNWRITTEN in reasons):
            raise
        return None


def test_there_are_five_thousand_calls() -> None:
    assert CALLS * len(SHARED) - sum(CALLS - count for count in FEWER.values()) >= 5000


def test_every_row_compares_three_calls_at_least() -> None:
    assert {row.op for row in SHARED} >= FEWER.keys()
    assert all(3 <= count < CALLS for count in FEWER.values())


@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.op)
def test_random_calls_end_as_in_pytorch(row: Row, require: Require) -> None:
    assert compared_calls(row, CALLS, TRIES, require("torch")) == FEWER.get(row.op, CALLS)


@pytest.mark.slow
@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.op)
def test_many_random_calls_end_as_in_pytorch(row: Row, require: Require) -> None:
    assert compared_calls(row, MORE_CALLS, MORE_CALLS, require("torch"))


@pytest.mark.slow
@pytest.mark.parametrize("one", OTHERWISE, ids=lambda one: f"{one.rows} {one.way}")
def test_what_may_differ_does(one: Otherwise, require: Require) -> None:
    assert any(differs(row, one, require("torch")) for row in SHARED if re.fullmatch(one.rows, row.op))


def differs(row: Row, one: Otherwise, torch: Any) -> bool:
    """Whether one of the calls that may end differently does, in its way."""
    for call, given, run in random_calls(row, MORE_CALLS):
        if one in excused(row, call, run):
            try:
                check(row, call, given, run, torch)
            except Differs as difference:
                if one.way in (difference.way, CRASHES) or (one.way, difference.way) == (UNWRITTEN, VALUES):
                    return True
            except AssertionError:
                if one.way == CRASHES:
                    return True
    return False
