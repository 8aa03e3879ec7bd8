"""How do records become a file of a run?

Mirrors: torch/utils/tensorboard/writer.py (FileWriter)
Differs: `reopen` works; PyTorch's asks tensorboard's writer for a method that it no longer has.

A record is an event: a summary, the step that it belongs to, and the time. The writer of tensorboard puts events into
a file from a thread of its own, at the latest every `flush_secs` seconds. TensorBoard shows each folder of such files
as one run.
"""

from __future__ import annotations

import os
import time
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata
from tensorboard.summary.writer.event_file_writer import EventFileWriter

Step = int | None
Seconds = float | None  # since 1970


class FileWriter:
    """Writes events to one new file in a folder, which it makes."""

    def __init__(
        self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = ""
    ) -> None:
        """At most `max_queue` events wait to be written; every `flush_secs` seconds the file is flushed."""
        self._arguments = (str(log_dir), max_queue, flush_secs, filename_suffix)
        self._is_closed = False
        self.event_writer = EventFileWriter(*self._arguments)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Step = None, walltime: Seconds = None) -> None:
        """Write an `Event` with the time at which it happened, by default now."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)  # it may be NumPy's or a tensor, which a protocol buffer refuses
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Step = None, walltime: Seconds = None) -> None:
        """Write a `Summary` as an event."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: tuple[Any, Any], walltime: Seconds = None) -> None:
        """Write a `GraphDef` and its `RunMetadata` as two events."""
        drawn, run = graph_profile
        self.add_event(Event(graph_def=drawn.SerializeToString()), None, walltime)
        tagged = TaggedRunMetadata(tag="step1", run_metadata=run.SerializeToString())
        self.add_event(Event(tagged_run_metadata=tagged), None, walltime)

    def flush(self) -> None:
        """Wait until all events so far are in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._is_closed = True
        self.event_writer.close()

    def reopen(self) -> None:
        """Continue in a new file after `close`; does nothing while the file is open."""
        if self._is_closed:
            self.event_writer = EventFileWriter(*self._arguments)
            self._is_closed = False
