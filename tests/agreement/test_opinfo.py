"""Does every operator of these areas do what PyTorch's does, on samples of PyTorch's own database?

A few samples of each entry in each dtype are tried by `make test`, all of them by `make test-all`. Compared are
results, dtypes, sizes, changes of the arguments, sharing of memory, gradients; methods, in-place and out= forms,
aliases; the class of the exception where PyTorch refuses, and its words. Values may differ by 20 times PyTorch's usual
tolerances (opinfo.TOLERANCES). What does not agree is told by a line of `opinfo_exceptions.txt` with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.agreement.opinfo import (
    AREAS,
    Call,
    Unequal,
    compare,
    counterpart,
    database,
    entries,
    is_plain,
    leaves,
    samples_of,
)
from tests.agreement.opinfo_exceptions import CHECKS, Trial, hold, line_of, lines
from tests.refusals import builtin

OPERATORS = (
    *("pointwise unary", "pointwise binary", "pointwise other", "reductions", "indexing", "scans and statistics"),
    *("sort and search", "linalg", "special", "fft", "masked", "signal.windows", "nn.functional"),
)
ENTRIES = entries(OPERATORS)
SAMPLES = {"float32": 2, "float64": 2, "int64": 2, "bool": 1, "complex64": 1, "float16": 1, "bfloat16": 1}

Require = Callable[[str], Any]


# Results and gradients -------------------------------------------------------------------------------------------


def trials_of_results(entry: Any, torch: Any, every: bool) -> Iterator[Trial]:
    """What comes out of the samples, and the gradients."""
    function = counterpart(entry.op, torch)
    for dtype, count in SAMPLES.items():
        for sample in samples_of(entry, getattr(torch, dtype), torch, None if every else count):
            both = Both(entry, function, sample, torch)
            yield Trial("results", dtype, both.compare_results)
            yield Trial("gradients", dtype, both.compare_gradients)


class Both:
    """One call in both libraries."""

    def __init__(self, entry: Any, function: Any, sample: Any, torch: Any) -> None:
        self.function, self.torch = function, torch
        self.what = f"{entry.name}, {sample.summary()[:300]}"
        self.wanted = Call(torch, sample, torch, grad=True).run(entry.op)
        self.values = not self.wanted.is_random
        self.found = Call(glasstorch, sample, torch, grad=True)
        self.process = sample.output_process_fn_grad, counterpart(sample.output_process_fn_grad, torch)
        self.ended = False

    def compare_results(self) -> None:
        """Everything that can be seen of the call."""
        found, wanted, torch, what = self.found, self.wanted, self.torch, self.what
        found.run(self.function)
        self.ended = True
        compare_outputs(found, wanted, self.process, self.values, torch, what)
        if self.values:
            compare(found.inputs, wanted.inputs, torch, f"arguments afterwards, {what}")
        assert sharing(found) == sharing(wanted), what
        for mine, theirs, shared in zip(tensors(found), tensors(wanted), sharing(wanted), strict=True):
            assert mine.requires_grad == theirs.requires_grad, what
            if set(shared) != {"apart"} and theirs.numel():
                assert (strides(mine), mine.storage_offset()) == (strides(theirs), theirs.storage_offset()), what

    def compare_gradients(self) -> None:
        """The gradients, where the call ended and is not random."""
        if self.values and self.ended:
            compare_gradients(self.found, self.wanted, self.process, self.torch, self.what)


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


def trials_of_forms(entry: Any, torch: Any, every: bool) -> Iterator[Trial]:
    """The method, the in-place and the out= form, and the aliases, do what PyTorch's do, failing included."""
    function = counterpart(entry.op, torch)
    for dtype in ("float32", "int64"):
        samples = samples_of(entry, getattr(torch, dtype), torch, None if every else 2, grad=False)
        for form in forms_of(entry):
            ours = counterpart(form, torch)
            for sample in samples:
                if isinstance(sample.input, torch.Tensor):
                    yield Trial("forms", dtype, partial(check_form, form, ours, sample, torch))
        for sample in samples if entry.supports_out else ():
            yield Trial("forms", dtype, partial(check_out, entry, function, sample, torch))


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
    compare(mine.out, wanted.out, torch, what)
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


def trials_of_refusals(entry: Any, torch: Any) -> Iterator[Trial]:
    """Every error input that PyTorch refuses is refused with the same class of exception and the same words."""
    function = counterpart(entry.op, torch)
    for error in entry.error_inputs_func(entry, "cpu") if entry.error_inputs_func else ():
        if is_plain(error.sample_input, torch):
            theirs = attempt(torch, entry.op, error.sample_input, torch)[1]
            if theirs is not None:
                ours = attempt(glasstorch, function, error.sample_input, torch)[1]
                yield Trial("refusals", "any", partial(check_class, ours, theirs))
                yield Trial("words", "any", partial(check_words, ours, theirs, error.error_regex))


def check_class(ours: Exception | None, theirs: Exception) -> None:
    """A refusal of the same class."""
    assert isinstance(ours, builtin(theirs)), f"{ours!r}, expected {theirs!r}"
    assert type(ours).__name__ == type(theirs).__name__, f"{ours!r}, expected {theirs!r}"


def check_words(ours: Exception | None, theirs: Exception, pattern: str) -> None:
    """A message that PyTorch's own test takes, and that begins as PyTorch's; more may follow."""
    if not re.search(pattern, str(ours)) or not said(ours).startswith(said(theirs)):
        raise Unequal(f"{ours!r}, expected {theirs!r}")


def said(error: Exception | None) -> str:
    """The words of an error but for the signatures that would be accepted, which PyTorch lists in another order.

    And but for an argument's position, that is counted as a method's here, however the operator was called.
    """
    return re.sub(r" \(position \d+\)", "", str(error)).partition(", but expected one of")[0]


# The tests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENTRIES)
def test_results_and_gradients(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_results(database(torch)[name], torch, every=False), every=False)


@pytest.mark.parametrize("name", ENTRIES)
def test_methods_and_in_place_and_out_forms(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_forms(database(torch)[name], torch, every=False), every=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_all_results_and_gradients(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_results(database(torch)[name], torch, every=True), every=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_all_methods_and_in_place_and_out_forms(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_forms(database(torch)[name], torch, every=True), every=True)


@pytest.mark.parametrize("name", ENTRIES)
def test_what_pytorch_refuses_is_refused(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_refusals(database(torch)[name], torch), every=True)


def test_every_exception_is_of_an_entry_and_a_check() -> None:
    known = {name for names in AREAS.values() for name in names}
    assert [line for line in lines() if line.entry not in known or line.check not in CHECKS] == []
    assert all(line.reason and line.count for line in lines())
    assert {dtype for line in lines() for dtype in line.dtypes} <= {*SAMPLES, "complex128", "any"}
    order = [(line.entry, line.check, *line.dtypes) for line in lines()]
    assert order == sorted(set(order))


def test_an_exception_excuses_its_own_fault_only() -> None:
    def unequal() -> None:
        raise Unequal

    def broken() -> None:
        raise AttributeError

    def trial(run: Callable[[], None], dtype: str = "bool") -> Trial:
        return Trial("results", dtype, run)

    def held(*trials: Trial, every: bool = True) -> None:
        hold("sort", trials, every, [line_of("sort results bool 1 Unequal: reason")])

    held(trial(unequal), trial(list))
    held(trial(list), every=False)
    for trials, fault in (
        ([trial(list)], AssertionError),
        ([trial(unequal), trial(unequal)], AssertionError),
        ([trial(broken)], AttributeError),
        ([trial(unequal, "int64")], Unequal),
    ):
        with pytest.raises(fault):
            held(*trials)
