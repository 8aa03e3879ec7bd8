"""Do workers start, fail and end as they should, and is nothing left of them?"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.data import worker, workers
from glasstorch.data.channel import Channel
from glasstorch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from tests.data.loaders import QUIET, data_of, numbered, plain

pytestmark = QUIET

METHODS = [method for method in ("fork", "spawn", "forkserver") if method in multiprocessing.get_all_start_methods()]


class Squares(Dataset[Any]):
    """Samples that tell who has fetched them; defined here, so that any process can import it."""

    def __init__(self, count: int = 12) -> None:
        self.values = glasstorch.arange(count) ** 2

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        assert info is not None
        return self.values[index], info.id, info.seed, glasstorch.get_num_threads()


class Failing(Dataset[Any]):
    """Fails in the way that it is told, at one index."""

    def __init__(self, fail: Any, at: int = 3) -> None:
        self.fail = fail
        self.at = at

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return self.fail() if index == self.at else index


def still_there(loader_iterator: Any) -> list[int]:
    """The processes of an iterator that have not ended."""
    return [process.pid for process in loader_iterator._workers if process.is_alive()]


def waited_for(condition: Any) -> bool:
    """Whether a condition comes true; ten minutes are for a machine that is very busy."""
    end = time.monotonic() + 600
    while not (came := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(came)


@pytest.mark.parametrize("method", METHODS)
def test_workers_start_by_any_method(method: str) -> None:
    glasstorch.manual_seed(3)
    loader = DataLoader(Squares(), 3, num_workers=2, multiprocessing_context=method)
    batches = list(loader)
    assert [y for values, *_ in batches for y in values.tolist()] == [i * i for i in range(12)]
    assert [ids.tolist() for _, ids, *_ in batches] == [[0] * 3, [1] * 3, [0] * 3, [1] * 3]
    seeds = [int(seeds[0]) for _, _, seeds, _ in batches]
    assert seeds[1] == seeds[0] + 1
    assert batches[0][3].tolist() == [1, 1, 1]  # a worker uses one thread


def test_a_dataset_that_cannot_be_sent_is_refused_where_it_must_be() -> None:
    dataset = Failing(lambda: 3)
    assert len(list(DataLoader(dataset, 4, num_workers=1, multiprocessing_context="fork"))) == 2
    with (
        pytest.warns(UserWarning, match="Got pickle error when attempting to start a worker Process"),
        pytest.raises(AttributeError, match=r"pickle.*<lambda>"),
    ):
        iter(DataLoader(dataset, 4, num_workers=1, multiprocessing_context="spawn"))


# Errors ---------------------------------------------------------------------------------------------------------------


class NeedsTwo(Exception):
    """Cannot be made of a message alone."""

    def __init__(self, one: object, two: object) -> None:
        super().__init__(one, two)


def raises(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ValueError("no such sample"), ValueError),
        (KeyError("key"), KeyError),
        (NeedsTwo(1, 2), RuntimeError),
        (StopIteration("no more"), StopIteration),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_an_error_comes_with_the_traceback_of_the_worker(torch: Any, error: Exception, raised: type) -> None:
    class Broken(data_of(torch).Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 8

        def __getitem__(self, index: int) -> Any:
            return raises(error) if index == 3 else index

    iterator = iter(data_of(torch).DataLoader(Broken(), 2, num_workers=2))
    assert next(iterator).tolist() == [0, 1]
    with pytest.raises(raised) as caught:
        next(iterator)
    text = str(caught.value)
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 1.\nOriginal Traceback (most")
    assert "return raises(error) if index == 3 else index" in text
    assert next(iterator).tolist() == [4, 5]  # the others are not lost


def test_a_broken_rule_of_the_library_comes_as_what_it_is_shown_as() -> None:
    dataset = Failing(lambda: glasstorch.ones(2) + glasstorch.ones(3))
    with pytest.raises(
        RuntimeError, match=r"Caught RuntimeError in DataLoader worker(.|\n)*must match the size"
    ) as caught:
        list(DataLoader(dataset, 2, num_workers=1))
    assert type(caught.value).rule == "ShapeError"


def test_an_error_of_collating_or_of_beginning_is_raised_too(torch: Any) -> None:
    def begin(worker: int) -> None:
        raise OSError(f"no file for {worker}")

    with pytest.raises(OSError, match=r"Caught OSError in DataLoader worker process 0(.|\n)*no file for 0"):
        next(iter(data_of(torch).DataLoader(numbered(torch), 2, num_workers=1, worker_init_fn=begin)))
    with pytest.raises(
        RuntimeError, match=r"Caught RuntimeError in(.|\n)*each element in list of batch should be of equal"
    ):
        list(data_of(torch).DataLoader([[1], [1, 2]], 2, num_workers=1))


def test_a_batch_that_cannot_be_sent_is_an_error_and_no_silence() -> None:
    dataset = Failing(lambda: lambda: 3)
    loader = DataLoader(dataset, 2, num_workers=1, collate_fn=list)
    with pytest.raises(AttributeError, match=r"in DataLoader worker process 0, which could not send a batch"):
        list(loader)


def test_what_cannot_be_found_again_comes_as_a_runtime_error() -> None:
    class Local(Exception):
        pass

    with pytest.raises(RuntimeError, match=r"Original Traceback(.|\n)*Local: here"):
        list(DataLoader(Failing(lambda: raises(Local("here"))), 2, num_workers=1))


# Workers that end, or take too long -----------------------------------------------------------------------------------


def test_a_killed_worker_is_named() -> None:
    iterator = iter(DataLoader(Failing(lambda: os.kill(os.getpid(), signal.SIGKILL)), 2, num_workers=2))
    pid = iterator._workers[1].pid
    next(iterator)
    with pytest.raises(
        RuntimeError,
        match=rf"DataLoader worker \(pid\(s\) {pid}\) exited unexpectedly: worker 1 .* is killed by signal: Killed",
    ):
        next(iterator)
    assert waited_for(lambda: not still_there(iterator))
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_worker_that_is_killed_while_another_is_slow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SECONDS_BETWEEN_CHECKS", 600.0)  # it is seen at once, and not when it is looked for
    monkeypatch.setattr(workers, "SECONDS_TO_END", 0.1)  # the slow one is terminated
    event = multiprocessing.get_context("fork").Event()
    iterator = iter(DataLoader(Failing(event.wait, at=0), 2, num_workers=2))
    os.kill(pid := iterator._workers[1].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=rf"\(pid\(s\) {pid}\) exited unexpectedly"):  # though it was not its turn
        next(iterator)


def test_a_worker_that_exits_is_named_with_its_code() -> None:
    with pytest.raises(
        RuntimeError, match=r"exited unexpectedly: worker 0 .* exited with exit code 7. Details are lost"
    ):
        list(DataLoader(Failing(lambda: os._exit(7)), 2, num_workers=1))


def test_a_batch_that_was_half_read_when_ctrl_c_came_ends_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    iterator: Any = iter(DataLoader(numbered(glasstorch, 8), 2, num_workers=1))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Channel, "_read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(iterator)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(iterator)
    assert still_there(iterator) == []


def test_a_pass_after_a_worker_was_killed_has_new_workers() -> None:
    loader = DataLoader(numbered(glasstorch, 6), 2, num_workers=1, persistent_workers=True)
    first: Any = iter(loader)
    os.kill(first._workers[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(first) + list(first)
    second: Any = iter(loader)
    assert len(list(second)) == 3
    os.kill(second._workers[0].pid, signal.SIGKILL)  # between two passes: nothing is lost
    second._workers[0].join()
    assert len(list(loader)) == 3


def test_a_worker_that_takes_too_long_is_an_error(torch: Any) -> None:
    event = multiprocessing.get_context("fork").Event()

    class Slow(data_of(torch).Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> int:
            event.wait()
            return index

    iterator = iter(data_of(torch).DataLoader(Slow(), num_workers=1, timeout=0.2))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.2 seconds"):
        next(iterator)
    event.set()
    assert waited_for(lambda: answers(iterator))


def answers(iterator: Any) -> bool:
    """Whether a batch comes in time."""
    try:
        next(iterator)
    except RuntimeError:
        return False
    return True


def test_an_abandoned_iterator_ends_its_workers() -> None:
    for taken in range(3):
        iterator: Any = iter(DataLoader(numbered(glasstorch, 400), 2, num_workers=2))
        for _ in range(taken):
            next(iterator)
        processes = iterator._workers
        assert len(still_there(iterator)) == 2
        del iterator
        assert all(process.exitcode == 0 for process in processes)


def test_a_worker_that_does_not_end_is_terminated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SECONDS_TO_END", 0.1)
    begun, never = (multiprocessing.get_context("fork").Event() for _ in range(2))

    def wait() -> None:
        begun.set()
        never.wait()

    iterator: Any = iter(DataLoader(Failing(wait, at=0), 2, num_workers=1))
    begun.wait()
    process = iterator._workers[0]
    del iterator
    assert waited_for(lambda: process.exitcode is not None)
    assert process.exitcode == -signal.SIGTERM


def test_a_pass_that_was_interrupted_while_it_began_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = DataLoader(numbered(glasstorch, 6), 2, num_workers=2, persistent_workers=True)
    first: Any = iter(loader)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(workers, "ready", interrupted)
        with pytest.raises(KeyboardInterrupt):
            iter(loader)
    for _ in range(2):
        assert [plain(y)[2] for _, y in loader] == [[0, 1], [2, 3], [4, 5]]
    assert loader._iterator is first


def test_ctrl_c_while_a_worker_is_started_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    context = multiprocessing.get_context("fork")
    start, started = context.Process.start, []

    def interrupted(process: Any) -> None:
        assert is_blocked()  # and is so in the new process, until it is ready
        start(process)
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(context.Process, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        iter(DataLoader(numbered(glasstorch, 8), 2, num_workers=2, multiprocessing_context=context))
    (process,) = started
    assert process.exitcode == 0
    assert not is_blocked()


def is_blocked() -> bool:
    """Whether Ctrl-C is kept back."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_worker_can_be_interrupted() -> None:
    assert next(iter(DataLoader(Failing(is_blocked, at=0), None, num_workers=1))) is False


def test_workers_end_with_the_process_that_iterates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SECONDS_BETWEEN_CHECKS", 3600.0)  # they see it at once, and not when they look
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()

    def iterate() -> None:
        iterator: Any = iter(DataLoader(numbered(glasstorch, 40), 2, num_workers=2))
        there.send(still_there(iterator))
        os.kill(os.getpid(), signal.SIGKILL)

    process = context.Process(target=iterate)  # no daemon: those may have no children
    process.start()
    pids = here.recv()
    process.join()
    assert len(pids) == 2
    assert waited_for(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie, which waits for a parent that may not collect it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_copy_of_an_iterator_in_another_process_leaves_the_workers_alone() -> None:
    iterator: Any = iter(DataLoader(numbered(glasstorch, 8), 2, num_workers=1))

    def delete() -> None:
        nonlocal iterator
        del iterator
        gc.collect()

    process = multiprocessing.get_context("fork").Process(target=delete)
    process.start()
    process.join()
    assert process.exitcode == 0
    assert [plain(y)[2] for _, y in iterator] == [[0, 1], [2, 3], [4, 5], [6, 7]]


# The order of batches, and what is fetched ahead ----------------------------------------------------------------------


class FirstIsLast(Dataset[Any]):
    """The worker that has the first sample waits until the other has answered all of its own."""

    def __init__(self) -> None:
        self.event = multiprocessing.get_context("fork").Event()

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        if index == 0:
            self.event.wait()
        return index


def test_batches_come_as_they_are_ready_if_the_order_is_of_no_matter() -> None:
    dataset = FirstIsLast()
    iterator = iter(DataLoader(dataset, None, num_workers=2, in_order=False, prefetch_factor=1))
    came = [next(iterator) for _ in range(5)]
    assert came == [1, 2, 3, 4, 5]
    dataset.event.set()
    assert list(iterator) == [0]


def test_each_worker_fetches_so_many_batches_ahead() -> None:
    asked = []

    class Asked:
        def __iter__(self) -> Iterator[int]:
            for index in range(20):
                asked.append(index)
                yield index

    iterator = iter(DataLoader(numbered(glasstorch), None, sampler=Asked(), num_workers=2, prefetch_factor=3))
    assert len(asked) == 6
    next(iterator)
    assert len(asked) == 7


class Counting(IterableDataset[int]):
    """A stream whose workers have as many samples as their number says."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        return iter([10 * info.id + i for i in range(1 + 3 * info.id)])


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("persistent", [True, False])
def test_streams_of_unequal_length_end_each_in_its_time(in_order: bool, persistent: bool) -> None:
    loader = DataLoader(
        Counting(), batch_size=None, num_workers=2, in_order=in_order, persistent_workers=persistent, prefetch_factor=4
    )
    for _ in range(2):
        found = list(loader)
        assert sorted(found) == [0, 10, 11, 12, 13]
        assert found == [0, 10, 11, 12, 13] or not in_order


def test_long_lists_of_indices_and_long_batches_pass_each_other() -> None:
    dataset = [b"x" * 60_000] * 10
    batches = [list(range(10)) * 700] * 12
    for prefetch in (1, 6):
        loader = DataLoader(
            dataset, batch_sampler=batches, num_workers=1, prefetch_factor=prefetch, collate_fn=first_of
        )
        assert [len(batch) for batch in loader] == [60_000] * 12


def first_of(samples: list[bytes]) -> bytes:
    return samples[0]


# Nothing is left ------------------------------------------------------------------------------------------------------


def held() -> dict[str, int]:
    """How many of each kind the process has."""
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "shared blocks": Path("/proc/self/maps").read_text().count("memfd:glasstorch"),
        "children": len(multiprocessing.active_children()),
        "threads": threading.active_count(),
    }


def resident() -> int:
    """The memory of the process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not list open files")
@pytest.mark.parametrize(
    ("persistent", "size"), [(True, 64), (True, 200), (False, 64)], ids=["kept", "kept, large batches", "new"]
)
def test_passes_leave_no_memory_descriptor_process_or_shared_block(persistent: bool, size: int) -> None:
    images = glasstorch.rand(16, 3, size, size)
    dataset = [(images[i], i) for i in range(16)]  # no TensorDataset, so that samples are stacked
    loader = DataLoader(dataset, 4, shuffle=True, num_workers=2, persistent_workers=persistent)
    for _ in range(5):
        list(loader)
    gc.collect()
    before, memory = held(), resident()
    for _ in range(100 if persistent else 25):
        assert sum(1 for _ in loader) == 4
    gc.collect()
    assert {kind: count for kind, count in held().items() if count > before[kind]} == {}
    assert resident() - memory < 8 << 20  # a leak of one batch in a hundred would be more


def test_a_large_batch_is_stacked_in_shared_memory(torch: Any) -> None:
    samples = [torch.full((3, 200, 200), float(i)) for i in range(8)]
    for batch in data_of(torch).DataLoader(samples, 4, num_workers=1):
        assert batch.is_shared()
        batch += 1  # nobody else has it
    found = list(data_of(torch).DataLoader(samples, 4, num_workers=1))
    assert [batch[:, 0, 0, 0].tolist() for batch in found] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_many_batches_may_be_kept() -> None:
    loader = DataLoader(numbered(glasstorch, 3000), 1, num_workers=1, prefetch_factor=16)
    before = len(os.listdir("/proc/self/fd"))
    kept = list(loader)
    assert len(kept) == 3000
    assert len(os.listdir("/proc/self/fd")) <= before + 4
