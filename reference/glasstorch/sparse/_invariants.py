"""How does a program say whether the parts of new sparse tensors are checked?

Mirrors: torch/sparse/__init__.py (check_sparse_tensor_invariants)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from glasstorch.core.sparse_invariants import setting


class check_sparse_tensor_invariants:
    """Within a `with` block, or in a decorated function, parts are checked or, with `enable=False`, are not.

    `enable()` and `disable()` say it for all that follows, `is_enabled()` asks.
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.before: bool | None = None
        self.entered = False

    @staticmethod
    def is_enabled() -> bool:
        """Whether parts are checked."""
        return bool(setting.checked)

    @staticmethod
    def enable() -> None:
        """Check them from now on."""
        setting.checked = True

    @staticmethod
    def disable() -> None:
        """Check them no more."""
        setting.checked = False

    def __enter__(self) -> None:
        if self.entered:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self.before, self.entered = setting.checked, True
        setting.checked = self.state

    def __exit__(self, *error: object) -> None:
        assert self.entered
        setting.checked, self.entered = self.before, False

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked
