"""Does each decomposition compute what its operator's kernel does, of simpler operators?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from glasstorch import _decomp
from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch.compiler.decompositions.table import CORE, FORM_OF
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.fx.experimental.proxy_tensor import make_fx
from tests.agreement.samples import Call, Row, arrays, in_library, tensors_in
from tests.agreement.table import ROWS

Require = Callable[[str], Any]
TABLE = _decomp.decomposition_table
CORE_TABLE = _decomp._core_aten_decompositions_post_autograd()
DECOMPOSED = {op.name.removeprefix("aten::") for op in TABLE}
TOLERANCES = {
    "float16": (2e-3, 2e-3),
    "bfloat16": (2e-2, 2e-2),
    "float32": (1e-4, 1e-5),
    "complex64": (1e-4, 1e-5),
    "float64": (1e-7, 1e-8),
    "complex128": (1e-7, 1e-8),
}
# Their results are random, or whatever was in memory.
UNKNOWN_ELEMENTS = ("new_empty",)


def packet(library: Any, name: str) -> Any:
    base, _, overload = name.partition(".")
    return getattr(getattr(library.ops.aten, base), overload or "default")


def tensors(value: Any) -> list[Any]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, glasstorch.Tensor)]


def copied(value: Any) -> Any:
    """A copy with the same strides."""
    if not isinstance(value, glasstorch.Tensor):
        return value
    return glasstorch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value.detach())


class Compared(TorchDispatchMode):
    """While it is on, each operator that has a decomposition is computed by it too, and the results are compared."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        if func not in TABLE:
            return func(*args, **named)
        name = func.name.removeprefix("aten::")
        self.seen.add(name)
        writes = any(argument.type.is_write for argument in func.schema.arguments) or "batch_norm" in name
        given, given_named = tree_map(copied, (args, named)) if writes else (args, named)
        found, wanted = TABLE[func](*given, **given_named), func(*args, **named)
        what = f"{name}: {[getattr(one, 'shape', one) for one in args]} {named}"
        ours, theirs = (tree_leaves(one, is_leaf=lambda leaf: leaf is None) for one in (found, wanted))
        for one, other in zip(ours, theirs, strict=True):
            if other is None:
                assert one is None, what
                continue
            assert one.dtype is other.dtype, what
            assert one.shape == other.shape, what
            if other.numel() > 1:
                assert one.stride() == other.stride(), what
            rtol, atol = TOLERANCES.get(other.dtype.name, (0, 0))
            if name not in UNKNOWN_ELEMENTS:
                assert glasstorch.allclose(one.detach(), other.detach(), rtol, atol, equal_nan=True), what
        for one, other in zip(tensors((given, given_named)), tensors((args, named)), strict=True):
            assert glasstorch.allclose(one.detach(), other.detach(), 2e-2, 2e-2, equal_nan=True), f"{what}: a write"
        return wanted


def run_with_gradients(row: Row, call: Call, run: str) -> None:
    """Call the operator, and its backward pass where it has one."""
    args, kwargs = in_library(glasstorch, call, arrays(row, call, run))
    reads = not any(argument.type.is_write for argument in packet(glasstorch, row.op).schema.arguments)
    for tensor, spec in zip(tensors((args, kwargs)), tensors_in(call), strict=True):
        if reads and row.differentiable and spec.grad and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            tensor.requires_grad_()
    found = packet(glasstorch, row.op)(*args, **kwargs)
    wanted = [one for one in tensors(found) if one.requires_grad]
    if wanted:
        glasstorch.autograd.backward(wanted, [glasstorch.ones_like(one) for one in wanted])


def runs(row: Row, every: bool) -> Iterator[tuple[Call, str]]:
    for i, call in enumerate(row.calls):
        dtypes = [one for one in call.dtypes or row.dtypes if one in row.dtypes]
        kept = dtypes if every else dtypes[i % len(dtypes) :][:1] if dtypes else []
        yield from ((call, one) for one in kept)


# Rows whose gradients have decompositions are rows of operators of their own too.
TESTED = [row for row in ROWS if row.op in DECOMPOSED or row.op.replace("_loss", "_loss_backward") in DECOMPOSED]
# Gradients that no row calls by themselves, by an operator that has them
BY_GRADIENT = ("layer_norm", "group_norm", "batch_norm", "embedding", "prelu", "softmax.int", "log_softmax.int", "gelu")


@pytest.mark.parametrize("row", TESTED, ids=lambda row: row.op)
def test_a_decomposition_computes_what_its_kernel_does(row: Row) -> None:
    with Compared() as mode:
        for call, run in runs(row, every=False):
            run_with_gradients(row, call, run)
    assert mode.seen


@pytest.mark.slow  # every dtype of every call of the whole table, which takes half a minute
def test_so_it_does_for_all_calls_of_all_operators() -> None:
    with Compared() as mode:
        for row in ROWS:
            for call, run in runs(row, every=True):
                run_with_gradients(row, call, run)
    functional = {name for name in DECOMPOSED if name not in FORM_OF}
    # those that the two functional forms of batch norm are called for below
    assert functional - mode.seen <= {
        "_native_batch_norm_legit_functional",
        "_batch_norm_with_update_functional",
        "prelu",
    }


def test_the_gradients_of_layers() -> None:
    with Compared() as mode:
        for row in ROWS:
            if row.op in BY_GRADIENT:
                for call, run in runs(row, every=False):
                    run_with_gradients(row, call, run)
    assert {"native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward"} <= mode.seen
    assert {"embedding_dense_backward", "_prelu_kernel_backward", "_softmax_backward_data"} <= mode.seen


@pytest.mark.parametrize("training", [True, False])
def test_functional_batch_norm(training: bool) -> None:
    x, weight = glasstorch.arange(24.0).view(2, 3, 4).sin(), glasstorch.tensor([1.0, 2.0, 3.0])
    mean, var = glasstorch.zeros(3), glasstorch.ones(3)
    aten = glasstorch.ops.aten
    with Compared() as mode:
        aten._native_batch_norm_legit_functional(x, weight, weight, mean, var, training, 0.1, 1e-5)
        if training:
            aten._batch_norm_with_update_functional(x, weight, weight, mean, var, 0.1, 1e-5)
    assert len(mode.seen) >= 1 + training
    assert mean.tolist() == [0, 0, 0]


def test_prelu_is_decomposed_above_its_kernel() -> None:
    x, weight = glasstorch.arange(-6.0, 6).view(2, 3, 2), glasstorch.tensor([0.5, 0.25, 2.0])
    found = TABLE[glasstorch.ops.aten.prelu.default](x, weight)
    assert glasstorch.equal(found, glasstorch.prelu(x, weight))


# What a trace holds ---------------------------------------------------------------------------------------------------


def traced(library: Any, name: str, call: Call, row: Row, run: str, table: Any) -> list[Any]:
    """The operators in the trace of a call."""
    args, kwargs = in_library(library, call, arrays(row, call, run))
    fx = import_module(f"{library.__name__}.fx.experimental.proxy_tensor")
    function = packet(library, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = fx.make_fx(lambda given, named: function(*given, **named), table)(args, kwargs)
    return [node.target for node in module.graph.nodes if hasattr(node.target, "_schema")]


def first_run(row: Row) -> tuple[Call, str]:
    call = row.calls[0]
    dtypes = [one for one in call.dtypes or row.dtypes if one in row.dtypes]
    return call, "float32" if "float32" in dtypes else dtypes[0]


def test_xlogy_is_zero_at_zero_and_keeps_nan() -> None:
    x = glasstorch.tensor([0.0, 0.0, 2.0, float("nan"), 0.0])
    y = glasstorch.tensor([0.0, float("inf"), 1.0, 1.0, float("nan")])
    xlogy = TABLE[glasstorch.ops.aten.xlogy.Tensor]
    assert xlogy(x, y).isnan().tolist() == [False, False, False, True, True]
    assert xlogy(x, y)[:3].tolist() == [0.0, 0.0, 0.0]
    assert xlogy(glasstorch.tensor([2]), glasstorch.tensor([1])).dtype is glasstorch.float32


# What is left beside core operators: nothing decomposes them, in PyTorch's table either
LEFT = ("erfc", "exp2", "lgamma", "linalg_vector_norm", "special_erfcx", "unfold")


def test_a_core_trace_holds_core_operators_and_writes_to_nothing() -> None:
    others = set()
    for row in ROWS:
        if row.op in CORE:
            call, run = first_run(row)
            for target in traced(glasstorch, row.op, call, row, run, CORE_TABLE):
                assert not any(argument.type.is_write for argument in target.schema.arguments), (row.op, target)
                if glasstorch.Tag.core not in target.tags:
                    others.add(target.schema.name)
    assert others == set(LEFT)


# Their traces hold another core operator than PyTorch's do: `any` for `any.dims`, `full` for `scalar_tensor`, `minimum`
# for `clamp`, the formula of the kernel in place of another one.
WRITTEN_OTHERWISE = {
    "_prelu_kernel_backward",
    "_safe_softmax",
    "_scaled_dot_product_flash_attention_for_cpu",
    "addr",
    "all",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "clamp_max.Tensor",
    "clamp_min.Tensor",
    "diag_embed",
    "embedding_dense_backward",
    "eye",
    "eye.m",
    "glu",
    "glu_backward",
    "heaviside",
    "huber_loss",
    "isin.Scalar_Tensor",
    "isin.Tensor_Tensor",
    "lerp.Tensor",
    "log_sigmoid_forward",
    "logaddexp",
    "logaddexp2",
    "multi_margin_loss",
    "nll_loss2d_forward",
    "nll_loss_forward",
    "nll_loss_backward",
    "nll_loss2d_backward",
    "reflection_pad1d_backward",
    "reflection_pad2d_backward",
    "reflection_pad3d_backward",
    "silu",
    "softplus",
    "softshrink",
    "stack",
    "std_mean.correction",
    "tril",
    "triu",
    "unbind.int",
}


def test_a_trace_holds_only_what_pytorchs_holds(require: Require) -> None:
    torch = require("torch")
    theirs, ours = torch._decomp._core_aten_decompositions_post_autograd(), CORE_TABLE
    checked, otherwise = 0, set()
    for row in ROWS:
        if row.op not in CORE or not row.in_torch or packet(torch, row.op) not in theirs:
            continue
        call, run = first_run(row)
        wanted, held = (
            {str(target).removeprefix("aten.").replace("_unsafe_index", "index") for target in targets}
            for targets in (
                traced(torch, row.op, call, row, run, theirs),
                traced(glasstorch, row.op, call, row, run, ours),
            )
        )
        checked += 1
        if not held <= wanted:
            otherwise.add(row.op)
    assert otherwise == WRITTEN_OTHERWISE
    assert checked > 150


# The table ------------------------------------------------------------------------------------------------------------


def test_decompositions_are_found_by_operator_or_by_all_its_overloads() -> None:
    aten = glasstorch.ops.aten
    found = _decomp.get_decompositions([aten.mse_loss, aten.lerp.Tensor, aten.exp])
    assert set(found) == {aten.mse_loss.default, aten.mse_loss.out, aten.lerp.Tensor}
    table = dict(found)
    _decomp.remove_decompositions(table, [aten.mse_loss])
    assert list(table) == [aten.lerp.Tensor]


def test_a_program_registers_its_own(torch: Any) -> None:
    table: dict[Any, Any] = {}

    @torch._decomp.register_decomposition(torch.ops.aten.exp.default, table)
    def powers(x: Any) -> Any:
        return torch.pow(2.718281828459045, x)

    make = import_module(f"{torch.__name__}.fx.experimental.proxy_tensor").make_fx
    module = make(lambda x: x.exp(), decomposition_table=table)(torch.ones(2))
    assert "aten.pow.Scalar(2.718281828459045, x_1)" in module.code
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.exp\.default"):
        torch._decomp.register_decomposition(torch.ops.aten.exp.default, table)(powers)
    with pytest.raises(AssertionError, match="type must be one of post_autograd, pre_autograd, or meta, got late"):
        torch._decomp.register_decomposition(torch.ops.aten.exp, type="late")


def test_a_form_writes_what_its_operator_gives(torch: Any) -> None:
    table = torch._decomp.get_decompositions([torch.ops.aten.leaky_relu_, torch.ops.aten.silu])
    make = import_module(f"{torch.__name__}.fx.experimental.proxy_tensor").make_fx

    def function(x: Any) -> Any:
        torch.nn.functional.leaky_relu_(x)
        return torch.ops.aten.silu.out(x, out=torch.empty(0))

    x, other = torch.tensor([-1.0, 2.0]), torch.tensor([-1.0, 2.0])
    module = make(function, table)(torch.tensor([-1.0, 2.0]))
    assert "leaky_relu_" not in module.code
    assert "silu" not in module.code
    torch.testing.assert_close(module(x), function(other))
    assert x.tolist() == other.tolist()


def test_all_core_decompositions_hold_what_is_composed_anyway() -> None:
    table = _decomp.core_aten_decompositions()
    assert glasstorch.ops.aten.linear.default in table
    assert glasstorch.ops.aten.add.Tensor not in table
    module = make_fx(lambda x: glasstorch.ops.aten.linear(x, x), table)(glasstorch.ones(2, 2))
    assert "aten.mm.default" in module.code
