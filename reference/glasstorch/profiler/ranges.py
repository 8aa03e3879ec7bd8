"""Which names does a program use to mark ranges for NVIDIA's and Intel's own profilers?

Mirrors: torch/cuda/nvtx.py, torch/profiler/itt.py, torch/autograd/profiler.py (emit_nvtx, emit_itt)
Differs: neither library is bound, so that every call says so, as in a build of PyTorch without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Final, NoReturn

NVTX: Final = "NVTX functions not installed. Are you sure you have a CUDA build? glasstorch binds no NVTX library; "
ITT: Final = "ITT functions not installed. Are you sure you have a ITT build? glasstorch binds no ITT library; "
INSTEAD: Final = "torch.profiler.record_function marks a range in glasstorch's own profile"


def refused(reason: str) -> Callable[..., NoReturn]:
    """A function that cannot do what its name says, and says why."""

    def fail(*args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(reason + INSTEAD)

    return fail


def refused_range(reason: str) -> Callable[..., AbstractContextManager[None]]:
    """A function that makes a context manager, which is refused when it is entered."""
    push: Callable[..., object] = refused(reason)

    @contextmanager
    def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
        """Refused: see `range_push`."""
        push(msg.format(*args, **kwargs))
        yield

    return range


class _Emit:
    """A context manager that would let every operator mark its range in another program's timeline."""

    reason: str

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self) -> Any:
        return refused(self.reason)() if self.enabled else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


class emit_nvtx(_Emit):
    """Refused when it is entered, unless `enabled=False`: there is no NVTX."""

    reason = NVTX


class emit_itt(_Emit):
    """Refused when it is entered, unless `enabled=False`: there is no ITT."""

    reason = ITT
