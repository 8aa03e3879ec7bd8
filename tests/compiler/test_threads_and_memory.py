"""Do threads that compile at once get what eager mode gives, and does a function that is dropped leave nothing?"""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo.exc import BackendCompilerFailed


def program(x: Any, k: int) -> Any:
    y = x * k
    if k > 2:
        y = y.sin()
    return (y + 1).sum()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_threads_that_compile_at_once(backend: str) -> None:
    run = torch.compile(program, backend=backend)
    start, wrong = threading.Barrier(4), []

    def work(number: int) -> None:
        start.wait()
        for i in range(6):
            x, k = torch.linspace(0, 1, 2 + i % 3, requires_grad=True), (number + i) % 5
            found, wanted = run(x, k), program(x, k)
            gradients = [torch.autograd.grad(one, x)[0] for one in (found, wanted)]
            if torch.compiler.is_compiling() or not torch.allclose(found, wanted) or not torch.allclose(*gradients):
                wrong.append((number, i))
            mine = torch.compile(lambda x, k=k: x * k + 1, backend=backend)
            if not torch.equal(mine(x), x * k + 1):
                wrong.append((number, i, "its own function"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_only_the_thread_that_captures_is_compiling() -> None:
    seen = []

    def backend(module: Any, inputs: Any) -> Any:
        other = threading.Thread(target=lambda: seen.append(torch.compiler.is_compiling()))
        other.start()
        other.join()
        return module.forward

    assert torch.compile(lambda x: x + 1, backend=backend)(torch.ones(1)).item() == 2
    assert seen == [False]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_functions_that_are_dropped_leave_nothing(backend: str) -> None:
    def drop(count: int) -> int:
        for i in range(count):
            names: dict[str, Any] = {}
            exec(f"def f(x):\n    return (x * {i % 3} + 1).sin()", names)
            torch.compile(names["f"], backend=backend)(torch.ones(3))
        gc.collect()
        return len(gc.get_objects())

    drop(10)
    before = drop(3)
    assert drop(30) - before < 30


def test_the_default_backend_has_its_name_in_errors() -> None:
    error = BackendCompilerFailed(torch._dynamo.lookup_backend("inductor"), ValueError("it failed"))
    assert str(error) == "backend='inductor' raised:\nValueError: it failed"
