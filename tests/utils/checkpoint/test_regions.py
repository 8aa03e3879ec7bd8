"""Does a checkpointed function give the values, gradients and errors that it gives in PyTorch?"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.autograd.graph import saved_tensors_hooks
from glasstorch.autograd.saved_hooks import in_use
from glasstorch.utils.checkpoint import checkpoint, checkpoint_sequential
from tests.devices.devices import Devices
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]
KINDS = [True, False]


def module(lib: Any) -> Any:
    return import_module(f"{lib.__name__}.utils.checkpoint")


def network(lib: Any, *extra: Any) -> Any:
    """The same weights in both libraries."""
    nn = lib.nn
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), *extra, nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 4))
    random = np.random.default_rng(0)
    with lib.no_grad():
        for parameter in net.parameters():
            parameter.copy_(lib.from_numpy(random.standard_normal(parameter.shape).astype(np.float32)))
    return net


def inputs(lib: Any) -> Any:
    values = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    return lib.from_numpy(values).requires_grad_()


def numbers(*tensors: Any) -> list[Any]:
    return [None if t is None else t.tolist() for t in tensors]


def plain_and_checkpointed(lib: Any, reentrant: bool, **options: Any) -> tuple[list[Any], list[Any]]:
    found = []
    for run in (lambda f, x: f(x), lambda f, x: module(lib).checkpoint(f, x, use_reentrant=reentrant, **options)):
        net, x = network(lib, lib.nn.Dropout(0.5)), inputs(lib)
        lib.manual_seed(3)
        result = run(net, x)
        drawn = lib.rand(2).tolist()
        (result * result).sum().backward()
        after = lib.rand(2).tolist()
        found.append([drawn, after, *numbers(result, x.grad, *(p.grad for p in net.parameters()))])
    return found[0], found[1]


@pytest.mark.parametrize("reentrant", KINDS)
def test_values_gradients_and_random_numbers_are_those_without_it(reentrant: bool) -> None:
    plain, checkpointed = plain_and_checkpointed(glasstorch, reentrant)
    assert checkpointed == plain


@pytest.mark.parametrize("reentrant", KINDS)
def test_without_the_random_state_dropout_drops_others(reentrant: bool) -> None:
    plain, checkpointed = plain_and_checkpointed(glasstorch, reentrant, preserve_rng_state=False)
    assert checkpointed[0] == plain[0]
    assert checkpointed[1] != plain[1]  # numbers were drawn in the backward pass
    assert checkpointed[3] != plain[3]


@pytest.mark.parametrize("reentrant", KINDS)
def test_the_numbers_are_pytorchs(reentrant: bool, require: Require) -> None:
    def program(lib: Any) -> list[Any]:
        net, x = network(lib, lib.nn.Dropout(0.5)), inputs(lib)
        lib.manual_seed(3)
        result = module(lib).checkpoint(net, x, use_reentrant=reentrant)
        result.sum().backward()
        return numbers(result, x.grad, *(p.grad for p in net.parameters()))

    assert_same(program, require("torch"), within=1e-5)


# What is saved --------------------------------------------------------------------------------------------------------


def saved_bytes(run: Callable[[], Any]) -> int:
    """The bytes of the tensors that the nodes of a result hold, each storage once."""
    root = run().grad_fn
    seen, storages, stack = set(), {}, [root]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        stack += [n for n, _ in node.next_functions]
        saved = [getattr(node, name, None) for name in getattr(type(node), "__annotations__", ()) if "saved_" in name]
        for one in [*saved, *(getattr(node, "saved", None) or ())]:
            tensor = getattr(one, "tensor", None)
            if isinstance(tensor, glasstorch.Tensor):
                storage = tensor.untyped_storage()
                storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


@pytest.mark.parametrize("reentrant", KINDS)
def test_only_the_arguments_are_saved(reentrant: bool) -> None:
    def chain(x: Any) -> Any:
        for _ in range(10):
            x = x.exp().sin()
        return x

    x = glasstorch.zeros(100, requires_grad=True)
    assert saved_bytes(lambda: chain(x)) == 400 * 10  # the result of exp is the argument of sin
    assert saved_bytes(lambda: checkpoint(chain, x, use_reentrant=reentrant)) <= 400


def test_activations_die_with_the_forward_pass() -> None:
    alive: list[Any] = []

    def chain(x: Any) -> Any:
        for _ in range(5):
            x = x.exp()
            alive.append(glasstorch.autograd.graph.get_gradient_edge(x).node)
        return x

    gc.collect()
    x = glasstorch.zeros(10, requires_grad=True)
    result = checkpoint(chain, x, use_reentrant=False)
    kept = [getattr(node.saved_result.tensor, "value", None) for node in alive]
    assert all(type(value).__name__ == "Place" for value in kept)
    result.sum().backward()
    assert all(node.saved_result is None for node in alive[:5])


@pytest.mark.parametrize("early_stop", [True, False])
def test_the_second_run_ends_when_all_is_there(early_stop: bool, require: Require) -> None:
    def program(lib: Any) -> list[Any]:
        said: list[str] = []

        def function(x: Any) -> Any:
            said.append("begin")
            y = x.exp().sin()
            said.append("end")
            return y + 1

        x = lib.zeros(2, requires_grad=True)
        result = module(lib).checkpoint(function, x, use_reentrant=False, early_stop=early_stop)
        result.sum().backward()
        with module(lib).set_checkpoint_early_stop(not early_stop):
            result = module(lib).checkpoint(function, x, use_reentrant=False, early_stop=early_stop)
        result.sum().backward()
        return [*said, x.grad.tolist()]

    assert_same(program, require("torch"), within=1e-6)


# Programs -------------------------------------------------------------------------------------------------------------


def nested(lib: Any) -> list[Any]:
    check, runs = module(lib).checkpoint, []

    def inner(x: Any) -> Any:
        runs.append("inner")
        return x.sin().exp()

    def middle(x: Any, y: Any) -> Any:
        runs.append("middle")
        return check(inner, x * y, use_reentrant=False) * x.cos()

    def outer(x: Any, y: Any) -> Any:
        runs.append("outer")
        return check(middle, x.exp(), y.tanh(), use_reentrant=False).sin()

    x, y = (lib.tensor([0.1, 0.5], requires_grad=True) for _ in range(2))
    check(outer, x, y, use_reentrant=False).sum().backward()
    return [runs, *numbers(x.grad, y.grad)]


def nested_in_reentrant(lib: Any) -> list[Any]:
    check = module(lib).checkpoint
    x = lib.tensor([0.1, 0.5], requires_grad=True)

    def outer(x: Any) -> Any:
        return check(lambda x: check(lambda x: x.sin().exp(), x, use_reentrant=True).cos(), x, use_reentrant=False)

    check(outer, x, use_reentrant=True).sum().backward()
    return numbers(x.grad)


def twice_backward(lib: Any) -> list[Any]:
    count = []
    x = lib.tensor([0.1, 0.5], requires_grad=True)
    result = module(lib).checkpoint(lambda x: count.append(1) or x.sin().exp(), x, use_reentrant=False)
    for _ in range(2):
        result.sum().backward(retain_graph=True)
    return [len(count), *numbers(x.grad)]


def second_derivative(lib: Any) -> list[Any]:
    x = lib.tensor([0.1, 0.5], requires_grad=True)
    result = module(lib).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    (first,) = lib.autograd.grad(result.sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x)
    return numbers(first, second)


def backward_inside(lib: Any, keep: bool, early_stop: bool) -> list[Any]:
    def function(x: Any) -> Any:
        y = x.sin()
        z = y.cos()
        (g,) = lib.autograd.grad(z.sum(), x, retain_graph=keep)
        return x.cos() * g if not keep else z * g

    x = lib.tensor([0.1, 0.5], requires_grad=True)
    result = module(lib).checkpoint(function, x, use_reentrant=False, early_stop=early_stop)
    result.sum().backward()
    return numbers(x.grad)


def only_some_gradients(lib: Any) -> list[Any]:
    x, y = (lib.tensor([0.1, 0.5], requires_grad=True) for _ in range(2))
    result = module(lib).checkpoint(lambda x, y: (x * y).exp() + y.sin(), x, y, use_reentrant=False)
    (g,) = lib.autograd.grad(result.sum(), y, retain_graph=True)
    result.sum().backward(inputs=[x])
    return numbers(g, x.grad, y.grad)


def several_results(lib: Any, reentrant: bool) -> list[Any]:
    x, y = lib.tensor([0.1, 0.5], requires_grad=True), lib.tensor([2.0, 3.0])

    def function(x: Any, n: int, y: Any) -> Any:
        return x.exp() * n, y * 2, x.sin()

    a, b, c = module(lib).checkpoint(function, x, 3, y, use_reentrant=reentrant)
    (a.sum() + c.sum()).backward()
    return [b.requires_grad, *numbers(a, b, c, x.grad)]


def keywords(lib: Any) -> list[Any]:
    x, y = lib.tensor([0.1], requires_grad=True), lib.tensor([0.5], requires_grad=True)
    result = module(lib).checkpoint(lambda x, *, scale, by=1: (x * scale).exp() * by, x, use_reentrant=False, scale=y)
    result.sum().backward()
    return numbers(result, x.grad, y.grad)


def saved_tensors_looked_at(lib: Any) -> list[Any]:
    x = lib.tensor([0.1, 0.5], requires_grad=True)
    result = module(lib).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    said = numbers(result.grad_fn._saved_result, result.grad_fn._saved_result)
    result.sum().backward()
    return [*said, *numbers(x.grad)]


def in_place_inside(lib: Any) -> list[Any]:
    x = lib.tensor([0.1, 0.5], requires_grad=True)
    result = module(lib).checkpoint(lambda x: x.sin().mul_(2).exp_(), x, use_reentrant=False)
    result.sum().backward()
    return numbers(result, x.grad)


def under_autocast(lib: Any, reentrant: bool) -> list[Any]:
    dtypes = []
    net, x = network(lib), inputs(lib)

    def function(x: Any) -> Any:
        y = net(x)
        dtypes.append([str(y.dtype), lib.is_autocast_enabled("cpu"), str(lib.get_autocast_dtype("cpu"))])
        return y.exp().sum()

    with lib.autocast("cpu", dtype=lib.float16):
        result = module(lib).checkpoint(function, x, use_reentrant=reentrant, **({} if reentrant else OFF))
    result.backward()
    return [dtypes, str(x.grad.dtype), lib.is_autocast_enabled("cpu")]


OFF = {"early_stop": False}


def groups(lib: Any) -> list[Any]:
    count: list[int] = []
    x, y = (lib.tensor([0.1, 0.5], requires_grad=True) for _ in range(2))
    a, b = module(lib).checkpoint(
        lambda x, y: (count.append(1), (x.sin().exp(), y.sin().exp()))[1], x, y, use_reentrant=False
    )
    with module(lib).GraphExecGroup():
        a.sum().backward()
        b.sum().backward()
    return [len(count), *numbers(x.grad, y.grad)]


def overlapping_groups(lib: Any) -> None:
    x = lib.tensor([0.1, 0.5], requires_grad=True)
    result = module(lib).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    with module(lib).GraphExecGroup():
        result.sum().backward(retain_graph=True)
        result.sum().backward()


def sequential(lib: Any, segments: int, **options: Any) -> list[Any]:
    net, x = network(lib), inputs(lib)
    result = module(lib).checkpoint_sequential(net, segments, x, **options)
    result.sum().backward()
    return numbers(result, x.grad, *(p.grad for p in net.parameters()))


def context_fn(lib: Any) -> list[Any]:
    said: list[str] = []

    @contextmanager
    def named(name: str) -> Any:
        said.append(f"enter {name}")
        yield
        said.append(f"leave {name}")

    x = lib.tensor([0.1], requires_grad=True)
    result = module(lib).checkpoint(
        lambda x: said.append("run") or x.exp(), x, use_reentrant=False,
        context_fn=lambda: (named("first"), named("second")), early_stop=False,
    )  # fmt: skip
    result.sum().backward()
    return said


@pytest.mark.parametrize(
    "program",
    [
        nested,
        nested_in_reentrant,
        twice_backward,
        second_derivative,
        lambda lib: backward_inside(lib, keep=True, early_stop=True),
        lambda lib: backward_inside(lib, keep=True, early_stop=False),
        lambda lib: backward_inside(lib, keep=False, early_stop=True),
        lambda lib: backward_inside(lib, keep=False, early_stop=False),
        only_some_gradients,
        lambda lib: several_results(lib, reentrant=True),
        lambda lib: several_results(lib, reentrant=False),
        keywords,
        saved_tensors_looked_at,
        in_place_inside,
        lambda lib: under_autocast(lib, reentrant=True),
        lambda lib: under_autocast(lib, reentrant=False),
        groups,
        context_fn,
        lambda lib: sequential(lib, 2, use_reentrant=False),
        lambda lib: sequential(lib, 2, use_reentrant=True),
        lambda lib: sequential(lib, 1, use_reentrant=True),
        lambda lib: sequential(lib, 5, use_reentrant=False, preserve_rng_state=False),
        lambda lib: sequential(lib, 2),
        lambda lib: sequential(lib, 2, use_reentrant=False, other=1),
    ],
)
def test_a_program_does_what_it_does_in_pytorch(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"), within=1e-5)


def test_backward_passes_of_a_group_must_not_overlap(require: Require) -> None:
    for lib in (glasstorch, require("torch")):
        with pytest.raises(module(lib).CheckpointError, match=r"that overlap .* is not allowed while under the torch"):
            overlapping_groups(lib)
        with module(lib).GraphExecGroup(), pytest.raises(RuntimeError, match="contexts cannot be nested"):
            module(lib).GraphExecGroup().__enter__()


def test_a_list_of_functions_may_be_run_in_parts() -> None:
    x = glasstorch.tensor([0.5], requires_grad=True)
    chain = [glasstorch.exp, glasstorch.sin, lambda t: t * 2]
    result = checkpoint_sequential(chain, 3, x, use_reentrant=False)
    result.backward()
    assert result.item() == pytest.approx(2 * math.sin(math.exp(0.5)))
    with pytest.raises(ValueError, match="3 functions cannot be split into 4 segments"):
        checkpoint_sequential(chain, 4, x, use_reentrant=False)


# Errors and warnings --------------------------------------------------------------------------------------------------


def varies(first: Callable[[Any], Any], second: Callable[[Any], Any], **options: Any) -> Callable[[Any], Any]:
    """A function that does something else the second time."""

    def program(lib: Any) -> Any:
        both = iter((first, second))
        x = lib.tensor([0.1, 0.5], requires_grad=True)
        result = module(lib).checkpoint(lambda x: next(both)(x), x, use_reentrant=False, **options)
        result.sum().backward()
        return numbers(x.grad)

    return program


@pytest.mark.parametrize(
    "program",
    [
        varies(lambda x: x.exp().sin(), lambda x: x.exp()),
        varies(lambda x: x.exp(), lambda x: x.exp().sin(), early_stop=False),
        varies(lambda x: x.exp(), lambda x: x[:1].exp()),
        varies(lambda x: x.exp(), lambda x: x.double().exp()),
    ],
)
def test_a_function_that_differs_is_refused(program: Callable[[Any], Any], require: Require) -> None:
    said = []
    for lib in (glasstorch, require("torch")):
        with pytest.raises(module(lib).CheckpointError) as raised:
            program(lib)
        said.append(str(raised.value).partition("Tip:")[0].partition("Pass `debug")[0].strip())
    assert said[0] == said[1]


def test_the_check_may_be_left_out(require: Require) -> None:
    program = varies(lambda x: x.exp(), lambda x: (x + 1).exp(), determinism_check="none")
    assert_same(program, require("torch"), within=1e-6)


def test_debug_lists_the_operators_of_both_runs() -> None:
    check = module(glasstorch)
    program = varies(lambda x: x.exp().sin(), lambda x: x.exp(), debug=True)
    with pytest.raises(check.CheckpointError) as raised:
        program(glasstorch)
    said = str(raised.value)
    forward, again = said.split("Operators executed during the recomputation:")
    seen = ("aten.exp.default", "aten.detach.default", "aten.sin.default")  # exp saves its result without its history
    assert "\n".join(f"  {name}(float32[2])" for name in seen) in forward
    assert "aten.exp.default(float32[2])" in again
    assert "aten.sin" not in again
    assert f"{__file__}:" in said
    assert isinstance(raised.value.__cause__, check.CheckpointError)
    with check.set_checkpoint_debug_enabled(True), pytest.raises(check.CheckpointError, match="dumping logs"):
        varies(lambda x: x.exp().sin(), lambda x: x.exp())(glasstorch)
    with check.set_checkpoint_debug_enabled(False), pytest.raises(check.CheckpointError, match="A different number"):
        program(glasstorch)


class Swallows:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> bool:
        return True


def refused(**options: Any) -> Callable[[Any], Any]:
    def program(lib: Any) -> Any:
        x = lib.tensor([0.1], requires_grad=True)
        return module(lib).checkpoint(lambda x: x.exp(), x, **options).tolist()

    return program


@pytest.mark.parametrize(
    "program",
    [
        refused(),
        refused(use_reentrant=True, other=1),
        refused(use_reentrant=True, debug=True),
        refused(use_reentrant=True, context_fn=lambda: (Swallows(), Swallows())),
        refused(use_reentrant=False, determinism_check="else"),
        refused(use_reentrant=False, debug=True, context_fn=lambda: (Swallows(), Swallows())),
        lambda lib: module(lib).checkpoint(
            lambda x: 1 / 0, lib.ones(1), use_reentrant=False, context_fn=lambda: (Swallows(), Swallows())
        ),
        lambda lib: module(lib).checkpoint(lambda x: 1 / 0, lib.ones(1), use_reentrant=False),
        lambda lib: module(lib).checkpoint(lambda x: x.exp(), lib.ones(1), use_reentrant=True).tolist(),
        lambda lib: lib.autograd.grad(
            module(lib).checkpoint(lambda x: x.exp(), (x := lib.ones(1, requires_grad=True)), use_reentrant=True), x
        ),
        lambda lib: (
            module(lib).checkpoint(lambda x: x.detach(), lib.ones(1, requires_grad=True), use_reentrant=True).backward()
        ),
    ],
)
def test_misuse_is_answered_as_in_pytorch(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"), within=1e-6)


def test_a_warning_names_the_line_of_the_program() -> None:
    x = glasstorch.ones(1, requires_grad=True)
    for call in (
        lambda: checkpoint(lambda x: x.exp(), x),
        lambda: checkpoint_sequential([glasstorch.exp], 1, x),
        lambda: checkpoint(lambda x: x.exp(), x.detach(), use_reentrant=True),
    ):
        with pytest.warns(UserWarning, match=r"use_reentrant|requires_grad") as warned:
            call()
        assert warned[0].filename == __file__


def test_an_error_leaves_nothing_in_use() -> None:
    x = glasstorch.ones(1, requires_grad=True)
    with suppress(ZeroDivisionError):
        checkpoint(lambda x: 1 / 0, x, use_reentrant=False)
    divisors = iter((1, 0))
    result = checkpoint(lambda x: x.exp() / (1 / next(divisors)), x, use_reentrant=False, early_stop=False)
    with suppress(ZeroDivisionError):
        result.backward()
    assert in_use.get() is None
    assert glasstorch.is_grad_enabled()


def test_without_gradients_the_function_is_just_called() -> None:
    count = []
    with glasstorch.no_grad():
        result = checkpoint(lambda x: count.append(1) or x.exp(), glasstorch.ones(1), use_reentrant=False)
    assert (count, result.requires_grad) == ([1], False)


def test_other_hooks_inside_a_checkpoint_are_left_alone() -> None:
    packed = []
    x = glasstorch.tensor([0.5], requires_grad=True)

    def function(x: Any) -> Any:
        with saved_tensors_hooks(lambda t: packed.append(1) or t.detach(), lambda t: t):
            x = x.exp()
        return x.sin()

    checkpoint(function, x, use_reentrant=False).backward()
    assert packed == [1, 1]
    assert x.grad.item() == pytest.approx(math.exp(0.5) * math.cos(math.exp(0.5)))


@pytest.mark.parametrize("reentrant", KINDS)
def test_on_cuda_its_generator_is_kept(reentrant: bool, cuda: Devices) -> None:
    x = glasstorch.ones(50, device="cuda", requires_grad=True)
    glasstorch.cuda.manual_seed(0)
    result = checkpoint(lambda x: glasstorch.nn.functional.dropout(x.exp(), 0.5), x, use_reentrant=reentrant)
    result.sum().backward()
    assert [value != 0 for value in x.grad.tolist()] == [value != 0 for value in result.tolist()]
