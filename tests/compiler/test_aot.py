"""Are forward and backward compiled as PyTorch compiles them, and do they compute what the function does?"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from tests.compiler.programs import SAME_GRAPHS, SAME_RESULTS, Program, ramp
from tests.fx.test_against_torch import same

Require = Callable[[str], Any]


def aot(t: Any) -> Any:
    return import_module(f"{t.__name__}._functorch.aot_autograd")


def compiled(t: Any, function: Callable[..., Any], seen: list[Any] | None = None, **options: Any) -> Callable[..., Any]:
    """The function run by its graphs, which are noted as they are compiled."""

    def compiler(name: str) -> Callable[[Any, Any], Any]:
        def compile_(module: Any, inputs: Any) -> Any:
            if seen is not None:
                seen.append((name, module.code, [tuple(getattr(value, "shape", ())) for value in inputs]))
            return aot(t).make_boxed_func(module.forward)

        return compile_

    return aot(t).aot_function(function, fw_compiler=compiler("forward"), bw_compiler=compiler("backward"), **options)


def leaves(t: Any, value: Any) -> list[Any]:
    return [leaf for leaf in t.utils._pytree.tree_leaves(value) if isinstance(leaf, t.Tensor)]


def backward(t: Any, results: Any) -> None:
    wanted = [leaf for leaf in leaves(t, results) if leaf.requires_grad]
    if wanted:
        sum((leaf * leaf).sum() for leaf in wanted).backward()


@pytest.mark.parametrize("make", SAME_GRAPHS.values(), ids=SAME_GRAPHS)
def test_the_graphs_are_pytorchs(require: Require, make: Program) -> None:
    def run(t: Any) -> object:
        seen: list[Any] = []
        function, *args = make(t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            backward(t, compiled(t, function, seen)(*args))
        return seen

    same(require, run)


@pytest.mark.parametrize("make", SAME_RESULTS.values(), ids=SAME_RESULTS)
def test_results_writes_and_gradients_are_the_functions(torch: Any, make: Program) -> None:
    (function, *args), (_, *others) = make(torch), make(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch reads the gradient of an argument that is no leaf
        eager, graphs = function(*args), compiled(torch, function)(*others)
    for expected, found in zip(leaves(torch, eager), leaves(torch, graphs), strict=True):
        torch.testing.assert_close(found, expected)
        assert found.requires_grad == expected.requires_grad
    backward(torch, eager)
    backward(torch, graphs)
    for expected, found in zip(leaves(torch, args), leaves(torch, others), strict=True):
        torch.testing.assert_close(found.detach(), expected.detach())
        assert found._version == expected._version
        if expected.is_leaf:
            assert (found.grad is None) == (expected.grad is None)
            if expected.grad is not None:
                torch.testing.assert_close(found.grad, expected.grad)


def test_a_result_that_is_a_view_shares_the_memory(torch: Any) -> None:
    function = compiled(torch, lambda x: x.view(2, 2).t())
    x = torch.zeros(4)
    y = function(x)
    x[1] = 5
    assert y[1, 0].item() == 5
    y = compiled(torch, lambda x: x)(x)
    assert y.data_ptr() == x.data_ptr()


def test_two_results_that_share_memory_still_do(torch: Any) -> None:
    def function(x: Any) -> Any:
        y = x * 2
        return y, y[0]

    whole, part = compiled(torch, function)(torch.ones(2, 2))
    whole[0] = 7
    assert part.tolist() == [7, 7]


def test_a_graph_is_made_again_where_sizes_or_gradients_are_others() -> None:
    seen: list[Any] = []
    function = compiled(glasstorch, lambda x: x.sin(), seen)
    for x in (glasstorch.ones(2), glasstorch.zeros(2), glasstorch.ones(3), ramp(glasstorch, 2)):
        function(x)
    assert len(seen) == 3
    function(ramp(glasstorch, 2) * 1)
    assert len(seen) == 3
    with glasstorch.no_grad():
        function(ramp(glasstorch, 2))
    assert len(seen) == 4


def test_a_graph_is_made_for_each_number() -> None:
    seen: list[Any] = []
    function = compiled(glasstorch, lambda x, n: x * n, seen)
    x = glasstorch.ones(1)
    numbers = [2, 2.0, True, 0.0, -0.0, float("nan"), float("nan"), 2]
    assert [str(function(x, n)) for n in numbers] == [str(x * n) for n in numbers]
    assert len(seen) == 6


def test_a_result_that_was_cut_from_another_may_be_written_to(torch: Any) -> None:
    first, second = compiled(torch, lambda x: ((x * 2)[:1], (x * 3)[1:]))(ramp(torch, 2))
    assert first._base is None
    first.add_(1)
    assert second.item() == pytest.approx(1.8)


def test_views_of_one_tensor_share_its_memory(torch: Any) -> None:
    first, second, whole = compiled(torch, lambda x: (*(x * 2).chunk(2), x[:1]))(torch.arange(4.0))
    assert second.data_ptr() == first.data_ptr() + 8
    assert whole.tolist() == [0]


@pytest.mark.parametrize(
    "function", [lambda x: x.view(3, 2) * 2, lambda x: (x.view(-1) * 2).view(2, 3).t()], ids=["rows", "columns"]
)
@pytest.mark.parametrize("layout", [lambda t: t.ones(3, 2), lambda t: t.ones(2, 3).t()], ids=["rows", "columns"])
def test_a_gradient_may_arrive_in_any_layout(torch: Any, function: Any, layout: Any) -> None:
    x = ramp(torch, 2, 3)
    compiled(torch, function)(x).backward(layout(torch))
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_the_partition_gets_the_inputs_of_the_joint_graph(torch: Any) -> None:
    seen: list[Any] = []

    def partition(joint: Any, inputs: Any, **options: Any) -> Any:
        seen.append([[tuple(value.shape) for value in values] for values in inputs])
        return import_module(f"{torch.__name__}._functorch.partitioners").default_partition(joint, inputs, **options)

    compiled(torch, lambda x, y: (x * y.sum(), y), partition_fn=partition)(ramp(torch, 3), ramp(torch, 2))
    assert seen == [[[(3,), (2,)], [(3,)]]]


def test_backward_is_compiled_when_it_is_needed() -> None:
    seen: list[Any] = []
    function = compiled(glasstorch, lambda x: x.sin(), seen)
    result = function(ramp(glasstorch, 2))
    assert [name for name, *_ in seen] == ["forward"]
    result.sum().backward()
    assert [name for name, *_ in seen] == ["forward", "backward"]
    function(ramp(glasstorch, 2)).sum().backward()
    assert len(seen) == 2


def test_a_compiler_that_is_not_boxed_is_warned_about(torch: Any) -> None:
    function = aot(torch).aot_function(lambda x: x + 1, fw_compiler=lambda module, inputs: module.forward)
    with pytest.warns(UserWarning, match="doesn't take boxed arguments"):
        function(torch.ones(1, requires_grad=True)).sum().backward()


def test_a_boxed_function_empties_its_list(torch: Any) -> None:
    boxed = aot(torch).make_boxed_compiler(lambda module, inputs: module)(lambda x, y: x - y, [])
    assert boxed([3, 1]) == 2


def test_a_second_derivative_is_refused(torch: Any) -> None:
    x = ramp(torch, 3)
    y = compiled(torch, lambda x: x.sin().sum())(x)

    def twice() -> None:
        (gradient,) = torch.autograd.grad(y, x, create_graph=True)
        gradient.sum().backward()

    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        twice()


def test_a_decomposition_is_used(torch: Any) -> None:
    seen: list[Any] = []
    table = {torch.ops.aten.gelu.default: lambda x, approximate="none": x * torch.sigmoid(1.7 * x)}
    function = compiled(torch, torch.nn.functional.gelu, seen, decompositions=table)
    function(torch.ones(2))
    assert "sigmoid" in seen[0][1]
    assert "gelu" not in seen[0][1]


def test_a_module_trains_by_its_graphs(torch: Any) -> None:
    torch.manual_seed(5)
    network = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    )
    twin = copy.deepcopy(network)

    def boxed(module: Any, inputs: Any) -> Any:
        return aot(torch).make_boxed_func(module.forward)

    graphs = aot(torch).aot_module(twin, fw_compiler=boxed)
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    losses: list[list[float]] = [[], []]
    for model, parameters, found in ((network, network, losses[0]), (graphs, twin, losses[1])):
        optimizer = torch.optim.SGD(parameters.parameters(), lr=0.1)
        for _ in range(5):
            loss = ((model(x) - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert torch.allclose(network[1].running_mean, twin[1].running_mean)
    assert losses[0][-1] < losses[0][0]


def test_a_checkpoint_computes_again_from_what_it_was_given(torch: Any) -> None:
    class Checkpointed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return torch.utils.checkpoint.checkpoint(lambda y: self.linear(y).sin(), x, use_reentrant=False)

    def boxed(module: Any, inputs: Any) -> Any:
        return aot(torch).make_boxed_func(module.forward)

    network, x = Checkpointed(), torch.randn(3, 2)
    twin = copy.deepcopy(network)
    (network(x) ** 2).sum().backward()
    (aot(torch).aot_module(twin, fw_compiler=boxed)(x) ** 2).sum().backward()
    assert torch.allclose(twin.linear.weight.grad, network.linear.weight.grad)
    assert torch.allclose(twin.linear.bias.grad, network.linear.bias.grad)


# Arguments that share memory, and arguments that become views -------------------------------------------------------


def change_of_sizes(t: Any) -> tuple[Any, ...]:
    def function(x: Any) -> Any:
        x.t_()
        x.add_(1)
        return x * 2, x[0]

    return function, t.arange(6.0).view(2, 3)


def several_changes(t: Any) -> tuple[Any, ...]:
    def function(x: Any) -> Any:
        x.unsqueeze_(0).squeeze_().transpose_(0, 1)
        return x + 1

    return function, t.arange(6.0).view(2, 3)


def change_and_writes(t: Any) -> tuple[Any, ...]:
    def function(x: Any, y: Any) -> Any:
        x.t_()
        y.mul_(x.sum())
        return x @ x.t() + y.sum()

    return function, t.arange(6.0).view(2, 3), ramp(t, 2) * 2


def neighbours(t: Any) -> tuple[Any, ...]:
    base = t.arange(6.0)
    return lambda x, y: (x.add_(1), x * y)[1], base[:3], base[3:]


def overlapping(t: Any) -> tuple[Any, ...]:
    base = t.arange(6.0)
    return lambda x, y: (x.add_(1), y.mul_(2), x[1:] + y[:3])[2], base[:4], base[1:5]


def the_same_twice(t: Any) -> tuple[Any, ...]:
    base = t.arange(6.0)
    return lambda x, y: (x.add_(1), y.sum(), x)[1:], base, base


def rows_and_columns(t: Any) -> tuple[Any, ...]:
    def function(x: Any, y: Any, z: Any) -> Any:
        x.add_(y.sum())
        y.mul_(2)
        z.sub_(1)
        return x.sum() + y.sum(), y.view(3, 1)

    base = t.arange(12.0).view(3, 4)
    return function, base[0], base[:, 1], base[1:]


def with_a_gradient_beside(t: Any) -> tuple[Any, ...]:
    base = t.arange(6.0).view(2, 3)
    return lambda x, y, w: (x.mul_(2), (y * 2).sum() + (x * w).sum())[1], base, base.t(), ramp(t, 3)


def with_gradients(t: Any) -> tuple[Any, ...]:
    base = ramp(t, 6) * 1
    return lambda x, y: (x.mul_(2), (y * y).sum(), x[1:])[1:], base[:4], base[2:]


ALIASED = [
    change_of_sizes, several_changes, change_and_writes, neighbours, overlapping, the_same_twice, rows_and_columns,
    with_a_gradient_beside, with_gradients,
]  # fmt: skip


@pytest.mark.parametrize("make", ALIASED, ids=lambda make: make.__name__)
def test_arguments_end_as_they_do_without_a_compiler(make: Program) -> None:
    t = glasstorch
    (function, *args), (_, *others) = make(t), make(t)
    eager, graphs = function(*args), compiled(t, function)(*others)
    for expected, found in zip(leaves(t, eager), leaves(t, graphs), strict=True):
        t.testing.assert_close(found, expected)
        assert found.requires_grad == expected.requires_grad
    backward(t, eager)
    backward(t, graphs)
    for expected, found in zip(leaves(t, args), leaves(t, others), strict=True):
        t.testing.assert_close(found.detach(), expected.detach())
        assert found.stride() == expected.stride()
        if expected.is_leaf and expected.grad is not None:
            t.testing.assert_close(found.grad, expected.grad)


def test_a_gradient_reaches_what_the_arguments_are_views_of() -> None:
    def gradient(run: Any) -> Any:
        x = ramp(glasstorch, 6)
        base = x * 1
        run(base[:4], base[2:]).backward()
        return x.grad

    def function(a: Any, b: Any) -> Any:
        a.mul_(3)
        return (a.sum() + b * b).sum()

    glasstorch.testing.assert_close(gradient(compiled(glasstorch, function)), gradient(function))


def test_another_sharing_of_memory_is_another_graph() -> None:
    seen: list[Any] = []
    function = compiled(glasstorch, lambda a, b: (a.add_(1), b * 2)[1], seen)
    assert function(glasstorch.zeros(2), glasstorch.zeros(2)).tolist() == [0, 0]
    x = glasstorch.zeros(3)
    assert function(x[:2], x[1:]).tolist() == [2, 0]
    assert x.tolist() == [1, 1, 0]
    y = glasstorch.zeros(3)
    assert function(y[1:], y[:2]).tolist() == [0, 2]
    assert function(x[:2], x[1:]).tolist() == [4, 0]
    assert len(seen) == 3


def test_two_views_of_a_detached_tensor_share_its_memory(torch: Any) -> None:
    def function(x: Any) -> Any:
        y = x * 2
        return y.detach()[0], y.detach()[0, 1:]

    first, second = compiled(torch, function)(ramp(torch, 2, 3))
    first[2] = 7
    assert second[1].item() == 7
    assert not second.requires_grad


def test_a_slice_is_a_part_of_the_key() -> None:
    seen: list[Any] = []
    function = compiled(glasstorch, lambda x, s: x[s] * 2, seen)
    x = glasstorch.arange(6.0)
    assert function(x, slice(1, None, 2)).tolist() == [2, 6, 10]
    assert function(x, slice(4, None)).tolist() == [8, 10]
    assert function(x, slice(1, None, 2)).tolist() == [2, 6, 10]
    assert len(seen) == 2


# What else is offered -----------------------------------------------------------------------------------------------


def test_a_module_is_compiled_for_flat_arguments(torch: Any) -> None:
    class Pair(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return (self.linear(x).relu(), x + 1)

    module, x = Pair(), torch.randn(3, 2)
    run = aot(torch).aot_module_simplified(
        module, [x], fw_compiler=aot(torch).make_boxed_compiler(lambda graph, inputs: graph)
    )
    first, second = run(x)
    torch.testing.assert_close(first, module(x)[0])
    assert second.tolist() == (x + 1).tolist()
    first.sum().backward()
    assert module.linear.weight.grad is not None


def test_compilers_that_look_at_a_graph(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    compilers = import_module(f"{torch.__name__}._functorch.compilers")
    x = ramp(torch, 3)
    for compiler in (compilers.nop, compilers.print_compile):
        function = aot(torch).compiled_function(lambda x: x.sin().sum(), fw_compiler=compiler)
        function(x).backward()
    assert "torch.ops.aten.sin.default" in capsys.readouterr().out
    torch.testing.assert_close(x.grad, 2 * x.detach().cos())


def test_a_result_that_is_not_as_traced_is_named() -> None:
    compilers = import_module("glasstorch._functorch.compilers")
    function = aot(glasstorch).aot_function(lambda x: x.sin().t(), fw_compiler=compilers.debug_nop)
    assert function(glasstorch.zeros(2, 3)).shape == (3, 2)
    module = glasstorch.fx.experimental.proxy_tensor.make_fx(lambda x: x.sin())(glasstorch.zeros(2))
    with pytest.raises(AssertionError, match="gave sizes, strides and dtype"):
        compilers.debug_nop(module, [])([glasstorch.zeros(3)])


def test_memory_efficient_fusion_saves_the_input_of_a_chain() -> None:
    compilers = import_module("glasstorch._functorch.compilers")
    x = ramp(glasstorch, 8)
    compilers.memory_efficient_fusion(lambda x: x.sin().cos().exp())(x).sum().backward()
    y = ramp(glasstorch, 8)
    y.sin().cos().exp().sum().backward()
    glasstorch.testing.assert_close(x.grad, y.grad)


class TestRefusals:
    def test_another_storage_is_refused(self) -> None:
        def function(x: Any) -> Any:
            x.data = x.data * 2
            return x + 1

        with pytest.raises(NotImplementedError, match="whose storage is changed in place"):
            compiled(glasstorch, function)(glasstorch.zeros(2))

    def test_other_sizes_of_an_argument_that_requires_grad_are_refused(self) -> None:
        x = ramp(glasstorch, 2, 3) * 1
        with pytest.raises(NotImplementedError, match="requires grad and whose sizes or strides are changed in place"):
            compiled(glasstorch, lambda x: x.t_().sum())(x)
        assert x.shape == (2, 3)

    def test_parts_of_one_memory_that_no_base_can_stand_for_are_refused(self) -> None:
        x = glasstorch.zeros(4)
        function = compiled(glasstorch, lambda a, b: (a.add_(1), b * 2)[1])
        with pytest.raises(NotImplementedError, match="the arguments 0, 1 share memory, have different dtypes"):
            function(x, x.view(glasstorch.int32))
        function = compiled(glasstorch, lambda a, b: (a.t_(), b.add_(1))[0])
        with pytest.raises(NotImplementedError, match="argument 0 shares memory with another one, and its sizes"):
            function(x.view(2, 2), x[:2])
        y = ramp(glasstorch, 2, 3) * 1
        with pytest.raises(NotImplementedError, match="only if they are views of one contiguous tensor"):
            compiled(glasstorch, lambda a, b: (a.add_(1), b * 2)[1])(y[0], y.detach())
        assert x.tolist() == [0, 0, 0, 0]

    def test_a_gradient_of_what_is_no_argument_is_refused(self) -> None:
        w = ramp(glasstorch, 2)
        with pytest.raises(NotImplementedError, match="a result requires grad, though no argument does"):
            compiled(glasstorch, lambda x: x * w)(glasstorch.zeros(2))
        with pytest.raises(NotImplementedError, match=r"a tensor of sizes \[2\] that requires grad and is no argument"):
            compiled(glasstorch, lambda x: x * w)(ramp(glasstorch, 2))

    def test_an_argument_that_can_change_unseen_is_refused(self) -> None:
        with pytest.raises(TypeError, match="an argument has the type list_iterator"):
            compiled(glasstorch, lambda x, y: x)(glasstorch.zeros(2), iter([1]))

    def test_a_branch_on_a_tensor_is_refused(self) -> None:
        with pytest.raises(RuntimeError, match="_local_scalar_dense"):
            compiled(glasstorch, lambda x: x if x.sum() > 0 else -x)(glasstorch.zeros(2))
