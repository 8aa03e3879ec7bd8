"""Do all operators that run on a CUDA device agree with PyTorch there, on PyTorch's own samples?

The samples are those of OpInfo (torch/testing/_internal/common_methods_invocations.py), in every dtype that
glasstorch has. All of them take a minute of one core: they are marked `slow` (`make test-all`). Without the mark run
three of each operator and dtype, spread over all that there are. PyTorch computes on the CPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import ArgumentTypeError, DtypeError, DtypeNotImplementedError, MissingKernelError
from glasstorch.devices import runtime
from tests.agreement.opinfo import Call, counterpart, database, full_name, leaves, samples_of

THIN = (Path(__file__).parents[1] / "truth" / "thin.txt").read_text(encoding="utf-8").strip().split(",")
# The entries of OpInfo beyond the thin line; a test below sees that none is missing.
MORE = (Path(__file__).parent / "opinfo_beyond_thin.txt").read_text(encoding="utf-8").strip().split(",")
# Samples that glasstorch does not take, on any device, and its reason.
REFUSED = {
    "masked_fill": "argument 'value' (position 2) must be Number, not Tensor",
    "scatter": "reduce=str",
}
# Their numbers are not the same twice.
RANDOM = {
    *("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_"),
    *("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "uniform"),
    *("normal", "normal:in_place", "normal:number_mean"),
    *("rand_like", "randint", "randint_like", "randn", "randn_like"),
}
# They run on the device for some inputs only, and why. Each must really fail.
IN_PART = {
    "addr": "of half precision it rounds after each of its parts, as it is made of others on the device",
    "as_strided_scatter": "PyTorch's gradient of self is one where src was written; ours is zero there",
    "complex": "no complex numbers of half precision",
    "diff": "of bool it is logical_xor, which has no kernel for the device yet",
    "lerp": "with a tensor of weights it has no kernel for the device yet",
    **dict.fromkeys(
        ["nn.functional.dropout", "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout:with_train"],
        "what is dropped depends on the device's stream of random numbers",
    ),
    "nn.functional.embedding": "its backward operator has no kernel for the device yet",
    "nn.functional.kl_div": "of probabilities it is made of xlogy, which has no kernel for the device yet",
    "nn.functional.multi_head_attention_forward": "masks are added by baddbmm, which has no kernel for the device yet",
    "nn.functional.pdist": "the distances of more than one row have no kernel for the device yet",
    "polar": "no complex numbers of half precision; their gradients have no kernel for the device yet",
    "repeat_interleave": "with a tensor of repeats it has no kernel for the device yet",
    "view_as_complex": "no complex numbers of half precision",
}
# Name spaces of operators of which few run on the device yet.
IN_A_SPACE = re.compile(r"(linalg|special|fft|masked|signal\.windows|_refs|ops)\.")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
MOST = 3  # samples of an operator and dtype where not all are tried
# PyTorch's default rtol and atol, and by what they are multiplied: a device rounds in other places.
TOLERANCES = {
    "torch.float32": (1.3e-6, 1e-5),
    "torch.float64": (1e-7, 1e-7),
    "torch.float16": (1e-3, 2e-4),  # the loose atol is 2 units in the last place of 1: gradients are differences
    "torch.bfloat16": (1.6e-2, 1.6e-3),
}
LOOSE = 10
# The same factor where many elements are added up in one place, in an order of the device's: what is rounded is the sum
# so far, which may be many times the result.
LOOSE_SUMS = dict.fromkeys(["_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"], 200)


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Iterator[None]:
    runtime.use_simulator(order="random", seed=7)
    yield
    runtime.use_driver(None)


# Comparing -------------------------------------------------------------------------------------------------------


def compare(found: Any, expected: Any, torch: Any, what: str, values: bool = True, loose: float = LOOSE) -> None:
    """One result, or one gradient."""
    if not isinstance(expected, torch.Tensor):
        assert (type(found), found) == (type(expected), expected), what
        return
    assert (repr(found.dtype), tuple(found.shape)) == (repr(expected.dtype), tuple(expected.shape)), what
    assert found.requires_grad == expected.requires_grad, what
    if values:
        exact = found.detach().float() if found.dtype is glasstorch.bfloat16 else found.detach()
        copied = torch.from_numpy(np.array(exact.cpu().numpy())).to(expected.dtype)
        rtol, atol = (loose * t for t in TOLERANCES.get(str(expected.dtype), (0, 0)))
        torch.testing.assert_close(
            copied, expected.detach(), rtol=rtol, atol=atol, equal_nan=True, check_stride=False, msg=lambda m: what + m
        )


def check(op: Any, sample: Any, torch: Any) -> int:
    """Results and gradients of one sample; returns how many gradients were compared."""
    what = f"{op.name}, {sample.summary()[:300]}\n"
    call = Call(glasstorch, sample, torch, grad=True, device="cuda")
    numbers = full_name(op) not in RANDOM
    expected = leaves(op.op(sample.input, *sample.args, **sample.kwargs))
    found = leaves(call.run(counterpart(op.op, torch)).out)
    for mine, theirs in zip(found, expected, strict=True):
        compare(mine, theirs, torch, what, numbers, LOOSE_SUMS.get(op.name, LOOSE))
    pairs = [(m, t) for m, t in zip(found, expected, strict=True) if getattr(t, "requires_grad", False) and numbers]
    if not pairs:
        return 0
    seeds = [np.cos(np.arange(t.numel())).reshape(tuple(t.shape)) for _, t in pairs]
    for theirs, _ in call.pairs:
        theirs.grad = None  # samples may share tensors
    torch.autograd.backward(
        [t for _, t in pairs], [torch.from_numpy(seed).to(t.dtype) for seed, (_, t) in zip(seeds, pairs, strict=True)]
    )
    glasstorch.autograd.backward(
        [m for m, _ in pairs],
        [glasstorch.from_numpy(seed).to("cuda", m.dtype) for seed, (m, _) in zip(seeds, pairs, strict=True)],
    )
    gradients = [(mine.grad, theirs.grad) for theirs, mine in call.pairs if theirs.is_leaf and theirs.requires_grad]
    for mine, theirs in gradients:
        assert (mine is None) == (theirs is None), what
        if theirs is not None:
            assert mine.is_cuda, what
            compare(mine, theirs, torch, f"gradient: {what}", loose=LOOSE_SUMS.get(op.name, LOOSE))
    return len(gradients)


def check_samples(name: str, torch: Any, most: int | None = None) -> None:
    """Results and gradients of an operator, for at most so many samples of each dtype and one more, or for all."""
    op = database(torch)[name]
    samples = gradients = refused = 0
    for dtype in (getattr(torch, d) for d in DTYPES):
        given = samples_of(op, dtype, torch)
        for sample in given[:: max(1, len(given) // most) if most else 1]:
            try:
                gradients += check(op, sample, torch)
                samples += 1
            except ArgumentTypeError as error:
                if name not in REFUSED or REFUSED[name] not in str(error):
                    raise
                refused += 1
    assert samples
    assert gradients or not op.supports_autograd or name in RANDOM
    assert most or bool(refused) == (name in REFUSED)


@pytest.mark.filterwarnings("ignore:linear_cross_entropy. ``options`` ignored")
@pytest.mark.parametrize("name", [*THIN, *MORE])
def test_results_and_gradients(name: str, require: Callable[[str], Any]) -> None:
    check_samples(name, require("torch"), MOST)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:linear_cross_entropy. ``options`` ignored")
@pytest.mark.parametrize("name", [*THIN, *MORE])
def test_results_and_gradients_of_all_samples(name: str, require: Callable[[str], Any]) -> None:
    check_samples(name, require("torch"))


def runs(op: Any, torch: Any) -> bool:
    """Whether glasstorch computes OpInfo's first sample of an operator on the device."""
    dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
    if dtype in op.dtypes:
        with suppress(Exception):  # what glasstorch has not, and what OpInfo warns of
            sample = next(iter(op.sample_inputs_func(op, "cpu", dtype, False)))
            function = counterpart(op.op, torch)
            Call(glasstorch, sample, torch, device="cuda").run(function)
            return function is not op.op
    return False


def test_no_operator_that_runs_is_left_out(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    listed = {*THIN, *MORE, *IN_PART}
    left_out = {name: op for name, op in database(torch).items() if name not in listed and not IN_A_SPACE.match(name)}
    assert [name for name, op in left_out.items() if runs(op, torch)] == []


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("name", IN_PART)
def test_what_runs_in_part_really_does_not_pass(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    with pytest.raises((AssertionError, MissingKernelError, DtypeError, DtypeNotImplementedError)):
        check_samples(name, torch, MOST)
