"""Are the tests handed out as by pytest-xdist's own `loadfile`, in time that grows with their number only?"""

from __future__ import annotations

import random
import time
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from workbook.sharing import FileByFile


class Worker:
    """Remembers what it is given, and runs it in that order."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.done = 0
        self.shutting_down = False

    def send_runtest_some(self, places: list[int]) -> None:
        self.given += places

    def shutdown(self) -> None:
        self.shutting_down = True


def session(kind: type[LoadFileScheduling], tests: list[str], workers: int) -> tuple[Any, list[Worker]]:
    """A scheduler with workers that have collected these tests."""
    option = SimpleNamespace(loadscopereorder=False, maxprocesses=None)
    config = SimpleNamespace(option=option, getvalue={"tx": ["popen"] * workers, "dist": "loadfile"}.__getitem__)
    scheduler = kind(config, None)
    nodes = [Worker(f"gw{number}") for number in range(workers)]
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    return scheduler, nodes


def history(kind: type[LoadFileScheduling], tests: list[str]) -> list[object]:
    """What three workers of random speed are given, and what the scheduler says meanwhile."""
    scheduler, nodes = session(kind, tests, 3)
    chance, told = random.Random(len(tests)), list[object]()
    while busy := [node for node in nodes if node.done < len(node.given)]:
        run_one(scheduler, chance.choice(busy))
        told.append((scheduler.tests_finished, scheduler.has_pending))
        told += [(node.gateway.id, list(node.given), node.shutting_down) for node in nodes]
    return told


def run_one(scheduler: Any, node: Worker) -> None:
    scheduler.mark_test_complete(node, node.given[node.done])
    node.done += 1


def collected(files: int) -> list[str]:
    chance = random.Random(files)
    return [f"tests/test_{file}.py::test_{number}" for file in range(files) for number in range(chance.randint(1, 9))]


@pytest.mark.parametrize("files", [1, 2, 3, 40])
def test_workers_are_given_what_xdist_gives_them(files: int) -> None:
    assert history(FileByFile, collected(files)) == history(LoadFileScheduling, collected(files))


def test_what_a_crashed_worker_has_not_done_is_done_by_the_others_but_for_the_test_that_it_ran() -> None:
    tests = collected(40)
    scheduler, (first, *others) = session(FileByFile, tests, 3)
    for _ in range(5):
        run_one(scheduler, first)
    done = first.given[:5]
    assert scheduler.remove_node(first) == tests[first.given[5]]
    while busy := [node for node in others if node.done < len(node.given)]:
        run_one(scheduler, busy[0])
    assert sorted([*done, first.given[5], *others[0].given, *others[1].given]) == list(range(len(tests)))
    assert scheduler.tests_finished
    assert not scheduler.has_pending


def test_the_time_is_that_of_the_number_of_tests() -> None:
    def seconds(count: int) -> float:
        tests = [f"tests/test_{number // 100}.py::test_{number}" for number in range(count)]
        before = time.process_time()
        scheduler, (node,) = session(FileByFile, tests, 1)
        while node.done < len(node.given):
            run_one(scheduler, node)
        assert node.done == count
        return time.process_time() - before

    assert min(seconds(16_000) for _ in range(3)) < 8 * min(seconds(4_000) for _ in range(3))  # xdist's own: 16 times
