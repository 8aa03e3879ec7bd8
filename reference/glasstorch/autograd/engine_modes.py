"""Which settings do backward passes and versions have, apart from the grad mode?

Mirrors: torch/autograd/grad_mode.py (set_multithreading_enabled, enforce_grad_layout_policy,
    _unsafe_preserve_version_counter), torch/autograd/graph.py (increment_version, region_activation_memory_budget,
    set_warn_on_accumulate_grad_stream_mismatch, set_override_stale_capture_stream)
Differs: there are no CUDA graphs to capture. A gradient's stream is always that of the engine's thread, so that none
    mismatches.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import Guard, check_enabled, multithreading
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import ADINPLACEORVIEW

enforces_layout: ContextVar[bool] = ContextVar("enforces_layout", default=True)  # read by `accumulate_grad`


def is_multithreading_enabled() -> bool:
    """Whether a backward pass runs the nodes of an accelerator in a thread of that device."""
    return multithreading.get()


class _Setting(Guard):
    """Changes a setting at once, and restores it at the end of a block."""

    variable: ContextVar[bool]
    function: str  # PyTorch's, which sets it

    def __init__(self, mode: bool) -> None:
        check_enabled(self.function, mode)
        self.mode = mode
        self._before = self.variable.get()
        self.variable.set(mode)

    def clone(self) -> _Setting:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self.variable.set(self.mode)

    def __exit__(self, *args: object) -> None:
        self.variable.set(self._before)


class set_multithreading_enabled(_Setting):
    """Lets backward passes run in several threads (the default), or all nodes in the calling thread.

    Sets it immediately, and restores the previous setting at the end of a `with` block.
    """

    variable = multithreading
    function = "set_multithreading_enabled"

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)


class SettingOfCalls(_Setting):
    """As decorator, changes the setting only for the time of a call."""

    def __call__(self, function: Any) -> Any:
        self.variable.set(self._before)
        return super().__call__(function)


class enforce_grad_layout_policy(SettingOfCalls):
    """Lets a new `.grad` have its leaf's layout (the default), or the layout in which the gradient arrives."""

    variable = enforces_layout
    function = "set_grad_layout_enforcement_enabled"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


class _unsafe_preserve_version_counter(Guard):
    """At the end of the block tensors have the version that they had when this was made: writes are not noticed."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self._versions = tuple(tensor._version for tensor in self.tensors)

    def clone(self) -> _unsafe_preserve_version_counter:
        return type(self)(self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        for tensor, version in zip(self.tensors, self._versions, strict=True):
            tensor.version_counter().value = version


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change in place of a tensor, or of several, that the library cannot see; an inference tensor has none."""
    if not isinstance(tensor, Iterable):
        raise AutogradError("increment_version expect a Iterable[Tensor] as input")
    for changed in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(changed, Tensor):
            raise AutogradError("increment_version expects each element of the iterable to be a tensor")
        if changed.key_set & ADINPLACEORVIEW:
            changed.bump_version()


def region_activation_memory_budget(budget: float) -> Any:
    """How much of a compiled region's activations is kept, as a share; always refused: no region is compiled so yet."""
    name = "torch.autograd.graph.region_activation_memory_budget"
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise TypeError(f"{name}: expects a float, got {type(budget).__name__}")
    if not 0.0 <= budget <= 1.0:
        raise ValueError(f"{name}: must be in [0, 1], got {budget}")
    raise AutogradError(f"{name} can only be used inside a torch.compile region; it has no effect in eager mode.")


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Whether to warn where a gradient arrives on another stream than its leaf's; there is none to warn of."""
    _check_bool(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Whether a stream outside of the CUDA graph being captured is replaced; no graphs are captured."""
    _check_bool(enabled)


def _check_bool(value: object) -> None:
    if not isinstance(value, bool):
        raise AutogradError(f"enabled must be a bool, but got {type(value).__name__}")
