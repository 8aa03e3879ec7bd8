"""How are 75,000 tests handed to several workers?

As whole files, in the order in which they were collected. The `loadfile` of pytest-xdist does the same, but searches
the list of all tests for each one, and counts after each test everything that a worker was ever given: with so many
tests that took half a minute of the processor. What workers then say of tests that pass took another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class FileByFile(LoadFileScheduling):  # type: ignore[misc] # xdist tells mypy nothing about its types
    """Gives a worker that is almost done the next file. A worker's units of work hold what it has not done yet."""

    def schedule(self) -> None:
        """Hand out the first files once every worker has collected the tests, which must be the same ones."""
        self.places = {test: place for place, test in enumerate(next(iter(self.registered_collections.values())))}
        super().schedule()

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget a test that was run, and its file with the last one."""
        assert self.collection is not None
        self._forget(node, self.collection[item_index])
        self._reschedule(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Leave what a worker had to do to the others; if it crashed, all but the test that it ran, which is returned.

        xdist gives that test to the next worker, which crashes too, until no worker is left.
        """
        running = next((test for tests in self.assigned_work[node].values() for test in tests), None)
        if running is not None:
            self._forget(node, running)
        super().remove_node(node)
        return running

    def _forget(self, node: WorkerController, test: str) -> None:
        file, units = self._split_scope(test), self.assigned_work[node]
        del units[file][test]
        if not units[file]:
            del units[file]

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        return sum(map(len, workload.values()))

    def _assign_work_unit(self, node: WorkerController) -> None:
        file, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][file] = tests
        node.send_runtest_some([self.places[test] for test in tests])


# --- what a worker says of a test ---

WORTH_TELLING = 0.005  # seconds that preparing a test or cleaning up after it takes


def say_less(plugins: Iterable[Any]) -> None:
    """In a worker, send the main process no message that would change nothing there: half of all messages."""
    for plugin in plugins:
        if hasattr(plugin, "sendevent"):  # xdist's part in the worker
            plugin.sendevent = partial(sent, plugin.sendevent)


def sent(send: Callable[..., None], name: str, /, **details: Any) -> None:
    """Send an event of a worker, unless it is the start of a test, or a preparation or a cleaning up that went well,
    took next to no time and had nothing to say."""
    if name == "logstart" or (name == "testreport" and says_nothing(details["data"])):
        return
    send(name, **details)


def says_nothing(report: dict[str, Any]) -> bool:
    """Whether a report is of no interest to anybody."""
    quiet = report["outcome"] == "passed" and not report["sections"] and not report["user_properties"]
    return quiet and report["when"] != "call" and bool(report["duration"] < WORTH_TELLING)
