"""Which errors does a compilation raise?

Mirrors: torch/_dynamo/exc.py
"""

from __future__ import annotations

from typing import Any

from glasstorch.compiler.bytecode.unsupported import TorchDynamoException
from glasstorch.compiler.bytecode.unsupported import Unsupported as Unsupported


class InvalidBackend(TorchDynamoException):
    """A backend is asked for by a name that none has."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised an error, which is `inner_exception`."""

    def __init__(self, backend: Any, inner_exception: Exception) -> None:
        self.backend_name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", "?")
        self.inner_exception = inner_exception
        super().__init__(f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}")


class InternalTorchDynamoError(TorchDynamoException):
    """The capture of a program failed by a fault of its own."""

    def __init__(self, inner_exception: Exception) -> None:
        super().__init__(
            f"{type(inner_exception).__qualname__}: {inner_exception}\n\nThis is a fault of the compiler, not of the "
            "program. `torch._dynamo.config.suppress_errors = True` runs such a function as it is."
        )


class RecompileError(TorchDynamoException):
    """A function would be compiled again, and `error_on_recompile` refuses it."""


class RecompileLimitExceeded(TorchDynamoException):
    """A function was compiled as often as it may be."""


class FailOnRecompileLimitHit(RecompileLimitExceeded):
    """A function that must be one graph was compiled as often as it may be."""
