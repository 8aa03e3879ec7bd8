"""Is a mode, a transform or a setting noticed that a compiled function was not captured with?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.compiler.alike import check


def autocast(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x: x @ x), t.ones(2, 2)
    found = [f(x).dtype]
    for options in ({"dtype": t.bfloat16}, {"dtype": t.float16}, {"enabled": False}):
        with t.autocast("cpu", **options):
            found.append(f(x).dtype)
    return [str(dtype).rpartition(".")[2] for dtype in (*found, f(x).dtype)]


def default_dtype(t: Any, compiled: Any) -> Any:
    f = compiled(lambda x: t.ones(2) + x)
    found = [f(1)]
    t.set_default_dtype(t.float64)
    try:
        found.append(f(1))
    finally:
        t.set_default_dtype(t.float32)
    return [*found, f(1)]


def deterministic_algorithms(t: Any, compiled: Any) -> Any:
    f = compiled(lambda x: x * 2)
    found = [f(t.ones(2))]
    try:
        for options in ({}, {"warn_only": True}):
            t.use_deterministic_algorithms(True, **options)
            found.append(f(t.ones(2)))
    finally:
        t.use_deterministic_algorithms(False)
    return [*found, f(t.ones(2))]


def modes_of_gradients(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x: (x * 2, t.is_grad_enabled())), t.ones(2, requires_grad=True)
    found = [f(x)]
    with t.no_grad():
        found.append(f(x))
    with t.inference_mode():
        made = f(x)
    return [*found, made, made[0].is_inference(), f(x), f(made[0])]


def a_dispatch_mode(t: Any, compiled: Any) -> Any:
    called = []

    class Mode(import_module(f"{t.__name__}.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            called.append(str(func))
            found = func(*args, **(kwargs or {}))
            return found * 10 if str(func) == "aten.add.Tensor" else found

    f, x = compiled(lambda x: t.add(x, 1) * 2), t.ones(2)
    found = [f(x)]
    with Mode():
        found.append(f(x))
    return [*found, f(x), called]


def operators_are_counted(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x: x @ x), t.ones(4, 4)
    f(x)
    with import_module(f"{t.__name__}.utils.flop_counter").FlopCounterMode(display=False) as counter:
        f(x)
    return counter.get_total_flops()


def hooks_for_saved_tensors(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x: (x.sin() * x.cos()).sum()), t.ones(2, requires_grad=True)
    packed = []
    f(x).backward()
    with t.autograd.graph.saved_tensors_hooks(lambda v: packed.append(1) or v, lambda v: v):
        f(x).backward()
    return [x.grad, bool(packed)]


@pytest.mark.parametrize(
    "program",
    [autocast, default_dtype, deterministic_algorithms, modes_of_gradients, a_dispatch_mode, operators_are_counted,
     hooks_for_saved_tensors],
)  # fmt: skip
def test_they_are_noticed(require: Any, program: Any) -> None:
    check(require("torch"), program, ("aot_eager",))


# PyTorch captures with modes, and skips for good what ran under a transform: its graphs are more or fewer -------------


def a_function_mode(t: Any, compiled: Any) -> Any:
    class Mode(import_module(f"{t.__name__}.overrides").TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return (t.mul if func is t.add else func)(*args, **(kwargs or {}))

    f, x = compiled(lambda x: t.add(x, 5)), t.ones(2)
    found = [f(x)]
    with Mode():
        found.append(f(x))
    return [*found, f(x)]


def a_default_device(t: Any, compiled: Any) -> Any:
    f = compiled(lambda x: t.ones(2) + x)
    found = [f(1).device]
    for device in (t.device("meta"), t.device("cpu"), t.device("meta")):
        with device:
            found.append(f(1).device)
    t.set_default_device("meta")
    try:
        found.append(f(1).device)
    finally:
        t.set_default_device(None)
    return [*found, f(1).device]


def transforms_of_what_is_compiled(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x: (x * x).sum()), t.arange(4.0)
    forward = t.func.jvp(f, (x,), (t.ones(4),))
    return [f(x), t.vmap(f)(x.reshape(2, 2)), t.func.grad(f)(x), forward, t.func.hessian(f)(x), f(x)]


def transforms_inside(t: Any, compiled: Any) -> Any:
    def both(x: Any) -> Any:
        return t.func.grad(lambda y: (y * y).sum())(x) + t.vmap(lambda y: y.sum())(x.reshape(2, 2)).sum()

    return compiled(both)(t.arange(4.0))


def anomalies(t: Any, compiled: Any) -> Any:
    f, found = compiled(lambda x: (x * x).sqrt().sum()), []
    for number in (1.0, 0.0):
        x = t.full((2,), number, requires_grad=True)
        with t.autograd.set_detect_anomaly(True):
            try:
                f(x).backward()
                found.append(x.grad)
            except RuntimeError as error:
                found.append("nan values" in str(error))
    return found


@pytest.mark.parametrize(
    "program", [a_function_mode, a_default_device, transforms_of_what_is_compiled, transforms_inside, anomalies]
)
def test_results_under_them(require: Any, program: Any) -> None:
    check(require("torch"), program, ("aot_eager",), graphs=False)
