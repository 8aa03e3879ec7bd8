"""Which line of the forward pass made the node that fails in the backward pass?

Mirrors: torch/csrc/autograd/anomaly_mode.cpp, torch/csrc/autograd/python_anomaly_mode.cpp,
    torch/autograd/anomaly_mode.py
Differs: the traceback ends where the library begins, as C++ ends it in PyTorch. It stands on the node itself, not in a
    dict of its own.
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
from glasstorch.operators.generated.functions import isnan

LIBRARY = str(Path(__file__).parents[1])


class Node(Protocol):
    """What is asked here of a step of the backward graph."""

    forward_traceback: list[str] | None
    forward_parent: Any

    def name(self) -> str: ...


class _Mode:
    """The switch, which is one for all threads, as in PyTorch."""

    enabled = False
    check_nan = True


mode = _Mode()
running: ContextVar[Node | None] = ContextVar("running", default=None)  # the node that the engine runs, while enabled


def is_anomaly_enabled() -> bool:
    """Whether nodes remember the line that made them."""
    return mode.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a node that returns nan fails while the mode is on."""
    return mode.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn the mode on or off, and the search for nan with it; TypeError for what is no bool."""
    for place, (name, value) in enumerate({"enabled": enabled, "check_nan": check_nan}.items(), 1):
        if not isinstance(value, bool):
            raise ArgumentTypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {place}) must be bool, not {type(value).__name__}"
            )
    mode.enabled, mode.check_nan = enabled, check_nan


class set_detect_anomaly:
    """Sets the mode at once, as a function does, and puts the old one back at the end of a `with` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        set_anomaly_enabled(*self._before)


class detect_anomaly:
    """Inside, a backward pass that fails tells which line of the forward pass is to blame; nan is a failure too."""

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
    """Note on a new node the lines that lead to it, and the node that was running when it was made."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame = frame.f_back
    node.forward_traceback = traceback.format_stack(frame)
    node.forward_parent = running.get()


def check_nan(node: Node, results: Sequence[Any]) -> None:
    """Refuse what a node returned if there is a nan in it."""
    if not mode.check_nan:
        return
    for i, result in enumerate(results):
        if result is not None and isnan(result.detach()).any().item():
            raise AutogradError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def tell(node: Node) -> None:
    """Warn that a node failed, with the lines of the forward pass that made it, and those that made its parents."""
    before = f"Error detected in {node.name()}. "
    lines = "Traceback of forward call that caused the error:\n"
    culprit: Node | None = node
    while culprit is not None:
        if culprit.forward_traceback is None:
            warnings.warn(
                f"Error detected in {culprit.name()}. No forward pass information available. Enable detect anomaly "
                f"during forward pass for more information.",
                stacklevel=4,
            )
        else:
            warnings.warn(before + lines + "".join(culprit.forward_traceback), stacklevel=4)
        culprit = culprit.forward_parent
        if culprit is not None:
            before = f"\n\nPrevious calculation was induced by {culprit.name()}. "
            lines = "Traceback of forward call that induced the previous calculation:\n"
