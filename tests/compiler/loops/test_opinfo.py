"""Do compiled loops give what the graph gives, for every operator of PyTorch's own database, forward and backward?

Each entry is compiled as one function of its sample's tensors: once to graphs that are run node by node, once to loops.
That the graphs are right is for the tests of aot; what they draw at random is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.compiler.aot import compile_flat
from glasstorch.compiler.boxed import make_boxed_func
from glasstorch.compiler.loops.backend import compile_fx_inner, decompositions, smallest_cut
from tests.agreement.opinfo import Call, counterpart, database, leaves, samples_of
from tests.agreement.test_opinfo import ENTRIES
from tests.compiler.test_opinfo import DEPENDS_ON_ELEMENTS, REFUSED

DTYPES = ("float32", "float64", "bfloat16", "int64", "bool")
TOLERANCE = {"bfloat16": 2e-2}  # loops round after each operator too, but some are computed in other steps
UNDEFINED = ("empty", "resize")  # the elements of what these give are whatever was in memory
CHOSEN = ("add", "softmax", "nn.functional.layer_norm", "var_mean", "logsumexp", "where", "nn.functional.gelu", "amax")

NO_GRAPH = {*DEPENDS_ON_ELEMENTS, *REFUSED}  # what graphs cannot hold

Run = Callable[..., Any]


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_entries(name: str, require: Callable[[str], Any]) -> None:
    check(name, require("torch"), ("float32",))


@pytest.mark.slow  # some thousand compilations
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry(name: str, require: Callable[[str], Any]) -> None:
    check(name, require("torch"), DTYPES)


def check(name: str, torch: Any, dtypes: tuple[str, ...]) -> None:
    if any(word in name for word in UNDEFINED):
        return
    entry = database(torch)[name]
    for dtype in dtypes:
        for sample in samples_of(entry, getattr(torch, dtype), torch, 1):
            call = Call(glasstorch, sample, torch, grad=True)
            if not (program := function_of(call, counterpart(entry.op, torch))):
                continue
            wanted = results(program, call.inputs, node_by_node)
            if wanted is None:
                assert name in NO_GRAPH or not runs(program, call.inputs), f"{name}, {dtype} has no graph"
            else:
                found = results(program, call.inputs, compile_fx_inner)
                assert found is not None
                compare(found, wanted, TOLERANCE.get(dtype, 1e-4), f"{name}, {dtype}")


def runs(program: Run, tensors: list[Any]) -> bool:
    """Whether eager mode gives results, and gradients where there are some."""
    try:
        differentiable = [one for one in program(*tensors) if one.requires_grad and one.is_floating_point()]
        sources = [tensor for tensor in tensors if tensor.requires_grad]
        if differentiable and sources:
            ones = [glasstorch.ones_like(one).detach() for one in differentiable]
            glasstorch.autograd.grad(differentiable, sources, ones, allow_unused=True)
    except Exception:  # noqa: BLE001  # an operator refuses a dtype, or has no gradient
        return False
    return True


def node_by_node(module: Any, examples: Any) -> Run:
    return make_boxed_func(module.forward)


def function_of(call: Call, function: Run) -> Run | None:
    """The entry's function of its sample's tensors alone; None if two of them are the same."""
    places = {id(tensor): i for i, tensor in enumerate(call.inputs)}
    if len(places) != len(call.inputs):
        return None

    def program(*given: Any) -> list[Any]:
        def put(value: Any) -> Any:
            if type(value) in (list, tuple):
                return type(value)(put(one) for one in value)
            return given[places[id(value)]] if id(value) in places else value

        result = function(*put(tuple(call.args)), **{key: put(value) for key, value in call.kwargs.items()})
        return [leaf for leaf in leaves(result) if isinstance(leaf, glasstorch.Tensor)]

    return program


def results(program: Run, tensors: list[Any], compiler: Run) -> list[Any] | None:
    """What the compiled program gives, with the gradients of its sum; None for what has no graph."""
    try:
        glasstorch.manual_seed(0)
        program(*tensors)
        run = compile_flat(program, tensors, compiler, compiler, smallest_cut, decompositions())
        glasstorch.manual_seed(0)
        given = run(tensors)
    except Exception:
        if compiler is not node_by_node:
            raise
        return None
    differentiable = [one for one in given if one.requires_grad and one.is_floating_point()]
    sources = [tensor for tensor in tensors if tensor.requires_grad]
    if not differentiable or not sources:
        return given
    ones = [glasstorch.ones_like(one).detach() for one in differentiable]
    try:
        gradients = glasstorch.autograd.grad(differentiable, sources, ones, allow_unused=True)
    except Exception:
        if compiler is not node_by_node:
            raise
        return None
    return [*given, *gradients]


def compare(found: list[Any], wanted: list[Any], tolerance: float, what: str) -> None:
    for one, other in pairs(found, wanted):
        assert one.dtype is other.dtype, what
        assert one.stride() == other.stride() or not other.numel(), what
        inexact = other.dtype.is_floating_point or other.dtype.is_complex
        least = tolerance if inexact else 0.0
        glasstorch.testing.assert_close(one.detach(), other.detach(), rtol=least, atol=least, equal_nan=True)


def pairs(found: list[Any], wanted: list[Any]) -> Iterator[tuple[Any, Any]]:
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        if other is not None:
            yield one, other
