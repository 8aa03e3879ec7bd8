"""Does make_fx record the operators that PyTorch records?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.fx.test_against_torch import same

Require = Callable[[str], Any]
Program = Callable[[Any], tuple[Any, ...]]  # a function and the arguments that it is traced with, of a library


def ones(t: Any, *sizes: int, grad: bool = False) -> Any:
    return t.ones(*sizes, requires_grad=grad)


def gradient(t: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients of a function's sum for those of its arguments that require them."""

    def of(*args: Any) -> Any:
        return t.autograd.grad(function(*args).sum(), [x for x in args if x.requires_grad])

    return of


def with_out(t: Any) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        y = t.empty(2)
        t.add(x, x, out=y)
        return y

    return function


PROGRAMS: dict[str, Program] = {
    "two operators": lambda t: (lambda x: t.sin(x) + 1, ones(t, 2)),
    "in-place": lambda t: (lambda x: x.add_(1).mul(x), ones(t, 2)),
    "composites": lambda t: (lambda x: t.nn.functional.softmax(x @ x.t(), -1).sum(), ones(t, 2, 2)),
    "containers": lambda t: (lambda x, y: {"a": x + y["z"], "b": [x]}, ones(t, 2), {"z": ones(t, 2)}),
    "a new tensor": lambda t: (lambda x: x + t.ones(2), ones(t, 2)),
    "a program's numbers": lambda t: (lambda x: x + t.tensor([1.0, 2.0]), ones(t, 2)),
    "a number that is asked for": lambda t: (lambda x: t.tensor(3.0).item() + x, ones(t, 1)),
    "a random number that is asked for": lambda t: (
        lambda x: x * t.bernoulli(t.tensor(0.5)).item(), ones(t, 2),
    ),
    "a branch": lambda t: (lambda x: x if x.sum() > 0 else -x, ones(t, 2)),
    "a branch on a constant": lambda t: (lambda x: x if t.tensor(2.0) > 1 else -x, ones(t, 2)),
    "random numbers": lambda t: (lambda x: x + t.rand(2), ones(t, 2)),
    "a tensor from outside": lambda t: (using(t, ones(t, 2)), ones(t, 2)),
    "a layer": lambda t: (t.nn.Linear(2, 2), ones(t, 1, 2)),
    "several results": lambda t: (lambda x: t.max(x, 0)[0], ones(t, 2)),
    "views": lambda t: (lambda x: x.view(-1)[0], ones(t, 2, 2)),
    "nothing": lambda t: (lambda x: 3, ones(t, 2)),
    "a list of results": lambda t: (lambda x: t.split(x, 1), ones(t, 2, 2)),
    "a builtin": lambda t: (t.sin, ones(t, 2)),
    "any number of arguments": lambda t: (lambda *a: a[0] + a[1], ones(t, 2), ones(t, 2)),
    "a number": lambda t: (lambda x, n: x * n, ones(t, 2), 3),
    "a number that is written": lambda t: (lambda x: x.clone().__setitem__(0, 3), ones(t, 2)),
    "an index of numbers": lambda t: (lambda x: x[t.tensor([0, 1])] * t.tensor(2.0).item(), ones(t, 2)),
    "data and detach": lambda t: (lambda x: (x.data * 2, x.detach()), ones(t, 2, grad=True)),
    "a mask": lambda t: (lambda x: x[x > 0], ones(t, 2, 3)),
    "a copy": lambda t: (lambda x: t.zeros_like(x).copy_(x), ones(t, 2)),
    "out": lambda t: (with_out(t), ones(t, 2)),
    "conversions": lambda t: (lambda x: t.nn.functional.gelu(x).to(t.float64).clamp(0, 1), ones(t, 2)),
    "a gradient": lambda t: (gradient(t, t.sin), ones(t, 2, grad=True)),
    "a saved result": lambda t: (gradient(t, lambda x: t.sigmoid(x).mul(x.detach())), ones(t, 2, grad=True)),
    "a layer's gradient": lambda t: (
        gradient(t, lambda x, w, b: t.nn.functional.relu(t.nn.functional.linear(x, w, b))),
        ones(t, 2, 3), ones(t, 4, 3, grad=True), ones(t, 4, grad=True),
    ),
    "a chain's gradient": lambda t: (gradient(t, lambda x: x.exp().log().tanh()), ones(t, 2, grad=True)),
    "a norm's gradient": lambda t: (
        gradient(t, lambda x: t.nn.functional.layer_norm(x, (3,))), ones(t, 2, 3, grad=True),
    ),
    "a loss's gradient": lambda t: (
        gradient(t, lambda x: t.nn.functional.cross_entropy(x, t.tensor([1, 0]))), ones(t, 2, 3, grad=True),
    ),
    "grad": lambda t: (lambda x: t.func.grad(lambda y: y.sin().sum())(x), ones(t, 2)),
    "vmap": lambda t: (lambda x: t.vmap(lambda y: y.sin() * 2)(x), ones(t, 2, 3)),
}  # fmt: skip


# Programs that ask for elements, which fake tensors do not have: PyTorch goes on with a symbol, or refuses it later.
ONLY_REAL = {"a branch", "a mask", "a random number that is asked for"}

# Programs that use tensors besides their arguments, which have to be allowed.
WITH_REAL_TENSORS = {"a tensor from outside", "a layer"}


def using(t: Any, outside: Any) -> Callable[[Any], Any]:
    return lambda x: x + outside


def make_fx(t: Any) -> Any:
    from importlib import import_module

    return import_module(f"{t.__name__}.fx.experimental.proxy_tensor").make_fx


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name in PROGRAMS for mode in ("real", "fake") if mode == "real" or name not in ONLY_REAL],
)
def test_the_operators_are_pytorchs(require: Require, name: str, mode: str) -> None:
    def run(t: Any) -> object:
        function, *args = PROGRAMS[name](t)
        module = make_fx(t)(function, tracing_mode=mode, _allow_non_fake_inputs=name in WITH_REAL_TENSORS)(*args)
        values = [(node.name, tuple(getattr(node.meta.get("val"), "shape", ()))) for node in module.graph.nodes]
        return module.code, values

    same(require, run)


@pytest.mark.parametrize("name", sorted(ONLY_REAL))
def test_fake_tensors_have_no_elements_to_ask_for(name: str) -> None:
    function, *args = PROGRAMS[name](glasstorch)
    with pytest.raises(RuntimeError, match=r"aten\.(_local_scalar_dense|nonzero)"):
        make_fx(glasstorch)(function, tracing_mode="fake")(*args)


def test_autocast_casts_a_parameter_at_each_use(torch: Any) -> None:
    weight = torch.nn.Parameter(torch.ones(2, 2))

    def function(x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return x @ weight + x @ weight

    targets = [node.target for node in make_fx(torch)(function)(torch.ones(2, 2)).graph.nodes]
    assert targets.count(torch.ops.aten._to_copy.default) == 4
    assert targets.count(torch.ops.aten.mm.default) == 2


@pytest.mark.parametrize("name", ["composites", "containers", "several results", "a layer's gradient", "views", "vmap"])
def test_the_module_computes_what_the_program_does(torch: Any, name: str) -> None:
    function, *args = PROGRAMS[name](torch)
    module = make_fx(torch)(function)(*args)
    torch.manual_seed(3)
    others = [
        {"z": torch.rand(2)} if isinstance(x, dict) else torch.rand(x.shape).requires_grad_(x.requires_grad)
        for x in args
    ]
    expected, found = function(*others), module(*others)
    leaves = torch.utils._pytree.tree_leaves
    assert all(torch.allclose(a, b) for a, b in zip(leaves(expected), leaves(found), strict=True))


def test_a_decomposition_takes_the_place_of_an_operator(require: Require) -> None:
    def run(t: Any) -> object:
        table = {t.ops.aten.gelu.default: lambda x, approximate="none": x * t.sigmoid(1.7 * x)}
        return make_fx(t)(lambda x: t.nn.functional.gelu(x) + 1, decomposition_table=table)(t.ones(2)).code

    same(require, run)


def test_fake_tensors_compute_nothing(torch: Any) -> None:
    calls: list[object] = []

    def function(x: Any) -> Any:
        y = torch.relu(x)
        calls.append(type(y).__name__)
        return y

    module = make_fx(torch)(function, tracing_mode="fake")(torch.ones(2, 3))
    assert calls == ["FakeTensor"]
    assert [type(node.meta["val"]).__name__ for node in module.graph.nodes if "val" in node.meta] == ["FakeTensor"] * 2


def test_a_module_that_is_traced_again_gives_the_same_operators(torch: Any) -> None:
    module = make_fx(torch)(lambda x: torch.nn.functional.softmax(x, -1) * 2)(torch.ones(2))
    again = make_fx(torch)(module)(torch.ones(2))
    assert [node.target for node in again.graph.nodes if node.op == "call_function"] == [
        node.target for node in module.graph.nodes if node.op == "call_function"
    ]


def test_a_call_can_be_traced_inside_a_trace(torch: Any) -> None:
    from importlib import import_module

    tensors = import_module(f"{torch.__name__}.fx.experimental.proxy_tensor")
    inner: list[Any] = []

    def function(x: Any) -> Any:
        inner.append(tensors.get_isolated_graphmodule(lambda y: y.sin(), (x,), {}))
        with tensors.disable_proxy_modes_tracing():
            x.cos()
        assert tensors.get_proxy_mode() is not None
        return x + 1

    outer = make_fx(torch)(function)(torch.ones(2))
    assert [node.op for node in outer.graph.nodes] == ["placeholder", "call_function", "output"]
    assert "sin" in inner[0].code
    assert tensors.get_proxy_mode() is None


def test_the_decompositions_can_be_changed_while_tracing(torch: Any) -> None:
    from importlib import import_module

    tensors = import_module(f"{torch.__name__}.fx.experimental.proxy_tensor")

    def function(x: Any) -> Any:
        with tensors.decompose({torch.ops.aten.sin.default: torch.cos}):
            y = torch.sin(x)
        return torch.sin(y)

    targets = [
        node.target for node in make_fx(torch)(function)(torch.ones(2)).graph.nodes if node.op == "call_function"
    ]
    assert targets == [torch.ops.aten.cos.default, torch.ops.aten.sin.default]


def test_what_is_missing_says_so_by_name() -> None:
    with pytest.raises(NotImplementedError, match="pre_dispatch=True"):
        make_fx(glasstorch)(lambda x: x, pre_dispatch=True)(glasstorch.ones(1))


def test_an_unknown_mode_is_refused(torch: Any) -> None:
    with pytest.raises(AssertionError, match="tracing_mode must be real/fake/symbolic, got nope"):
        make_fx(torch)(lambda x: x, tracing_mode="nope")
