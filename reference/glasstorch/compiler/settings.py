"""Which settings does the capture of programs have?

Mirrors: torch/_dynamo/config.py
Differs: a few of PyTorch's settings, which a program reaches as `torch._dynamo.config`. `suppress_errors`, `verbose`,
    `dynamic_shapes`, `specialize_float` and both that begin with `capture_` can be set, and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Settings:
    """The settings, each an attribute with the value that it has now.

    >>> settings.recompile_limit
    8
    """

    def __init__(self) -> None:
        self.recompile_limit = 8  # graphs of one function, after which it runs as it is
        self.accumulated_recompile_limit = 256  # parts of one function, after breaks and called there
        self.fail_on_recompile_limit_hit = False
        self.error_on_recompile = False
        self.suppress_errors = False
        self.disable = False
        self.verbose = False
        self.automatic_dynamic_shapes = True
        self.assume_static_by_default = True
        self.dynamic_shapes = True
        self.specialize_int = False
        self.specialize_float = True
        self.capture_scalar_outputs = False
        self.capture_dynamic_output_shape_ops = False

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "capture_dynamic_output_shape_ops") and not hasattr(self, name):
            raise AttributeError(f"torch._dynamo.config.{name} does not exist")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in OLDER:
            return getattr(self, OLDER[name])
        raise AttributeError(f"torch._dynamo.config.{name} does not exist")

    def set(self, name: str, value: Any) -> None:
        """Change a setting, which may be called by an older name."""
        setattr(self, OLDER.get(name, name), value)

    def get_config_copy(self) -> dict[str, Any]:
        """All settings."""
        return dict(vars(self))

    def load_config(self, values: dict[str, Any]) -> None:
        """Change several settings."""
        for name, value in values.items():
            self.set(name, value)

    def patch(self, names: str | dict[str, Any] | None = None, value: Any = None, **values: Any) -> Patch:
        """A context, or a decorator, in which some settings have other values."""
        if isinstance(names, str):
            values = {names: value}
        elif names is not None:
            values = {**names, **values}
        return Patch(self, values)


OLDER = {"cache_size_limit": "recompile_limit", "accumulated_cache_size_limit": "accumulated_recompile_limit"}


class Patch:
    """A context, or a decorator of a function, in which settings have other values."""

    def __init__(self, changed: Settings, values: dict[str, Any]) -> None:
        self.changed = changed
        self.values = values
        self.before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self.before.append(self.changed.get_config_copy())
        self.changed.load_config(self.values)

    def __exit__(self, *unused: object) -> None:
        self.changed.load_config(self.before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def within() -> Iterator[None]:
            with self:
                yield

        return within()(function)


settings = Settings()
