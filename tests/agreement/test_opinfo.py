"""Does every operator of these areas do what PyTorch's does, on samples of PyTorch's own database?

A few samples of each entry in each dtype are tried by `make test`, all of them by `make test-all`. Compared are
results, dtypes, sizes, changes of the arguments, sharing of memory, gradients; methods, in-place and out= forms,
aliases; the class of the exception where PyTorch refuses. Values may differ by 20 times PyTorch's usual tolerances
(opinfo.TOLERANCES). What does not agree is a line of `opinfo_exceptions.txt` with its reason, and must not agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.agreement.opinfo import (
    AREAS,
    Call,
    builtin,
    compare,
    counterpart,
    database,
    entries,
    exceptions,
    is_plain,
    leaves,
    samples_of,
)

OPERATORS = (
    *("pointwise unary", "pointwise binary", "pointwise other", "reductions", "indexing", "scans and statistics"),
    *("sort and search", "linalg", "special", "fft", "masked", "signal.windows"),
)
ENTRIES = entries(OPERATORS)
EXCEPTIONS = dict(exceptions())
CHECKS = ("results", "all", "forms", "errors", "second")  # "all" is for results that differ for some samples only
SAMPLES = {"float32": 2, "float64": 2, "int64": 2, "bool": 1, "complex64": 1, "float16": 1, "bfloat16": 1}
HALF = ("float16", "bfloat16")
FAULTS = (AssertionError, RuntimeError, TypeError, ValueError, LookupError, AttributeError, pytest.fail.Exception)

Require = Callable[[str], Any]
Check = Callable[[Any, Any, Any, int | None], None]


def hold(check: str, run: Check, name: str, torch: Any, most: int | None) -> None:
    """Run a check of an entry; one that is listed as an exception must fail."""
    entry = database(torch)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if (name, check) in EXCEPTIONS:
            with pytest.raises(FAULTS):
                run(entry, counterpart(entry.op, torch), torch, most)
        else:
            run(entry, counterpart(entry.op, torch), torch, most)


# Results and gradients -------------------------------------------------------------------------------------------


def check_results(entry: Any, function: Any, torch: Any, most: int | None) -> None:
    """What comes out of the samples, and the gradients."""
    for dtype, count in SAMPLES.items():
        for sample in samples_of(entry, getattr(torch, dtype), torch, count if most else None):
            check_sample(entry, function, sample, torch)


def check_sample(entry: Any, function: Any, sample: Any, torch: Any) -> None:
    """Everything that can be seen of one call."""
    what = f"{entry.name}, {sample.summary()[:300]}"
    wanted = Call(torch, sample, torch, grad=True)
    wanted.run(entry.op)
    values = not wanted.is_random
    found = Call(glasstorch, sample, torch, grad=True).run(function)
    process = sample.output_process_fn_grad, counterpart(sample.output_process_fn_grad, torch)
    compare_outputs(found, wanted, process, values, torch, what)
    if values:
        compare(found.inputs, wanted.inputs, torch, f"arguments afterwards, {what}")
    assert sharing(found) == sharing(wanted), what
    for mine, theirs, shared in zip(tensors(found), tensors(wanted), sharing(wanted), strict=True):
        assert mine.requires_grad == theirs.requires_grad, what
        if set(shared) != {"apart"} and theirs.numel():
            assert (strides(mine), mine.storage_offset()) == (strides(theirs), theirs.storage_offset()), what
    if values:
        compare_gradients(found, wanted, process, torch, what)


def compare_outputs(found: Call, wanted: Call, process: Any, values: bool, torch: Any, what: str) -> None:
    """Compare results as they are or, where they are unique up to signs only, what OpInfo makes of them."""
    try:
        compare(found.out, wanted.out, torch, what, values)
    except AssertionError:
        theirs = process[0](wanted.out)
        if theirs is wanted.out:
            raise
        compare(found.out, wanted.out, torch, what, values=False)
        compare(process[1](found.out), theirs, torch, what)


def compare_gradients(found: Call, wanted: Call, process: Any, torch: Any, what: str) -> None:
    """The gradients of all inputs that require one, for fixed gradients of the outputs."""
    theirs = [t for t in leaves(process[0](wanted.out)) if isinstance(t, torch.Tensor)]
    places = [i for i, t in enumerate(theirs) if t.requires_grad]
    if not places:
        return
    seeds = [cotangent(theirs[i]) for i in places]
    try:
        torch.autograd.backward(
            [theirs[i] for i in places],
            [torch.from_numpy(s).to(theirs[i].dtype) for i, s in zip(places, seeds, strict=True)],
        )
    except (RuntimeError, NotImplementedError):
        return  # PyTorch has no gradient there
    mine = [t for t in leaves(process[1](found.out)) if isinstance(t, glasstorch.Tensor)]
    glasstorch.autograd.backward(
        [mine[i] for i in places],
        [glasstorch.from_numpy(s).to(mine[i].dtype) for i, s in zip(places, seeds, strict=True)],
    )
    pairs = [(a.grad, b.grad) for a, b in zip(found.inputs, wanted.inputs, strict=True) if a.is_leaf]
    assert [a is None for a, _ in pairs] == [b is None for _, b in pairs], f"gradients, {what}"
    given = [(a, b) for a, b in pairs if b is not None]
    compare([a for a, _ in given], [b for _, b in given], torch, f"gradients, {what}")


def cotangent(result: Any) -> Any:
    """The gradient of a result: numbers that differ from place to place."""
    angles = np.arange(result.numel()).reshape(tuple(result.shape)) * 0.7
    return np.asarray(np.exp(1j * angles) if result.is_complex() else np.cos(angles))


def tensors(call: Call) -> list[Any]:
    """The tensors of a result."""
    return [value for value in leaves(call.out) if isinstance(value, call.library.Tensor)]


def sharing(call: Call) -> list[list[str]]:
    """Whether each result is each of the arguments, lies in the same memory, or apart."""

    def memory(tensor: Any) -> int:
        storage = tensor.untyped_storage()
        return storage.data_ptr() if storage.nbytes() else 0

    return [
        ["same" if o is x else "shared" if memory(o) and memory(o) == memory(x) else "apart" for x in call.inputs]
        for o in tensors(call)
    ]


def strides(tensor: Any) -> list[int]:
    """The strides that matter: those of dimensions of two or more elements."""
    return [s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


# Methods, in-place and out= forms --------------------------------------------------------------------------------


def forms_of(entry: Any) -> set[Any]:
    """The method and the in-place form of an entry, and all that it is called under other names."""
    forms = {entry.get_method(), entry.get_inplace()}
    for alias in entry.aliases:
        forms |= {alias.op, alias.method_variant, alias.inplace_variant}
    return forms - {None, entry.op}


def check_forms(entry: Any, function: Any, torch: Any, most: int | None) -> None:
    """The method, the in-place and the out= form, and the aliases, do what PyTorch's do, failing included."""
    for dtype in ("float32", "int64"):
        samples = samples_of(entry, getattr(torch, dtype), torch, most, grad=False)
        for form in forms_of(entry):
            ours = counterpart(form, torch)
            for sample in samples:
                if isinstance(sample.input, torch.Tensor):
                    check_form(form, ours, sample, torch)
        for sample in samples if entry.supports_out else ():
            check_out(entry, function, sample, torch)


def check_form(theirs: Any, ours: Any, sample: Any, torch: Any) -> None:
    """One call by another name."""
    what = f"{getattr(theirs, '__name__', theirs)}, {sample.summary()[:300]}"
    wanted, refused = attempt(torch, theirs, sample, torch)
    if refused:
        with pytest.raises(builtin(refused)):
            Call(glasstorch, sample, torch).run(ours)
        return
    found = Call(glasstorch, sample, torch).run(ours)
    compare(found.out, wanted.out, torch, what, not wanted.is_random)
    assert sharing(found) == sharing(wanted), what


def check_out(entry: Any, function: Any, sample: Any, torch: Any) -> None:
    """Tensors of the right sizes and dtypes are written to and returned."""
    plain, refused = attempt(torch, entry.op, sample, torch)
    if refused or not tensors(plain) or len(tensors(plain)) != len(leaves(plain.out)):
        return
    wanted, mine = Call(torch, sample, torch), Call(glasstorch, sample, torch)
    zeros = [torch.zeros_like(o) for o in tensors(plain)]
    outs = [[call.converted(z) for z in zeros] for call in (wanted, mine)]
    single = isinstance(plain.out, torch.Tensor) or len(zeros) == 1
    try:
        wanted.run(entry.op, out=outs[0][0] if single else tuple(outs[0]))
    except (RuntimeError, TypeError, ValueError):
        return  # some samples have no such form
    mine.run(function, out=outs[1][0] if single else tuple(outs[1]))
    what = f"{entry.name} with out=, {sample.summary()[:300]}"
    process = sample.output_process_fn_grad, counterpart(sample.output_process_fn_grad, torch)
    compare_outputs(mine, wanted, process, True, torch, what)
    for call, given in ((wanted, outs[0]), (mine, outs[1])):
        assert [a is b for a, b in zip(tensors(call), given, strict=True)] == [True] * len(zeros), what


def attempt(library: Any, function: Any, sample: Any, torch: Any) -> tuple[Call, Exception | None]:
    """A call, and how it was refused if it was."""
    call = Call(library, sample, torch)
    try:
        return call.run(function), None
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError) as error:
        return call, error


# Refusals --------------------------------------------------------------------------------------------------------


def check_errors(entry: Any, function: Any, torch: Any, most: int | None) -> None:
    """Every error input that PyTorch refuses is refused with the same class of exception, and in words."""
    for error in entry.error_inputs_func(entry, "cpu"):
        if not is_plain(error.sample_input, torch):
            continue
        _, refused = attempt(torch, entry.op, error.sample_input, torch)
        if refused is not None:
            with pytest.raises(builtin(refused), match=r"\w"):
                Call(glasstorch, error.sample_input, torch).run(function)


# The tests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENTRIES)
def test_results_and_gradients(name: str, require: Require) -> None:
    hold("results", check_results, name, require("torch"), 1)


@pytest.mark.parametrize("name", ENTRIES)
def test_methods_and_in_place_and_out_forms(name: str, require: Require) -> None:
    hold("forms", check_forms, name, require("torch"), 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_all_results_and_gradients(name: str, require: Require) -> None:
    hold("results" if (name, "results") in EXCEPTIONS else "all", check_results, name, require("torch"), None)


@pytest.mark.parametrize("name", ENTRIES)
def test_what_pytorch_refuses_is_refused(name: str, require: Require) -> None:
    torch = require("torch")
    if database(torch)[name].error_inputs_func is not None:
        hold("errors", check_errors, name, torch, None)


def test_every_exception_is_of_an_entry_and_a_check() -> None:
    known = {name for names in AREAS.values() for name in names}
    assert [line for line in EXCEPTIONS if line[0] not in known or line[1] not in CHECKS] == []
    assert all(EXCEPTIONS.values())
    lines = [entry_and_check for entry_and_check, _ in exceptions()]
    assert lines == sorted(set(lines))
