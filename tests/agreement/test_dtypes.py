"""Does every operator take, or refuse, the dtypes that the table does not run, as PyTorch's does?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.dtype import BY_NAME
from tests.agreement.oracles import operator, results
from tests.agreement.samples import Call, Row, arrays, in_library, tensors_in
from tests.agreement.table import ROWS
from tests.refusals import builtin

RUNS = ("complex64", "int8", "uint16")
CALLS = 2  # of each row
ROUGH = 1e-5  # float32 rounds at 6e-8; some operators add or multiply a few dozen such numbers
# (operator, dtype) -> why ours may differ. An entry that has been overtaken is a failure.
OTHERWISE = {
    ("mse_loss_backward", "int8"): "whole numbers have no gradient here; there it is rounded to 0",
    ("smooth_l1_loss_backward", "int8"): "whole numbers have no gradient here; there it is cut off",
    **{
        (name, "complex64"): "PyTorch splits complex numbers into their parts before this operator"
        for name in (
            "convolution",
            "convolution_backward",
            "_convolution",
            "_convolution.deprecated",
            "_convolution_mode",
        )
    },
    ("_neg_view", "uint16"): "of no elements: there nothing is asked of the kernel",
}


def given(row: Row, call: Call, run: str) -> Any:
    """The arguments of a call as the table makes them, with those of no dtype of their own in another one."""
    base = "float64" if run == "complex64" else "int64"
    specs = tensors_in(call)

    def cast(value: Any) -> Any:
        if isinstance(value, list):
            return [cast(one) for one in value]
        if not isinstance(value, np.ndarray) or next(specs).dtype is not None:
            return value
        values = value + 0.5j * np.flip(value) if run == "complex64" else abs(value) if run == "uint16" else value
        return np.asarray(values).astype(BY_NAME[run].numpy)

    args, kwargs = arrays(row, call, base)
    return tuple(map(cast, args)), {name: cast(value) for name, value in kwargs.items()}


def outcome(library: Any, called: Any, call: Call, arguments: Any) -> Any:
    """What comes out: for each result its dtype, sizes and values; or the builtin class of the refusal."""
    args, kwargs = in_library(library, call, arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = results(called(*args, **kwargs))
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            return builtin(error).__name__
        return [_seen(one) for one in found]


def _seen(result: Any) -> Any:
    if not hasattr(result, "dtype"):
        return result
    plain = result.detach().resolve_conj().resolve_neg()
    return (
        repr(result.dtype),
        list(result.shape),
        np.array((plain.cdouble() if plain.is_complex() else plain.double()).tolist()),
    )


@pytest.mark.parametrize("row", [row for row in ROWS if row.in_torch], ids=lambda row: row.op)
def test_a_dtype_is_taken_or_refused_as_in_pytorch(row: Row, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    name, _, overload = row.op.partition(".")
    theirs_operator = getattr(getattr(torch.ops.aten, name), overload or "default")
    for run in RUNS:
        if (row.op, run) in OTHERWISE:
            with pytest.raises((AssertionError, NotImplementedError)):
                compare(row, run, torch, theirs_operator)
        else:
            compare(row, run, torch, theirs_operator)


def compare(row: Row, run: str, torch: Any, theirs_operator: Any) -> None:
    """The first calls of a row, with tensors of one dtype."""
    for call in row.calls[:CALLS]:
        arguments = given(row, call, run)
        ours = outcome(glasstorch, operator(row.op), call, arguments)
        theirs = outcome(torch, theirs_operator, call, arguments)
        what = f"{row.op} of {run}: {call}"
        if isinstance(theirs, str) or isinstance(ours, str):
            assert ours == theirs, what
            continue
        for mine, wanted in zip(ours, theirs, strict=True):
            if not isinstance(wanted, tuple):
                assert mine == wanted, what
                continue
            assert mine[:2] == wanted[:2], what
            np.testing.assert_allclose(mine[2], wanted[2], rtol=ROUGH, atol=ROUGH, err_msg=what)
