"""How are 75,000 tests handed to several workers?

As whole files, in the order in which they were collected. The `loadfile` of pytest-xdist does the same, but
searches the list of all tests for each one, and counts after each test everything that a worker was ever given: with
so many tests that took a minute of the processor.
"""

from __future__ import annotations

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
        test = self.collection[item_index]
        file = self._split_scope(test)
        units = self.assigned_work[node]
        del units[file][test]
        if not units[file]:
            del units[file]
        self._reschedule(node)

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        return sum(map(len, workload.values()))

    def _assign_work_unit(self, node: WorkerController) -> None:
        file, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][file] = tests
        node.send_runtest_some([self.places[test] for test in tests])
