"""Does a shortcut past the autograd kernel leave everything as the kernels themselves would?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import shortcuts
from glasstorch.core.keys import BELOW_AUTOGRAD, CPU_KEYS, below, key_set_of
from glasstorch.dispatch.active_keys import compute_keys, include
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.resolve import resolve
from glasstorch.dispatch.trace import trace
from glasstorch.nn.functional import cross_entropy, linear

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda x, y: x.abs(),
    "_softmax": lambda x, y: x.softmax(0),
    "pow.Tensor_Scalar": lambda x, y: x.pow(2),
    "sum.dim_IntList": lambda x, y: x.sum(0, keepdim=True),
    "mul.Tensor": lambda x, y: x * y,
    "add.Tensor": lambda x, y: x.add(y, alpha=2),
    "sub.Tensor": lambda x, y: x - y,
    "rsub.Scalar": lambda x, y: 1 - x,
    "pow.Scalar": lambda x, y: 2**x,
    "remainder.Scalar_Tensor": lambda x, y: 2 % (x + 1),
    "floor_divide": lambda x, y: x // (y + 1),
    "mse_loss": lambda x, y: glasstorch.nn.functional.mse_loss(x, y, reduction="none"),
    "hypot": lambda x, y: x.hypot(y),
    "mul_.Tensor": lambda x, y: x.clone().mul_(y),
    "t": lambda x, y: x.t(),
    "view": lambda x, y: x.view(6),
    "unsqueeze": lambda x, y: x.unsqueeze(1),
    "transpose.int": lambda x, y: x.transpose(0, 1),
    "slice.Tensor": lambda x, y: x[1:],
    "select.int": lambda x, y: x[1],
    "reshape": lambda x, y: x.reshape(3, 2),
    "detach": lambda x, y: x.detach(),
    "unbind.int": lambda x, y: x.unbind(1)[2],
    "linear": lambda x, y: glasstorch.nn.functional.linear(x, y, x[0, :2]),
    "cross_entropy_loss": lambda x, y: glasstorch.nn.functional.cross_entropy(x, glasstorch.tensor([2, 0])),
}
MODES = {"recording": nullcontext, "no_grad": glasstorch.no_grad, "inference": glasstorch.inference_mode}


def not_recorded() -> Any:
    """A view made in no_grad mode."""
    with glasstorch.no_grad():
        return glasstorch.arange(9.0).view(3, 3)[1:]


INPUTS: dict[str, Callable[[], Any]] = {
    "plain": lambda: glasstorch.arange(6.0).view(2, 3).clone(),
    "view": lambda: glasstorch.arange(9.0).view(3, 3)[1:],
    "view of a leaf": lambda: glasstorch.arange(9.0).view(3, 3).clone().requires_grad_()[1:],
    "view of a recorded one": lambda: (glasstorch.arange(9.0).view(3, 3).clone().requires_grad_() * 2)[1:],
    "view that requires grad": lambda: glasstorch.arange(9.0).view(3, 3)[1:].requires_grad_(),
    "view made without recording": lambda: not_recorded(),
    "one of several": lambda: glasstorch.arange(12.0).view(2, 2, 3).unbind(0)[1],
    "leaf": lambda: glasstorch.arange(6.0).view(2, 3).clone().requires_grad_(),
    "recorded": lambda: glasstorch.arange(6.0).view(2, 3).clone().requires_grad_() * 2,
}


@contextmanager
def no_shortcuts() -> Iterator[None]:
    """Every call takes every hop."""
    kept, registry.shorten = registry.shorten, None
    registry.changed()
    yield
    registry.shorten = kept
    registry.changed()


def seen(call: Callable[[Any, Any], Any], make: Callable[[], Any], mode: Callable[[], Any]) -> list[Any]:
    """Everything that can be told of a result, and of what it was computed from."""
    x, y = make(), make()
    with mode():
        z = call(x, y)
    meta = z._autograd_meta
    facts = [z.tolist(), z.stride(), z.requires_grad, z.key_set, z.is_leaf, type(z.grad_fn).__name__]
    facts += [x.untyped_storage() is z.untyped_storage(), z._base is x, z._base is not None and z._base is x._base]
    facts += [meta is None, meta and meta.made, meta and meta.seen_version, z._version_counter is x._version_counter]
    if not z.is_inference() and not z.requires_grad:
        z.add_(1)
        facts += [x._version, z._version, x.tolist()]
    return facts


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CALLS)
def test_a_shortcut_changes_nothing(name: str, mode: str) -> None:
    for make in INPUTS.values():
        short = seen(CALLS[name], make, MODES[mode])
        with no_shortcuts():
            assert seen(CALLS[name], make, MODES[mode]) == short


ROW_MAJOR: list[Callable[[Any], Any]] = [
    *(
        lambda x, shape=shape: x.view(shape)
        for shape in [(6,), (2, 3), (1, 6, 1, 1), (-1,), (2, -1), (-1, -6), (-2, -3)]
    ),
    *(lambda x, shape=shape: x.reshape(shape) for shape in [(3, 2), (-1,), (4,), (), (2, -1, 1), (-2, 1, -3), (6, -1)]),
    *(lambda x, part=part: x[part] for part in [slice(1), slice(-1, None), slice(2, 1), slice(-9, 9), slice(5, 6)]),
    lambda x: x[1:][0:][:1],
    *(
        lambda x, part=part: torch_slice(x, -1, part.start, part.stop)
        for part in [slice(1), slice(-1, None), slice(2, 1), slice(-9, 9), slice(0, None), slice(1, 2)]
    ),
    lambda x: torch_slice(torch_slice(x.mT, 1, 1, None), 0, 1, None),
    lambda x: torch_slice(x, 5, 0, 1),
    lambda x: torch_slice(x, 1, 0, 2, 2),
    lambda x: x[1:, :2],
    lambda x: x[0:2, -2:],
    lambda x: x[0, 1:],
    *(lambda x, index=index: x[index] for index in (0, 1, -1, -2, 5)),
    *(lambda x, dim=dim, index=index: x.select(dim, index) for dim in (0, 1, -1, 2) for index in (0, 1, -1, 4)),
    lambda x: x.mT[1],
    lambda x: x.mT.select(1, 0),
    lambda x: x[1:][0],
]


def torch_slice(x: Any, dim: int, start: int | None, stop: int | None, step: int = 1) -> Any:
    return glasstorch.ops.aten.slice.Tensor(x, dim, start, stop, step)


@pytest.mark.parametrize("shape", [(2, 3), (6,), (0,), (0, 3), (3, 0, 2), (1, 6)])
def test_a_view_of_a_row_major_tensor_is_the_same_with_and_without_a_shortcut(shape: tuple[int, ...]) -> None:
    def outcome(call: Callable[[Any], Any]) -> Any:
        x = glasstorch.arange(float(prod(shape))).view(shape)
        try:
            y = call(x.clone())
        except (RuntimeError, IndexError) as error:
            return type(error), str(error)
        return y.shape, y.stride(), y.storage_offset(), y.tolist(), y._base is None, y._version

    for call in ROW_MAJOR:
        short = outcome(call)
        with no_shortcuts():
            assert outcome(call) == short


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda x, y: cross_entropy(x, y),
    "of each": lambda x, y: cross_entropy(x, y, reduction="none"),
    "weighted": lambda x, y: cross_entropy(x, y, weight=x[0].detach()),
    "smoothed": lambda x, y: cross_entropy(x, y, label_smoothing=0.5),
    "too much smoothed": lambda x, y: cross_entropy(x, y, label_smoothing=2.0),
    "one ignored": lambda x, y: cross_entropy(x, y, ignore_index=1),
    "under probabilities": lambda x, y: cross_entropy(x, x),
    "another batch": lambda x, y: cross_entropy(x, y[:1]),
    "one sample": lambda x, y: cross_entropy(x[0], y[0]),
    "no such class": lambda x, y: cross_entropy(x, y + 2),
    "doubles": lambda x, y: cross_entropy(x.double(), y),
    "halves": lambda x, y: cross_entropy(x.half(), y),
    "integers": lambda x, y: cross_entropy(x.long(), y),
    "float targets": lambda x, y: cross_entropy(x, y.float()),
    "linear": lambda x, y: linear(x, x, x[0, :2]),
    "linear without bias": lambda x, y: linear(x, x),
    "linear of a vector": lambda x, y: linear(x[0], x, x[0, :2]),
    "linear of a batch": lambda x, y: linear(x[None], x, x[0, :2]),
    "linear of other sizes": lambda x, y: linear(x, x.t(), x[0, :2]),
    "linear of other dtypes": lambda x, y: linear(x, x.double(), x[0, :2]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_shortcut_through_a_composite_leaves_value_graph_and_error_as_they_are(name: str) -> None:
    def outcome() -> Any:
        x = glasstorch.arange(6.0).view(2, 3).clone().requires_grad_()
        try:
            z = LOSSES[name](x, glasstorch.tensor([2, 0]))
            nodes = [z.grad_fn.name()] if z.requires_grad else []
            if nodes:
                nodes += [node.name() for node, _ in z.grad_fn.next_functions if node is not None]
                z.sum().backward()
        except (RuntimeError, IndexError, ValueError) as error:
            return type(error), str(error)
        return z.dtype, z.tolist(), nodes, None if x.grad is None else x.grad.tolist()

    short = outcome()
    with no_shortcuts():
        assert outcome() == short


def entry(name: str) -> Any:
    return registry.find(f"aten::{name}").table[compute_keys(CPU_KEYS)]


def makers_of(function: Any) -> set[str]:
    """The functions that made a table's entry, and those behind which it stands."""
    behind = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return {function.__qualname__.partition(".")[0]}.union(*(makers_of(f) for f in behind if callable(f)))


def test_there_is_one_for_each_number_of_arguments() -> None:
    makers = set().union(*(makers_of(entry(name)) for name in CALLS))
    tables = (shortcuts.MAKERS, shortcuts.VIEWS, shortcuts.FREQUENT)
    assert makers >= {made.__name__ for table in tables for made in table.values()} | {"number_and_tensor"}


def test_a_view_of_several_takes_no_shortcut_past_adinplaceorview() -> None:
    below = resolve(registry.find("aten::unbind.int"), compute_keys(CPU_KEYS) & BELOW_AUTOGRAD)
    assert below.entry in [cell.cell_contents for cell in entry("unbind.int").__closure__ or ()]


def test_an_operator_that_records_nothing_is_called_below_autograd_at_once() -> None:
    below = resolve(registry.find("aten::detach"), compute_keys(CPU_KEYS) & BELOW_AUTOGRAD)
    assert entry("detach") is below.entry


def test_a_kernel_of_the_users_is_called_and_takes_no_shortcut() -> None:
    x, called = glasstorch.ones(2), []

    def mine(keys: int, self: Any) -> Any:
        called.append(keys)
        return self

    x.abs()  # fills the table
    with Library("aten", "IMPL") as library:
        library.impl("abs", mine, "AutogradCPU", with_keyset=True, allow_override=True)
        assert x.abs() is x
    with Library("aten", "IMPL") as library:
        library.impl("abs", mine, "CPU", with_keyset=True, allow_override=True)
        assert x.abs() is x
    assert len(called) == 2
    assert x.abs() is not x


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")  # `view` has a kernel for the CPU already
def test_a_shortcut_past_two_operators_goes_with_the_kernel_of_either() -> None:
    x, called = glasstorch.ones(2, 3), []

    def mine(self: Any, size: Any) -> Any:
        called.append(size)
        return self

    x.reshape(6)
    with Library("aten", "IMPL") as library:
        library.impl("view", mine, "CPU")
        assert x.reshape(6).shape == (2, 3)
        assert called == [(6,)]
    assert x.reshape(6).shape == (6,)


@pytest.mark.parametrize("part", ["log_softmax.int", "nll_loss_nd", "nll_loss", "_log_softmax", "nll_loss_forward"])
def test_a_shortcut_through_a_composite_goes_with_the_kernel_of_a_part(part: str) -> None:
    x, y, called = glasstorch.ones(2, 3), glasstorch.tensor([2, 0]), []

    def mine(*arguments: Any) -> Any:
        called.append(part)
        loss = glasstorch.tensor(7.0)
        return (loss, loss) if part == "nll_loss_forward" else x if "softmax" in part else loss

    cross_entropy(x, y)
    with Library("aten", "IMPL") as library:
        library.impl(part, mine, "CPU" if part.startswith(("_", "nll_loss_f")) else "", allow_override=True)
        cross_entropy(x, y)
        assert called == [part]
    cross_entropy(x, y)
    assert called == [part]


def test_a_mode_that_hands_on_a_smaller_set_sees_what_a_composite_calls() -> None:
    x, bias, classes = glasstorch.ones(2, 3), glasstorch.ones(2), glasstorch.tensor([2, 0])
    key, seen = "TESTING_ONLY_GenericMode", []

    def see(keys: int, operator: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(operator.qualified_overload)
        return operator.redispatch(keys & below(key), *operator.bind(args, kwargs))

    with Library("_", "IMPL") as everywhere, include(key_set_of(key)):
        everywhere.fallback(see, key, with_keyset=True)
        linear(x, x, bias)
        cross_entropy(x, classes)
    assert seen[:3] == ["linear", "t", "addmm"]
    assert seen[3:] == [
        *("cross_entropy_loss", "log_softmax.int", "to.dtype_layout", "_log_softmax"),
        *("nll_loss_nd", "nll_loss", "nll_loss_forward"),
    ]


def test_a_trace_sees_every_hop() -> None:
    x = glasstorch.ones(2, 3)
    x.transpose(0, 1)
    with trace() as hops:
        x.transpose(0, 1)
    assert [hop.key.name for hop in hops] == ["AutogradCPU", "ADInplaceOrView", "CPU"]


def test_where_the_backend_has_no_kernel_the_call_says_so() -> None:
    with Library("aten", "FRAGMENT") as library:
        operator = library.define("nowhere(Tensor self) -> Tensor")
        with pytest.raises(NotImplementedError, match="Could not run 'aten::nowhere'"):
            operator(glasstorch.ones(2))
