"""What does a call of an operator cost that a program has added?

Its kernel returns a tensor that is there already, so that what is measured is the way to it and back.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from benchmarks.harness import Contest, Run, repeat


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    kernels: dict[str, Run] = {}
    operators: dict[str, Run] = {}
    for name, module in modules.items():
        kernels[name] = repeat(_kernel(module))
        operators[name] = repeat(_custom_op(module))
    yield Contest("a Python kernel by Library.impl", kernels, 5000, budget=1.0)
    yield Contest("a custom_op", operators, 2000, budget=0.7)


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
