"""Can a program keep saved tensors in a form of its own, as in PyTorch?"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from glasstorch.autograd.saved_hooks import in_use, refusal
from tests.devices.devices import Devices
from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def facts(t: Any) -> list[Any]:
    node = None if t.grad_fn is None else t.grad_fn.name()
    return [t.requires_grad, t.is_leaf, node, list(t.shape), t._is_view()]


def seen(lib: Any) -> list[Any]:
    """What both hooks are given, in which mode, and what the backward pass makes of what they return."""
    said: list[Any] = []

    def pack(t: Any) -> Any:
        said.append(["pack", *facts(t), lib.is_grad_enabled()])
        return t.detach().clone()

    def unpack(t: Any) -> Any:
        said.append(["unpack", lib.is_grad_enabled()])
        return t

    x = lib.tensor([1.0, 2.0], requires_grad=True)
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
        z = (y.exp() * 3.0)[:1] * y[1:]
    said.append(facts(y.grad_fn._saved_self))
    (g,) = lib.autograd.grad(z.sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(g.sum(), x)
    return [*said, g.tolist(), second.tolist()]


def of_a_function(lib: Any) -> list[Any]:
    said: list[Any] = []

    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            said.append([None if t is None else facts(t) for t in ctx.saved_tensors])
            return grad * 2

    x = lib.ones(2, requires_grad=True)
    hooks = lib.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: said.append(facts(t)) or t.detach(), lambda t: t):
        y = Twice.apply(x)
    y.sum().backward()
    return [*said, x.grad.tolist()]


def innermost_counts(lib: Any) -> list[str]:
    said: list[str] = []
    hooks, x = lib.autograd.graph.saved_tensors_hooks, lib.ones(2, requires_grad=True)

    def named(name: str) -> Any:
        return hooks(lambda t: said.append(name) or t.detach(), lambda t: t)

    with named("outer"):
        x.exp()
        with named("inner"):
            x.exp()
        x.exp()
    x.exp()
    return said


def changed_after_saving(lib: Any) -> list[float]:
    x = lib.ones(2, requires_grad=True)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * 1
        z = y * y
    y.add_(1)
    z.sum().backward()
    return x.grad.tolist()


def with_hooks(pack: Any, unpack: Any) -> Callable[[Any], Any]:
    def program(lib: Any) -> Any:
        x = lib.ones(2, requires_grad=True)
        with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = x.exp()
        y.sum().backward()
        return x.grad.tolist()

    return program


def disabled(lib: Any) -> list[Any]:
    graph, said = lib.autograd.graph, []
    with graph.disable_saved_tensors_hooks("outer"):
        with graph.disable_saved_tensors_hooks("inner"):
            for _ in range(2):
                try:
                    with graph.save_on_cpu():
                        pass
                except RuntimeError as error:
                    said.append(str(error))
        try:
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
        except RuntimeError as error:
            said.append(str(error))
    with graph.save_on_cpu():
        try:
            with graph.disable_saved_tensors_hooks("too late"):
                pass
        except RuntimeError as error:
            said.append(str(error))
    return said


def registered_on_a_node(lib: Any) -> list[Any]:
    x = lib.ones(2, requires_grad=True)
    y, z = x * x, x.exp()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 3, lambda t: t)
    z.grad_fn._raw_saved_result.register_hooks(lambda t: t * 3, lambda t: t)
    said = [y.grad_fn._saved_self.tolist(), facts(y.grad_fn._saved_self), z.grad_fn._saved_result.tolist()]
    (y.sum() + z.sum()).backward()
    said.append([round(value, 4) for value in x.grad.tolist()])
    w = x * x
    w.grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t)
    w.grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t)
    return said


@pytest.mark.parametrize(
    "program",
    [
        seen,
        of_a_function,
        innermost_counts,
        changed_after_saving,
        disabled,
        registered_on_a_node,
        with_hooks(lambda t: t.detach() * 2, lambda t: t),
        with_hooks(lambda t: t.tolist(), lambda t: t),
        with_hooks(lambda t: 1 / 0, lambda t: t),
        with_hooks(lambda t: t.detach(), lambda t: 1 / 0),
    ],
)
def test_a_program_does_what_it_does_in_pytorch(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"))


def test_a_hook_must_not_write_to_what_it_is_given(require: Require) -> None:
    assert_same(with_hooks(lambda t: t.add_(1), lambda t: t), require("torch"), words=False)
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
        with_hooks(lambda t: t.add_(1), lambda t: t)(glasstorch)
    assert in_use.get() is None


def test_a_hook_must_be_callable(require: Require) -> None:
    assert_same(with_hooks(3, lambda t: t), require("torch"), words=False)
    assert_same(with_hooks(lambda t: t, 3), require("torch"), words=False)
    assert in_use.get() is None


def test_a_thread_has_hooks_of_its_own() -> None:
    found = []
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        thread = threading.Thread(target=lambda: found.append(in_use.get()))
        thread.start()
        thread.join()
    with disable_saved_tensors_hooks("no"):
        thread = threading.Thread(target=lambda: found.append(refusal.get()))
        thread.start()
        thread.join()
    assert found == [None, None]


def test_numbers_are_not_given_to_hooks() -> None:
    packed = []
    x = glasstorch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = x * 3.0
    y.sum().backward()
    assert (packed, x.grad.tolist()) == ([], [3.0, 3.0])


def test_what_was_saved_may_be_gone_while_it_is_packed() -> None:
    """The tensor itself is not held, nor is its node: only what the hook returned."""
    x = glasstorch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda t: t.tolist(), lambda values: glasstorch.tensor(values)):
        y = x * 2.0
        z = y * y
        w = z.exp()
        node = weakref.ref(w.grad_fn)
        gone = weakref.ref(y)
        del y, z
    gc.collect()
    assert gone() is None
    w.sum().backward()
    assert x.grad is not None
    del w
    assert node() is None


def test_saving_on_the_cpu_moves_and_brings_back(cuda: Devices) -> None:
    x = glasstorch.ones(2, device="cuda", requires_grad=True)
    for pinned in (False, True):
        with save_on_cpu(pin_memory=pinned):
            y = x * x
        assert y.grad_fn.saved_self.tensor.value[1].device.type == "cpu"
        assert y.grad_fn._saved_self.device == x.device
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
        x.grad = None


def test_hooks_on_a_tensor_that_was_freed_are_refused(torch: Any) -> None:
    y = torch.ones(3, requires_grad=True).exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match=r"^Calling register_hooks on a saved tensor after it has been freed"):
        y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)
