"""What does a compilation print of its work, and how is that chosen?

Mirrors: torch/_logging/_internal.py
Differs: the variable is GLASSTORCH_LOGS. What is chosen is printed to stderr, each line with its artifact's name.

`GLASSTORCH_LOGS="graph_breaks,+dynamic"` in the environment, or `torch._logging.set_logs(graph_breaks=True)`. A log is
set with `+` (DEBUG), `-` (ERROR) or without a sign (INFO).
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from importlib import import_module
from typing import Any, Final

from glasstorch.compiler.log_names import ALIASES, ARTIFACTS, LOGS, OF_PYTORCH, help_message, names, unknown_message
from glasstorch.compiler.log_state import is_on as is_on
from glasstorch.compiler.log_state import on
from glasstorch.compiler.log_state import tell as tell
from glasstorch.compiler.watching import watchers

VARIABLE: Final = "GLASSTORCH_LOGS"
TOLD_AT_ONCE: Final = frozenset(["graph_breaks", "guards", "recompiles", "graph_code", "patterns"])  # by `tell`
LEVELS: Final = {"+": logging.DEBUG, "-": logging.ERROR}
_levels: dict[str, int] = {}  # of loggers


class _ToStderr(logging.Handler):
    """Prints to what is stderr now."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"[{record.name}] {record.getMessage()}", file=sys.stderr)


_handler = _ToStderr()


def set_logs(*, modules: dict[str, Any] | None = None, **chosen: Any) -> None:
    """Print what is chosen, and nothing else: a level for a log, True for an artifact.

    `modules` gives levels to loggers by their names. What the environment chooses cannot be changed.
    """
    if VARIABLE in os.environ:
        warnings.warn(f"{VARIABLE} is set in the environment; this call of set_logs changes nothing", stacklevel=2)
        return
    known = {*names(), *OF_PYTORCH}
    for name, value in chosen.items():
        if name not in known:
            raise TypeError(f"set_logs() got an unexpected keyword argument {name!r}; there are {', '.join(names())}")
        if name in OF_PYTORCH and value:
            raise NotImplementedError(f"set_logs: glasstorch prints nothing for {name!r}; it has {', '.join(names())}")
    artifacts, levels = set(), {}
    for name, value in (chosen | (modules or {})).items():
        artifact = ALIASES.get(name, name)
        if value is None:
            continue
        if artifact in ARTIFACTS:
            if not isinstance(value, bool):
                raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
            artifacts |= {artifact} if value else set()
        elif name in LOGS or name == "all" or name in (modules or {}):
            if value not in logging._levelToName:
                valid = ",".join(map(str, logging._levelToName))
                raise ValueError(f"Unrecognized log level for log {name}: {value}, valid level values are: {valid}")
            levels[name] = value
    _choose(artifacts, levels)


def _choose(artifacts: set[str], levels: dict[str, int]) -> None:
    """Print these artifacts, and logs from these levels on, with the artifacts that belong to them."""
    for logger in _levels:
        logging.getLogger(logger).setLevel(logging.NOTSET)
        logging.getLogger(logger).removeHandler(_handler)
    _levels.clear()
    for name, level in levels.items():
        parts = {part for one in LOGS.values() for part in one} if name == "all" else LOGS.get(name, (_own(name),))
        _levels.update(dict.fromkeys(parts, level))
    for logger, level in _levels.items():
        logging.getLogger(logger).setLevel(level)
        if not any(logger.startswith(f"{other}.") for other in _levels):  # which would print it too
            logging.getLogger(logger).addHandler(_handler)
    on.clear()
    on.update(artifacts)
    for name, artifact in ARTIFACTS.items():
        level = levels.get(artifact.log, levels.get("torch", levels.get("all", logging.CRITICAL)))
        if not artifact.on_request and level <= artifact.level:
            on.add(name)
    watchers[:] = [watcher for watcher in watchers if watcher is not _print]
    if on - TOLD_AT_ONCE:
        watchers.append(_print)


def _print(stage: str, facts: dict[str, Any]) -> None:
    import_module("glasstorch.compiler.log_texts").printed(stage, facts)


def _own(name: str) -> str:
    """The name of a logger here: `torch._dynamo` is `glasstorch._dynamo`."""
    return f"glasstorch{name.removeprefix('torch')}" if name == "torch" or name.startswith("torch.") else name


def _from_the_environment(text: str) -> None:
    """Choose what a text names. ValueError for a name that does not exist, and for "help"."""
    artifacts, levels = set(), {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        sign, name = (part[0], part[1:]) if part[0] in LEVELS else ("", part)
        artifact = ALIASES.get(name, name)
        if name == "help":
            raise ValueError(help_message(VARIABLE, all_of_them=sign == "+"))
        if artifact in ARTIFACTS:
            artifacts.add(artifact)
        elif name in LOGS or name == "all" or name.startswith(("torch.", "glasstorch.")):
            levels[name] = LEVELS.get(sign, logging.INFO)
        else:
            raise ValueError(unknown_message(text, VARIABLE))
    if artifacts or levels:
        _choose(artifacts, levels)


_from_the_environment(os.environ.get(VARIABLE, ""))
