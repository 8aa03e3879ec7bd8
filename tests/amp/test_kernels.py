"""Has autocast a kernel for the operators that it has one for in PyTorch, and does each what PyTorch's does?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.amp.kernels import register_autocast_kernels
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.operators.generated.registry import OPERATORS
from tests.agreement.oracles import operator, results
from tests.agreement.samples import Call, Row, arrays, in_library
from tests.agreement.table import ROWS

Require = Callable[[str], Any]

KEYS = {"cpu": DispatchKey.AutocastCPU, "cuda": DispatchKey.AutocastCUDA}
# Operators that PyTorch has a policy for and that this library does not have.
MISSING = {
    "cpu": {"_addmm_activation", "_grid_sampler_2d_cpu_fallback", "fake_quantize_per_tensor_affine"},
    "cuda": {
        *("_scaled_dot_product_flash_attention", "_thnn_fused_gru_cell", "_thnn_fused_lstm_cell"),
        *("cudnn_convolution", "cudnn_convolution_transpose"),
    },
}
# The macro of each policy in ATen/autocast_mode.h.
MACROS = {
    "lower_precision_fp": "AT_FORALL_LOWER_PRECISION_FP",
    "fp32": "AT_FORALL_FP32",
    "fp32_set_opt_dtype": "AT_FORALL_FP32_SET_OPT_DTYPE",
    "promote": "AT_FORALL_PROMOTE",
}


def policies(device: str) -> dict[str, str]:
    """Operator -> its policy in the operator table."""
    return {row.name: dict(row.autocast)[device] for row in OPERATORS if device in dict(row.autocast)}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_operators_are_pytorchs(device: str, require: Require) -> None:
    has = require("torch")._C._dispatch_has_kernel_for_dispatch_key
    names = require("torch")._C._dispatch_get_all_op_names()
    own = [name for name in names if name.startswith("aten::")]  # others may be left of other tests
    theirs = {name.removeprefix("aten::") for name in own if has(name, KEYS[device].name)}
    assert set(policies(device)) == theirs - MISSING[device]
    assert theirs >= MISSING[device]
    assert not any(f"aten::{name}" in registry.operators for name in MISSING[device])


def test_the_policies_for_cuda_are_those_of_pytorchs_header(require: Require) -> None:
    header = Path(require("torch").__file__).parent / "include" / "ATen" / "autocast_mode.h"
    text = header.read_text(encoding="utf-8")
    theirs = {}
    for policy, macro in MACROS.items():
        body = re.search(rf"#define {macro}\(_\)(.*?)\n(?!\s*_\()", text, re.DOTALL)
        assert body is not None
        theirs |= {".".join(re.split(r",\s*", name)): policy for name in re.findall(r"_\(([^)]+)\)", body[1])}
    other = text.partition("AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(_)")[2].partition("AT_FORALL_PROMOTE")[0]
    theirs |= dict.fromkeys(re.findall(r'"(\w+\.\w+)"', other), "fp32_append_dtype")
    assert len(theirs) > 100
    # What autocast_mode.cpp adds to the lists.
    theirs |= {"binary_cross_entropy": "banned"}
    assert policies("cuda") == {name: policy for name, policy in theirs.items() if name not in MISSING["cuda"]}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_each_policy_is_a_registered_kernel(device: str) -> None:
    register_autocast_kernels(device)
    for name, policy in policies(device).items():
        (kernel,) = registry.find(f"aten::{name}").kernels[KEYS[device]]
        assert kernel.function.__name__ == policy
        assert re.fullmatch(r"amp/policies\.py:\d+", kernel.where)
    own = [op for op in registry.operators.values() if op.namespace == "aten"]
    has = {op.qualified_overload for op in own if op.kernels.get(KEYS[device])}
    assert has == set(policies(device))


def test_a_form_has_no_policy() -> None:
    assert not [row.name for row in OPERATORS if row.autocast and row.functional is not None]


# Behaviour, on the samples of the table of operators ------------------------------------------------------------------

ROUNDED = {"bfloat16": 5e-2, "float16": 5e-3}
UNEXPECTED = "Unexpected floating ScalarType in at::autocast::prioritize"
# Operators that have no policy, and are made of others here than there.
MADE_OF_OTHERS = {
    "inner": "the product of two vectors is one of matrices here, dot there",
    **dict.fromkeys(
        ["roll", "fft_fftshift", "fft_ifftshift", "convolution", "convolution_backward"],
        "PyTorch joins parts with cat or stack, which refuse to promote the other half precision",
    ),
    "lstm.input": "oneDNN has no float16 cells on all processors",
}
# Their values are not defined to that precision: signs of vectors, quotients of what is nearly zero.
ROUGH = {"renorm", "cosine_similarity", "linalg_lstsq", "linalg_pinv", "pinverse", "ormqr", "orgqr"}


def under_autocast(library: Any, function: Any, given: Any, dtype: str) -> Any:
    args, kwargs = given
    with library.autocast("cpu", dtype=getattr(library, dtype)):
        try:
            return results(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (the error is what is compared)
            return error


def pairs(row: Row, torch: Any, run: str, dtype: str) -> Any:
    name, _, overload = row.op.partition(".")
    theirs = getattr(getattr(torch.ops.aten, name), overload or "default")
    for call in row.calls:
        if run in (call.dtypes or row.dtypes):
            given = arrays(row, call, run)
            yield (
                call,
                under_autocast(glasstorch, operator(row.op), in_library(glasstorch, call, given), dtype),
                under_autocast(torch, theirs, in_library(torch, call, given), dtype),
            )


def assert_same(row: Row, call: Call, ours: Any, theirs: Any, torch: Any, within: float | None) -> None:
    what = f"{row.op}, call {row.calls.index(call)}"
    assert type(ours).__name__ == type(theirs).__name__, (what, ours, theirs)
    if isinstance(theirs, Exception):
        return
    for mine, expected in zip(ours, theirs, strict=True):
        if isinstance(expected, torch.Tensor):
            assert repr(mine.dtype) == repr(expected.dtype), what
            if within is not None and mine.dtype.is_floating_point:
                array, wanted = (one.detach().double().numpy() for one in (mine, expected))
                np.testing.assert_allclose(array, wanted, rtol=within, atol=within, err_msg=what)


LISTED = policies("cpu")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.filterwarnings("ignore")  # what single operators warn of is compared elsewhere
def test_every_operator_gives_the_dtypes_and_values_that_it_gives_in_pytorch(dtype: str, require: Require) -> None:
    torch = require("torch")
    checked = set()
    for row in ROWS:
        if row.in_torch and row.op not in MADE_OF_OTHERS:
            for call, ours, theirs in pairs(row, torch, "float32", dtype):
                within = None if row.op in ROUGH else row.tolerance * ROUNDED[dtype]
                assert_same(row, call, ours, theirs, torch, within)
                checked.add(row.op)
    assert len(checked) > 800
    assert len(checked & set(LISTED)) > 85


@pytest.mark.parametrize("run", ["bfloat16", "float16", "float64"])
@pytest.mark.filterwarnings("ignore")
def test_arguments_of_other_dtypes_are_treated_as_in_pytorch(run: str, require: Require) -> None:
    torch = require("torch")
    for row in ROWS:
        if row.op in LISTED and row.op not in MADE_OF_OTHERS:
            for call, ours, theirs in pairs(row, torch, run, "bfloat16"):
                assert_same(row, call, ours, theirs, torch, None)


@pytest.mark.parametrize("op", MADE_OF_OTHERS)
@pytest.mark.filterwarnings("ignore")
def test_an_operator_that_is_made_of_others_may_differ(op: str, require: Require) -> None:
    torch = require("torch")
    (row,) = (row for row in ROWS if row.op == op)
    assert op not in LISTED
    different = []
    for run in ("float32", "bfloat16", "float16"):
        for dtype in ("bfloat16", "float16"):
            for _, ours, theirs in pairs(row, torch, run, dtype):
                assert not isinstance(ours, Exception)
                if isinstance(theirs, Exception):
                    different.append(UNEXPECTED in str(theirs) or "primitive" in str(theirs))
                else:
                    different += [repr(a.dtype) != repr(b.dtype) for a, b in zip(ours, theirs, strict=True)]
    assert any(different) or op == "lstm.input"


SIGNS = {
    "cholesky": lambda lib, x: lib.cholesky(x @ x.mT + lib.eye(3)),
    "cholesky_inverse": lambda lib, x: lib.cholesky_inverse(x),
    "ctc_loss": lambda lib, x: lib.nn.functional.ctc_loss(
        x.reshape(3, 1, 3).log_softmax(-1), lib.tensor([[1]]), lib.tensor([3]), lib.tensor([1])
    ),
    "fft_fftn": lambda lib, x: lib.fft.fftn(x),
    "fft_hfft": lambda lib, x: lib.fft.hfft(x),
    "fft_ifft": lambda lib, x: lib.fft.ifft(x),
    "fft_ifftn": lambda lib, x: lib.fft.ifftn(x),
    "fft_ihfft": lambda lib, x: lib.fft.ihfft(x),
    "fft_irfftn": lambda lib, x: lib.fft.irfftn(x),
    "linalg_cholesky": lambda lib, x: lib.linalg.cholesky(x @ x.mT + lib.eye(3)),
    "linalg_eig": lambda lib, x: lib.linalg.eig(x)[0],
    "linalg_eigh": lambda lib, x: lib.linalg.eigh(x)[0],
    "linalg_eigvals": lambda lib, x: lib.linalg.eigvals(x),
    "linalg_eigvalsh": lambda lib, x: lib.linalg.eigvalsh(x),
    "linalg_matrix_rank": lambda lib, x: lib.linalg.matrix_rank(x, tol=lib.tensor(0.1)),
    "linalg_qr": lambda lib, x: lib.linalg.qr(x)[0],
    "linalg_svd": lambda lib, x: lib.linalg.svd(x)[1],
    "lu_solve": lambda lib, x: lib.lu_solve(x, *lib.linalg.lu_factor(x.float())),
    "polar": lambda lib, x: lib.polar(x, x),
    "qr": lambda lib, x: lib.qr(x)[0],
    "stft": lambda lib, x: lib.stft(x.reshape(-1), 4, window=lib.ones(4), return_complex=True),
    "svd": lambda lib, x: lib.svd(x)[1],
    "triangular_solve": lambda lib, x: lib.triangular_solve(x, x.float())[0],
    "view_as_complex": lambda lib, x: lib.view_as_complex(x[:, :2].contiguous()),
}


@pytest.mark.parametrize("name", SIGNS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.filterwarnings("ignore")
def test_operators_without_samples_give_pytorchs_dtypes(name: str, dtype: str, require: Require) -> None:
    values = np.random.default_rng(0).uniform(0.5, 1.5, (3, 3)).astype(np.float32)
    found = []
    for library in (glasstorch, require("torch")):
        x = library.from_numpy(values.copy()).to(getattr(library, dtype))
        with library.autocast("cpu"):
            found.append(repr(SIGNS[name](library, x).dtype))
    assert found[0] == found[1]
