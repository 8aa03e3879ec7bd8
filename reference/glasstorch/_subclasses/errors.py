"""What can a fake tensor not answer?

Mirrors: torch/_subclasses/fake_tensor.py (its exceptions)
"""

from __future__ import annotations

from typing import Any


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor has no fake form."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class FakeTensorDeviceMismatchError(RuntimeError):
    """The arguments of an operator are on several devices."""

    def __init__(self, func: Any, device1: Any, device2: Any) -> None:
        super().__init__(
            f"Expected all tensors to be on the same device, but found at least two devices, {device1} and {device2}!"
        )
        self.func, self.device1, self.device2 = func, device1, device2


class _OfOperator(RuntimeError):
    """An error about one operator, which it names."""

    def __init__(self, func: Any) -> None:
        super().__init__(str(func))
        self.func = func


class DynamicOutputShapeException(_OfOperator):
    """The sizes of a result depend on the elements of an argument."""


class DataDependentOutputException(_OfOperator):
    """A number was asked for that depends on the elements of an argument."""


class UnsupportedOperatorException(_OfOperator):
    """An operator has no kernel for tensors without elements."""
