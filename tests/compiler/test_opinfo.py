"""Does each operator of PyTorch's own database give compiled what it gives in eager mode, and so do its gradients?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._decomp import _core_aten_decompositions_post_autograd
from glasstorch._functorch.aot_autograd import aot_function, make_boxed_compiler
from glasstorch._functorch.partitioners import min_cut_rematerialization_partition
from tests.agreement.opinfo import Call, counterpart, database, leaves, samples_of

Require = Callable[[str], Any]
# One sample of each entry is compiled for each of these, where the entry has the dtype.
DTYPES = ("float32", "float64", "bfloat16", "complex64", "int64", "bool")
EVERY = 25  # entry, of which the normal run compiles one sample of float32

# What a graph cannot hold: sizes or numbers that depend on elements. PyTorch's aot_function refuses the same entries.
DEPENDS_ON_ELEMENTS = {
    "allclose",
    "argwhere",
    "bincount",
    "combinations",
    "equal",
    "index_fill",
    "istft",
    "item",
    "linalg.lstsq",
    "linalg.lstsq:grad_oriented",
    "masked_select",
    "narrow",
    "nn.functional.ctc_loss",
    "nn.functional.gaussian_nll_loss",
    "nn.functional.one_hot",
    "nonzero",
    "unique",
    "unique_consecutive",
}
REFUSED = {
    "to_sparse": "as in PyTorch, there is no fake kernel that makes a sparse tensor",
    "nn.functional.linear_cross_entropy:chunked_none": "in half precision a part of a tensor is written to that is new",
    "histogramdd": "the edges of the bins depend on elements, and have no fake kernel",
}
# Where these compile all the same.
COMPILED = {
    "index_fill": ("int64", "bool"),
    "nn.functional.linear_cross_entropy:chunked_none": ("float32", "float64"),
}
REFUSALS = (
    "DataDependentOutput",
    "DynamicOutputShape",
    "UnsupportedOperator",
    "RuntimeError: mutating a non-functional",
)
# Their elements are drawn at random in another order, or not initialised.
RANDOM = (
    "bernoulli",
    "cauchy",
    "dropout",
    "empty",
    "exponential",
    "feature_alpha",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rrelu",
    "uniform",
)
ERRORS = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError)


def entries(torch: Any) -> dict[str, Any]:
    return database(torch)


def tensors(value: Any) -> list[Any]:
    return [leaf for leaf in leaves(value) if isinstance(leaf, glasstorch.Tensor)]


def gradients(results: list[Any], inputs: list[Any]) -> list[Any]:
    wanted = [one for one in results if one.requires_grad]
    sums = [one.sum().abs() if one.dtype.is_complex else one.sum() for one in wanted]
    given = [one for one in inputs if one.requires_grad and one.is_leaf]
    return list(glasstorch.autograd.grad(sums, given, allow_unused=True)) if sums and given else []


def replaced(value: Any, by: dict[int, Any]) -> Any:
    """The value with other tensors in the place of some."""
    if isinstance(value, glasstorch.Tensor):
        return by.get(id(value), value)
    if isinstance(value, dict):
        return {name: replaced(one, by) for name, one in value.items()}
    return type(value)(replaced(one, by) for one in value) if type(value) in (list, tuple) else value


def outcome(torch: Any, name: str, entry: Any, dtype: str, options: dict[str, Any]) -> str:
    """What came of compiling one sample: "none", "eager refuses", "same", or the error."""
    try:
        function = counterpart(entry.op, torch)
    except AttributeError:
        return "none"
    samples = samples_of(entry, getattr(torch, dtype), torch, most=1)
    if not samples:
        return "none"
    eager = Call(glasstorch, samples[0], torch, grad=True)
    try:
        eager.run(function)
        expected = tensors(eager.out)
        theirs = gradients(expected, eager.inputs)
    except ERRORS:
        return "eager refuses"
    compiled = Call(glasstorch, samples[0], torch, grad=True)
    inputs = compiled.inputs

    def of_tensors(given: list[Any]) -> Any:
        by = dict(zip(map(id, inputs), given, strict=True))
        return function(*replaced(compiled.args, by), **replaced(compiled.kwargs, by))

    glasstorch.default_generator.manual_seed(0)
    try:
        found = tensors(aot_function(of_tensors, **options)(list(inputs)))
        ours = gradients(found, inputs)
    except ERRORS as error:
        return f"{type(error).__name__}: {error}"
    is_random = any(word in name for word in RANDOM)
    for one, other in [*zip(found, expected, strict=True), *zip(ours, theirs, strict=True)]:
        if one is None or other is None:
            assert one is other or not (other if one is None else one).any(), name
            continue
        assert (one.shape, one.dtype) == (other.shape, other.dtype), name
        if not is_random:
            glasstorch.testing.assert_close(one.detach(), other.detach(), equal_nan=True, **closeness(one))
    assert [one.requires_grad for one in found] == [one.requires_grad for one in expected], name
    return "same"


def closeness(tensor: Any) -> dict[str, float]:
    if tensor.dtype is glasstorch.bfloat16:
        return {"rtol": 5e-2, "atol": 5e-2}
    return {"rtol": 1e-3, "atol": 1e-3} if tensor.dtype.is_floating_point or tensor.dtype.is_complex else {}


def check(torch: Any, name: str, entry: Any, dtype: str, options: dict[str, Any]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome(torch, name, entry, dtype, options)
    is_refused = (name in DEPENDS_ON_ELEMENTS or name in REFUSED) and dtype not in COMPILED.get(name, ())
    if found not in ("none", "eager refuses"):
        assert found.startswith(REFUSALS) if is_refused else found == "same", f"{name} of {dtype}: {found}"
    return found


def boxed() -> dict[str, Any]:
    compiler = make_boxed_compiler(lambda module, inputs: module)
    return {
        "fw_compiler": compiler,
        "bw_compiler": compiler,
        "partition_fn": min_cut_rematerialization_partition,
        "decompositions": _core_aten_decompositions_post_autograd(),
    }


def test_some_entries_are_the_same_compiled(require: Require) -> None:
    torch = require("torch")
    found = [check(torch, name, entry, "float32", boxed()) for name, entry in list(entries(torch).items())[7::EVERY]]
    assert found.count("same") > 20


def test_what_a_graph_cannot_hold_is_refused(require: Require) -> None:
    torch = require("torch")
    for name in (*DEPENDS_ON_ELEMENTS, *REFUSED):
        tried = [check(torch, name, entries(torch)[name], dtype, boxed()) for dtype in ("float32", "bfloat16", "int64")]
        assert any(found.startswith(REFUSALS) for found in tried) or name == "istft", name


@pytest.mark.slow  # every entry of the database, compiled forward and backward: about half a minute for each dtype
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_entry_is_the_same_compiled(require: Require, dtype: str) -> None:
    torch = require("torch")
    wrong: list[str] = []
    counts: dict[str, int] = {}
    for name, entry in entries(torch).items():
        try:
            found = check(torch, name, entry, dtype, boxed())
        except AssertionError as error:
            wrong.append(f"{name}: {error}"[:300])
            found = "wrong"
        kind = found if found in ("none", "eager refuses", "same", "wrong") else "refused by name"
        counts[kind] = counts.get(kind, 0) + 1
    print(dtype, counts)
    assert wrong == []
