"""Which questions does a program put to the CPU as it would to an accelerator?

Reading order: `amp/`.

Mirrors: torch/cpu/__init__.py
Differs: `get_capabilities` knows what NumPy found of the processor's instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import MappingProxyType, TracebackType
from typing import Any

from glasstorch.core.device import device as _Device
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.cpu import amp as amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]

_On = _Device | str | int | None


def is_available() -> bool:
    """Whether there is a CPU: yes."""
    return True


def is_initialized() -> bool:
    """Whether the CPU can be used: yes."""
    return True


def device_count() -> int:
    """How many devices the CPU is: one, whatever the number of its cores."""
    return 1


def current_device() -> str:
    """The current device: "cpu"."""
    return "cpu"


def set_device(device: _On) -> None:
    """Make a device the current one; there is only one."""


def synchronize(device: _On = None) -> None:
    """Wait for queued work; on the CPU every call has done its own when it returns."""


class Stream:
    """An order of work on the CPU, which is that of the program."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Stream) -> None:
        """Wait for another stream; its work is done."""

    def record_event(self) -> None:
        """Mark a place in the stream; there is nothing to wait for."""

    def wait_event(self, event: Event) -> None:
        """Wait for a mark; the work before it is done."""


class Event:
    """A mark in a stream, whose work is done."""

    def query(self) -> bool:
        """Whether the work before it is done: yes."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Set the mark."""

    def synchronize(self) -> None:
        """Wait until the work before it is done."""

    def wait(self, stream: Stream | None = None) -> None:
        """Let a stream wait for it."""


_current: ContextVar[Stream] = ContextVar("current CPU stream", default=Stream())  # noqa: B039 (it has no state)


def current_stream(device: _On = None) -> Stream:
    """The stream that was chosen, or the only one there is otherwise."""
    return _current.get()


class StreamContext(AbstractContextManager[None]):
    """`with StreamContext(stream):` makes a stream the current one; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.before: Stream | None = None

    def __enter__(self) -> None:
        if self.stream is not None:
            self.before = _current.get()
            _current.set(self.stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.before is not None:
            _current.set(self.before)


def stream(stream: Stream | None) -> StreamContext:
    """The same as `StreamContext`."""
    return StreamContext(stream)


def get_capabilities() -> Mapping[str, Any]:
    """Which instructions the processor has, by their names in PyTorch, as far as NumPy asks for them."""
    from numpy._core._multiarray_umath import __cpu_features__ as found  # type: ignore[import-not-found]

    return MappingProxyType({name.lower(): has for name, has in found.items()})


__getattr__ = _refuse_unknown_names(__name__)
