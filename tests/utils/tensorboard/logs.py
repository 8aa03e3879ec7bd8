"""What the tests of the logs share: the events of a folder, as tensorboard's own reader gives them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

THEN = 1_700_000_000.0  # a time for all events that a test writes


def events(folder: Path) -> list[Any]:
    """All events of the files in a folder, in the order in which they were written, as they lie there."""
    raw = [record for file in sorted(folder.glob("events.*")) for record in RawEventFileLoader(str(file)).Load()]
    return [Event.FromString(record) for record in raw]


def runs(folder: Path) -> dict[str, list[Any]]:
    """The summaries, steps and graphs below a folder, by the path of the run; without times and versions."""
    found = {}
    for inner in sorted({file.parent for file in folder.rglob("events.*")}):
        written = [
            (event.step, event.WhichOneof("what"), event.summary.SerializeToString(deterministic=True))
            for event in events(inner)
            if event.WhichOneof("what") != "file_version"
        ]
        found[inner.relative_to(folder).as_posix()] = written
    return found


def logged(library: Any, folder: Path, use: Callable[[Any, Any], None]) -> Path:
    """The folder in which a program logs with this library's writer."""
    import importlib

    writer = importlib.import_module(f"{library.__name__}.utils.tensorboard").SummaryWriter(folder / library.__name__)
    use(library, writer)
    writer.close()
    return folder / library.__name__


def read(folder: Path) -> EventAccumulator:
    """What TensorBoard itself would show of a run."""
    return EventAccumulator(str(folder)).Reload()
