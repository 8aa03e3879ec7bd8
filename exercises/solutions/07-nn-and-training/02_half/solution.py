"""Converts every buffer that exists, whether or not it is saved."""

from __future__ import annotations

from typing import Any

from glasstorch.nn.modules.conversion import Change, replaced

FILE = "nn/modules/conversion.py"
LINE = 30


def mended(module: Any, fn: Change) -> None:
    """Replace a module's parameters, their gradients and its buffers by the results of `fn`; not those of children."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            module._parameters[name] = replaced(parameter, fn, f"{module._get_name()}.{name}")
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
