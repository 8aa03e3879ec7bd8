"""Which operators ran forward and again, for the error that says that they differ?

Mirrors: torch/utils/checkpoint.py (_get_debug_context_and_cb), torch/testing/_internal/logging_tensor.py
Differs: the listing has another form, and frames of Python only.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch._tensor import Tensor
from glasstorch.core.user_line import LIBRARY
from glasstorch.utils.checkpoint.errors import CheckpointError


class OperatorLog(TorchDispatchMode):
    """Notes each operator that runs, and the lines of the program that led to it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stacks: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = [*map(_shown, args), *(f"{name}={_shown(value)}" for name, value in (kwargs or {}).items())]
        frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(LIBRARY)]
        self.lines.append(f"{func}({', '.join(given)})")
        self.stacks.append("\n".join(f"  {frame.filename}:{frame.lineno}:{frame.name}" for frame in reversed(frames)))
        return func(*args, **(kwargs or {}))


def _shown(value: Any) -> str:
    """`float32[2, 3]`: a tensor in short; anything else as it prints."""
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(value)


class Comparison:
    """The logs of both runs of a function."""

    def __init__(self) -> None:
        self.forward, self.again = OperatorLog(), OperatorLog()

    def contexts(self) -> tuple[OperatorLog, OperatorLog]:
        """The blocks that the forward pass and the second run take place in."""
        return self.forward, self.again

    def refuse(self, error: CheckpointError) -> NoReturn:
        """Raise an error with both logs, and where each operator was called."""
        parts = []
        for title, log in (("the original forward", self.forward), ("the recomputation", self.again)):
            listed = "\n".join(f"{line}\n{stack}" for line, stack in zip(log.lines, log.stacks, strict=True))
            parts.append(f"Operators executed during {title}, with the lines that called them:\n{listed}")
        for title, log in (("the original forward", self.forward), ("the recomputation", self.again)):
            parts.append(f"Operators executed during {title}:\n" + "\n".join(f"  {line}" for line in log.lines))
        listing = "\n\n".join(parts)
        raise CheckpointError(
            f"An error happened while unpacking tensors; dumping logs of latest computation because you passed "
            f"`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n{listing}\n\nERROR: Detected non-determinism "
            f"while running activation checkpointing: the operators above, or what they saved, differ. Calls of "
            f"aten.detach that differ are the checkpoint's own"
        ) from error
