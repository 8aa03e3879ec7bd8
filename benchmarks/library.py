"""What does a call cost that a program has a part in: of an operator that it has added, under a mode, of a subclass?

The kernel of an added operator returns a tensor that is there already, so that what is measured is the way to it and
back. Under a mode, and of a subclass, `add` of eight numbers is called.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from benchmarks.harness import Contest, Run, repeat


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    for title, make, number, budget in CONTESTS:
        runs: dict[str, Run] = {name: repeat(make(module)) for name, module in modules.items()}
        yield Contest(title, runs, number, budget=budget)


_kept: list[object] = []  # what a Library registered goes with it


def _kernel(module: Any) -> Any:
    library = module.library.Library("benchmarked", "FRAGMENT")
    _kept.append(library)
    library.define("kernel(Tensor x) -> Tensor")
    made, x = module.ones(8), module.ones(8)
    library.impl("kernel", lambda x: made, "CPU")
    operator = module.ops.benchmarked.kernel.default
    return lambda: operator(x)


def _custom_op(module: Any) -> Any:
    made, x = module.ones(8), module.ones(8)

    def function(x: Any) -> Any:
        return made

    function.__annotations__ = {"x": module.Tensor, "return": module.Tensor}
    operator = module.library.custom_op("benchmarked::custom", function, mutates_args=())
    return lambda: operator(x)


def _under_dispatch_mode(module: Any) -> Any:
    class Passing(importlib.import_module(f"{module.__name__}.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    return _calls_under(Passing(), module)


def _under_function_mode(module: Any) -> Any:
    class Passing(module.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    return _calls_under(Passing(), module)


def _calls_under(mode: Any, module: Any) -> Any:
    """A thousand calls, beside which to switch the mode on costs nothing."""
    x = module.ones(8)

    def calls() -> None:
        with mode:
            for _ in range(1000):
                module.add(x, x)

    return calls


def _subclass(module: Any) -> Any:
    class Plain(module.Tensor):  # type: ignore[misc]
        pass

    x = module.ones(8).as_subclass(Plain)
    return lambda: module.add(x, x)


def _wrapper(module: Any) -> Any:
    class Wrapper(module.Tensor):  # type: ignore[misc]
        __torch_function__ = module._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls: Any, inner: Any) -> Any:
            made = module.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return cls(function(*(arg.inner if isinstance(arg, cls) else arg for arg in args), **(kwargs or {})))

    x = Wrapper(module.ones(8))
    return lambda: module.add(x, x)


# What is measured, how often, and the most that it may cost in PyTorch's times.
CONTESTS: tuple[tuple[str, Callable[[Any], Any], int, float], ...] = (
    ("a Python kernel by Library.impl", _kernel, 5000, 1.0),
    ("a custom_op", _custom_op, 2000, 0.7),
    ("1000 calls under a TorchDispatchMode", _under_dispatch_mode, 5, 1.2),
    ("1000 calls under a TorchFunctionMode", _under_function_mode, 5, 1.2),
    ("a call of a subclass", _subclass, 2000, 1.0),
    ("a call of a wrapper subclass", _wrapper, 2000, 1.0),
)
