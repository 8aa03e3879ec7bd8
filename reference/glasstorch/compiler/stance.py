"""Is a function that was compiled run by its graphs now?

Mirrors: torch/_dynamo/decorators.py (set_stance), torch/_dynamo/eval_frame.py (DynamoStance)
Differs: the stances that run the first call in another way are refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

STANCES: Final = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")
OF_PYTORCH: Final = ("eager_then_compile", "aot_eager_then_compile")


_thread: Final = threading.local()


class State:
    """The stance now. `plain` is true where a compiled function must look at nothing else."""

    def __init__(self) -> None:
        self.name = "default"
        self.backend: Any = None  # what compiles in place of the backend that was asked for
        self.plain = True

    @property
    def is_capturing(self) -> bool:
        """Whether this thread captures a function."""
        return getattr(_thread, "is_capturing", False)

    @is_capturing.setter
    def is_capturing(self, value: bool) -> None:
        _thread.is_capturing = value

    def change(self, name: str, backend: Any) -> tuple[str, Any]:
        """Take a stance; the one before is returned."""
        if self.is_capturing:
            raise RuntimeError("attempted to set_stance in a torch.compile region")
        before = self.name, self.backend
        self.name, self.backend = name, backend
        self.plain = name == "default" and backend is None
        return before


state: Final = State()


def is_compiling() -> bool:
    """Whether the code that asks is being captured."""
    return state.is_capturing


def is_dynamo_compiling() -> bool:
    """Whether the code that asks is being captured from its bytecode."""
    return state.is_capturing


def is_exporting() -> bool:
    """Whether the code that asks is being exported: no."""
    return False


class set_stance:  # PyTorch's name
    """Take a stance: as a call, a context, or a decorator.

    With "force_eager" compiled functions run as they are. "eager_on_recompile" runs a call as it is where no graph
    holds, and "fail_on_recompile" raises an error there. With "default", `force_backend` compiles in place of the
    backends that functions were compiled with.
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if stance in OF_PYTORCH:
            raise NotImplementedError(f"set_stance: glasstorch has no stance {stance!r}; there are {list(STANCES)}")
        if stance not in STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        if skip_guard_eval_unsafe:
            raise NotImplementedError("set_stance: glasstorch checks all guards; skip_guard_eval_unsafe is refused")
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        if isinstance(force_backend, str):
            from glasstorch.compiler.backends import lookup_backend

            force_backend = lookup_backend(force_backend)
        self.stance, self.backend = stance, force_backend
        self.before = state.change(stance, force_backend)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        state.change(*self.before)

        @wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance, force_backend=self.backend):
                return function(*args, **kwargs)

        return within

    def __enter__(self) -> None: ...

    def __exit__(self, *unused: object) -> None:
        state.change(*self.before)
