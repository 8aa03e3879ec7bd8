"""Which line of the forward pass created the node that fails in the backward pass?

Mirrors: torch/csrc/autograd/anomaly_mode.cpp, torch/csrc/autograd/python_anomaly_mode.cpp,
    torch/autograd/anomaly_mode.py
Differs: the traceback ends where the library begins, as PyTorch's ends where C++ begins.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from glasstorch.core.errors import ArgumentTypeError, AutogradError
from glasstorch.devices import runtime
from glasstorch.operators.generated.functions import isnan

LIBRARY = str(Path(__file__).parents[1])


class Node(Protocol):
    """What this file needs of a node of the backward graph."""

    @property
    def metadata(self) -> dict[str, Any]: ...

    def name(self) -> str: ...


class _Mode:
    """The switch, shared by all threads, as in PyTorch."""

    enabled = False
    check_nan = True


mode = _Mode()
running: ContextVar[Node | None] = ContextVar("running", default=None)  # the node that the engine runs, while enabled


def is_anomaly_enabled() -> bool:
    """Whether nodes record the line that created them."""
    return mode.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a node that returns NaN raises an error while the mode is on."""
    return mode.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn the mode and its NaN check on or off; TypeError unless both are bools."""
    for position, (name, value) in enumerate({"enabled": enabled, "check_nan": check_nan}.items(), 1):
        if not isinstance(value, bool):
            raise ArgumentTypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, "
                f"not {type(value).__name__}"
            )
    mode.enabled, mode.check_nan = enabled, check_nan
    runtime.new_nodes.note_more = enabled or runtime.side_streams


class set_detect_anomaly:
    """Sets the mode immediately, and restores the previous one at the end of a `with` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        set_anomaly_enabled(*self._before)


class detect_anomaly:
    """Inside, a failing backward pass reports the line of the forward pass responsible; NaN counts as a failure."""

    def __init__(self, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self._check_nan)

    def __exit__(self, *exception: object) -> None:
        set_anomaly_enabled(*self._before)


# What nodes and the engine call while the mode is on --------------------------------------------------------------


def remember(node: Node) -> None:
    """Record on a new node the current traceback, and the node that was running when it was created."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame = frame.f_back
    node.metadata["traceback_"] = traceback.format_stack(frame)
    if (parent := running.get()) is not None:
        node.metadata["parent_"] = parent


def check_nan(node: Node, results: Sequence[Any]) -> None:
    """Raise an error if a node returned NaN."""
    if not mode.check_nan:
        return
    for i, result in enumerate(results):
        if result is not None and isnan(result.detach()).any().item():
            raise AutogradError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def tell(node: Node) -> None:
    """Warn that a node failed, with the forward traceback that created it, and those of its parents."""
    before = f"Error detected in {node.name()}. "
    lines = "Traceback of forward call that caused the error:\n"
    culprit: Node | None = node
    while culprit is not None:
        if (lines_of_forward := culprit.metadata.get("traceback_")) is None:
            _warn(
                f"Error detected in {culprit.name()}. No forward pass information available. Enable detect anomaly "
                f"during forward pass for more information."
            )
        else:
            _warn(before + lines + "".join(lines_of_forward))
        culprit = culprit.metadata.get("parent_")
        if culprit is not None:
            before = f"\n\nPrevious calculation was induced by {culprit.name()}. "
            lines = "Traceback of forward call that induced the previous calculation:\n"


def _warn(text: str) -> None:
    """Warn; where warnings are errors, print it instead: the error that is on its way is the node's."""
    try:
        warnings.warn(text, stacklevel=5)
    except Warning as refused:
        print(f"{type(refused).__name__}: {refused}", file=sys.stderr)
