"""Does each node run in its thread, however deep passes are nested, and does the caller learn what went wrong there?"""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import device_threads
from glasstorch.autograd.device_threads import MAX_DEPTH, ReadyQueue, SharedPass
from glasstorch.autograd.modes import multithreading
from glasstorch.devices import runtime


@pytest.fixture
def devices() -> Iterator[None]:
    """Two simulated devices."""
    try:
        glasstorch.cuda.use_simulator(devices=2)
        yield
        runtime.driver().synchronize()
    finally:
        runtime.use_driver(None)


def noting(notes: list[Any], tensor: Any, name: str) -> Any:
    """The tensor, whose gradient's arrival will be noted with the thread."""
    tensor.register_hook(lambda grad: notes.append((name, threading.current_thread().name)))
    return tensor


@pytest.mark.usefixtures("devices")
def test_a_node_runs_in_the_thread_of_its_device_and_one_of_the_cpu_in_the_callers() -> None:
    notes: list[Any] = []
    a = glasstorch.ones(3, device="cuda:0", requires_grad=True)
    b = glasstorch.ones(3, device="cuda:1", requires_grad=True)
    c = glasstorch.ones(3, requires_grad=True)
    x, y, z = noting(notes, a * 2, "x"), noting(notes, b * 3, "y"), noting(notes, c * 4, "z")
    (x.cpu() * z + y.cpu()).sum().backward()
    here = threading.current_thread().name
    assert sorted(notes) == [("x", "pt_autograd_0"), ("y", "pt_autograd_1"), ("z", here)]
    assert [t.grad.tolist() for t in (a, b, c)] == [[8.0] * 3, [3.0] * 3, [8.0] * 3]


@pytest.mark.usefixtures("devices")
def test_without_multithreading_all_nodes_run_in_the_callers_thread() -> None:
    notes: list[Any] = []
    a = glasstorch.ones(3, device="cuda:1", requires_grad=True)
    token = multithreading.set(False)
    try:
        noting(notes, a * 2, "x").sum().backward()
    finally:
        multithreading.reset(token)
    assert notes == [("x", threading.current_thread().name)]


@pytest.mark.usefixtures("devices")
def test_a_device_is_the_current_one_in_its_thread_and_the_callers_modes_hold_there() -> None:
    seen: list[Any] = []
    a = glasstorch.ones(3, device="cuda:1", requires_grad=True)
    b = a * a
    b.register_hook(lambda grad: seen.append((glasstorch.cuda.current_device(), glasstorch.is_grad_enabled())))
    with glasstorch.autograd.graph.disable_saved_tensors_hooks("not here"):
        b.register_hook(lambda grad: seen.append(_saved_hooks_refused()))
        glasstorch.autograd.grad(b.sum(), a, create_graph=True)
    assert seen == [(1, True), "not here"]


def _saved_hooks_refused() -> str:
    try:
        with glasstorch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return ""
    except RuntimeError as error:
        return str(error)


@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt])
def test_the_caller_gets_the_error_of_a_devices_thread_and_the_next_pass_runs(kind: type[BaseException]) -> None:
    def fail(grad: Any) -> None:
        raise kind("mine")

    a = glasstorch.ones(3, device="cuda:0", requires_grad=True)
    b = a * 2
    handle = b.register_hook(fail)
    with pytest.raises(kind, match="mine"):
        (b.cpu() * 3).sum().backward()
    assert a.grad is None
    handle.remove()
    (a * 2).cpu().sum().backward()
    assert a.grad.tolist() == [2.0] * 3


@pytest.mark.usefixtures("devices")
def test_anomaly_mode_names_the_node_that_failed_in_a_devices_thread() -> None:
    with glasstorch.autograd.set_detect_anomaly(True):
        a = glasstorch.zeros(1, device="cuda:0", requires_grad=True)
        root = (a * 0).sqrt() * 0
        with (
            pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th output"),
            pytest.warns(UserWarning, match="Error detected in SqrtBackward0"),
        ):
            root.backward()


@pytest.mark.usefixtures("devices")
def test_callbacks_that_a_devices_thread_queues_run_when_the_last_node_has_run() -> None:
    engine, seen = glasstorch.autograd.Variable._execution_engine, []
    a = glasstorch.ones(3, device="cuda:0", requires_grad=True)
    b = a * 2
    b.register_hook(lambda grad: engine.queue_callback(lambda: seen.append(a.grad.tolist())))
    b.cpu().sum().backward()
    assert seen == [[2.0] * 3]


@pytest.mark.usefixtures("devices")
def test_the_running_node_is_known_in_each_thread() -> None:
    seen: list[str] = []
    a = glasstorch.ones(3, device="cuda:0", requires_grad=True)
    b = a * 2
    b.register_hook(lambda grad: seen.append(glasstorch._C._current_autograd_node().name()))
    c = b.cpu() * 3
    c.register_hook(lambda grad: seen.append(glasstorch._C._current_autograd_node().name()))
    c.exp().sum().backward()
    assert seen == ["MulBackward0", "MulBackward0"]
    assert glasstorch._C._current_autograd_node() is None


@pytest.mark.usefixtures("devices")
def test_a_pass_that_threads_share_leaves_no_cycle() -> None:
    a = glasstorch.ones(3, device="cuda:0", requires_grad=True)

    class MineError(Exception):
        pass

    def fail(grad: Any) -> None:
        raise MineError

    def step(hook: Any) -> list[weakref.ref[Any]]:
        b = a * 2
        b.register_hook(hook)
        made: list[weakref.ref[Any]] = [weakref.ref(b), weakref.ref(b.grad_fn)]
        try:
            b.cpu().sum().backward()
        except MineError as error:
            made.append(weakref.ref(error))
        a.grad = None
        return made

    for hook, count in ((fail, 3), (lambda grad: None, 2)):
        gc.disable()
        try:
            made = step(hook)
            assert len(made) == count
            until = time.monotonic() + 60
            # The thread of the device lets go of a pass a little later than the caller.
            while any(reference() is not None for reference in made) and time.monotonic() < until:
                time.sleep(0.001)
            assert [reference() for reference in made] == [None] * count
        finally:
            gc.enable()


# Order ----------------------------------------------------------------------------------------------------------


class _Pass:
    """A pass that is nested in so many others."""

    shared = None

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def evaluate(self, node: Any) -> None:
        raise AssertionError("the queue only hands nodes out")

    def run(self) -> None:
        raise AssertionError("the queue only hands nodes out")


def test_a_queue_gives_out_the_innermost_passs_nodes_first_and_of_these_the_latest() -> None:
    x = glasstorch.ones(1, requires_grad=True)
    nodes = [(x * 1).grad_fn for _ in range(3)]
    outer, inner = SharedPass(_Pass(0)), SharedPass(_Pass(1))
    queue = ReadyQueue()
    for shared, node in ((outer, nodes[2]), (inner, nodes[0]), (outer, nodes[0]), (inner, nodes[1])):
        queue.push(shared, node)
    queue.wake()
    assert queue.pop() == (None, None)
    order = [queue.pop() for _ in range(4)]
    assert order == [(inner, nodes[1]), (inner, nodes[0]), (outer, nodes[2]), (outer, nodes[0])]


# Passes within passes -------------------------------------------------------------------------------------------


def nested(torch: Any, notes: list[Any], fail: bool = False) -> Any:
    """A Function whose backward runs a pass over itself, as many as its argument says, each within the last."""

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            notes.append(threading.get_ident())
            if ctx.x < 0:
                if fail:
                    raise ValueError("at the bottom")
                return grad
            with torch.enable_grad():
                Nested.apply(ctx.x).sum().backward()
            return grad

    return Nested


def test_passes_may_be_nested_deeper_than_one_threads_stack(torch: Any) -> None:
    notes: list[int] = []
    for depth in (6 * MAX_DEPTH, 2 * MAX_DEPTH):  # the second finds threads that wait
        x = torch.tensor(float(depth), requires_grad=True)
        nested(torch, notes).apply(x).sum().backward()
        assert x.grad.item() == 1
    assert len(notes) == 8 * MAX_DEPTH + 2
    in_this_thread = notes.count(threading.get_ident())
    assert in_this_thread == 2 * (MAX_DEPTH + 1)


def test_an_error_comes_up_through_all_nested_passes(torch: Any) -> None:
    x = torch.tensor(2.0 * MAX_DEPTH, requires_grad=True)
    with pytest.raises(ValueError, match="at the bottom"):
        nested(torch, [], fail=True).apply(x).sum().backward()
    (x * 2).backward()
    assert x.grad.item() == 2


@pytest.mark.usefixtures("devices")
def test_a_devices_node_may_run_passes_that_need_its_own_thread() -> None:
    notes: list[int] = []
    x = glasstorch.tensor(2.5 * MAX_DEPTH, device="cuda:0", requires_grad=True)
    nested(glasstorch, notes).apply(x).sum().backward()
    assert x.grad.item() == 1
    assert len(set(notes)) == 3  # the device's thread, and two of the pool in its place
    assert threading.get_ident() not in notes


@pytest.mark.usefixtures("devices")
def test_threads_share_the_thread_of_a_device() -> None:
    results: dict[int, list[float]] = {}

    def work(number: int) -> None:
        a = glasstorch.full((2,), float(number), device="cuda:0", requires_grad=True)
        for _ in range(5):
            a.grad = None
            ((a * a).cpu() * 3).sum().backward()
        results[number] = a.grad.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [6.0 * n] * 2 for n in range(4)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_in_which_the_threads_are_gone_refuses_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = device_threads._Threads()
    monkeypatch.setattr(device_threads, "_threads", threads)
    x = glasstorch.tensor(1.0, requires_grad=True)
    threads.forked()
    (x * 2).backward()  # no thread had been started
    threads.pool()
    threads.forked()
    with pytest.raises(RuntimeError, match="Unable to handle autograd's threading in combination with fork-based"):
        (x * 2).backward()
