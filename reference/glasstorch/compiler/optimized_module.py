"""What is a module whose `forward` runs by graphs?

Mirrors: torch/_dynamo/eval_frame.py (OptimizedModule)
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Final

from glasstorch.nn.modules.calling import Call
from glasstorch.nn.modules.module import Module

OWN: Final = frozenset(["_orig_mod", "dynamo_ctx", "_runs", "_torchdynamo_orig_callable", "_torchdynamo_wrapper_id"])


class OptimizedModule(Module):
    """A module that stands for another one: attributes, training mode and state are those of the original.

    `_orig_mod` is the original. `dynamo_ctx` makes of a function one that runs by graphs.
    """

    def __init__(self, mod: Module, dynamo_ctx: Callable[[Any], Any]) -> None:
        object.__setattr__(self, "_orig_mod", mod)  # `super().__init__` asks for it
        super().__init__()
        del self.__dict__["training"], self.__dict__["_orig_mod"]
        self._modules["_orig_mod"] = mod
        self.dynamo_ctx = dynamo_ctx
        self._runs = calling(mod, dynamo_ctx)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the original gives when it is called, its hooks included."""
        return self._runs(*args, **kwargs)

    def __len__(self) -> int:
        if hasattr(type(self._orig_mod), "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __reduce__(self) -> Any:
        return (type(self), (self._orig_mod, self.dynamo_ctx))

    @property
    def _optimized(self) -> Any:
        """The graphs of `forward`, once it has run."""
        return self._runs.graphs()  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self.__dict__["_modules"]["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or (name not in OWN and not hasattr(type(self), name)):
            return setattr(self._orig_mod, name, value) if name != "_orig_mod" else super().__setattr__(name, value)
        return object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name in OWN or hasattr(type(self), name):
            return super().__delattr__(name)
        return delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        names = list(dir(self._orig_mod))
        return names + [name for name in super().__dir__() if name not in names]


def calling(mod: Module, compiled: Callable[[Any], Any]) -> Callable[..., Any]:
    """What a call of a module gives, its `forward` compiled; hooks run outside of the graphs."""
    runs: dict[Any, Callable[..., Any]] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        own = type(mod).__call__
        if own is not Module.__call__ and isinstance(own, FunctionType):
            return run_of(own)(mod, *args, **kwargs)
        if "_initialize_hook" in mod.__dict__:  # a lazy module gets its sizes first
            mod._infer_parameters(mod, args, kwargs)
        if mod._has_hooks():
            return Call(mod, args, kwargs, forward).run()
        return forward(*args, **kwargs)

    def forward(*args: Any, **kwargs: Any) -> Any:
        target = mod.__dict__.get("forward", type(mod).forward)
        if isinstance(target, MethodType):
            return run_of(target.__func__)(target.__self__, *args, **kwargs)
        if "forward" in mod.__dict__:
            return run_of(target)(*args, **kwargs)
        return run_of(target)(mod, *args, **kwargs)

    def run_of(function: Any) -> Callable[..., Any]:
        if function not in runs:
            runs[function] = compiled(function)
        return runs[function]

    call.graphs = lambda: next((run._optimized for run in runs.values() if hasattr(run, "_optimized")), None)  # type: ignore[attr-defined]
    return call
