"""How is the time of a statement measured?

Mirrors: torch/utils/benchmark/utils/timer.py
Differs: a statement in C++ is refused, since there is no C++ library that it could call; so is `collect_callgrind`.
"""

from __future__ import annotations

import enum
import statistics
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

import glasstorch
from glasstorch.utils.benchmark.utils.callgrind import CopyIfCallgrind
from glasstorch.utils.benchmark.utils.common import Measurement, TaskSpec, set_torch_threads

LEAST_TIME = 1e-9  # no measurement is shorter, so that none is zero
MAX_NUMBER = 2**31 - 1  # runs of one block
OVERHEAD = 1e-4  # the share of the timer's own time in that of a block
LEAST_SAMPLES = 4  # from which on `adaptive_autorange` regards the spread

Callback = Callable[[int, float], object]


def timer() -> float:
    """The clock's time in seconds, read when the GPU has finished all its work."""
    if glasstorch.cuda.is_available():
        glasstorch.cuda.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """In which language a statement is written."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures how long a statement takes: like `timeit.Timer`, but after a warm-up and with many repetitions.

    `stmt` and `setup` are source texts. They see `globals`, and the library as `torch`. `label`, `sub_label`,
    `description` and `env` say where the results stand in a table (`Compare`): which table, which row, which column,
    and which machine.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError(f"Currently only a `str` stmt is supported, got {type(stmt).__name__}.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError(
                "a statement in C++ calls PyTorch's C++ library, which glasstorch does not have; `language` has to be "
                "'python'"
            )
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = _without_indent(stmt), _without_indent(setup)
        self._globals = {"torch": glasstorch, **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, CopyIfCallgrind.unwrap_all(self._globals))
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), LEAST_TIME)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of `number` runs, after a hundredth as many runs to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measured(number, [self._timeit(number)])

    def blocked_autorange(self, callback: Callback | None = None, min_run_time: float = 0.2) -> Measurement:
        """The times of blocks of runs, measured until `min_run_time` seconds have passed.

        A block is long enough that reading the clock takes less than a ten-thousandth of it, or until it alone takes
        `min_run_time`. `callback(number, time)` is called after each block.
        """
        number = self._estimate_block_size(min_run_time)
        times = self._loop(number, lambda times: True, min_run_time, None, callback)
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callback | None = None,
    ) -> Measurement:
        """Like `blocked_autorange`, until the interquartile range is below `threshold` times the median.

        It runs for at least `min_run_time` seconds and four blocks, and stops after `max_run_time`.
        """
        number = self._estimate_block_size(min_run_time=0.05)

        def is_steady(times: list[float]) -> bool:
            return len(times) >= LEAST_SAMPLES and self._measured(number, times).meets_confidence(threshold)

        return self._measured(number, self._loop(number, is_steady, min_run_time, max_run_time, callback))

    def _estimate_block_size(self, min_run_time: float) -> int:
        with set_torch_threads(self._task_spec.num_threads):
            overhead = statistics.median(self._timeit(0) for _ in range(5))
            number = 1
            while True:
                time = self._timeit(number)
                is_long_enough = overhead / time <= OVERHEAD and time >= min_run_time / 1000
                if is_long_enough or time > min_run_time or number * 10 > MAX_NUMBER:
                    return number
                number *= 10

    def _loop(
        self,
        number: int,
        may_stop: Callable[[list[float]], bool],
        min_run_time: float,
        max_run_time: float | None,
        callback: Callback | None,
    ) -> list[float]:
        times: list[float] = []
        total, stops = 0.0, False
        with set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or not stops:
                times.append(self._timeit(number))
                total += times[-1]
                if callback is not None:
                    callback(number, times[-1])
                stops = may_stop(times)
                if max_run_time and total > max_run_time:
                    break
        return times

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Refused, as in PyTorch: `blocked_autorange` repeats."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callback | None = None) -> NoReturn:
        """Refused, as in PyTorch: `blocked_autorange` finds the number of runs."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def collect_callgrind(
        self,
        number: int = 100,
        *,
        repeats: int | None = None,
        collect_baseline: bool = True,
        retain_out_file: bool = False,
    ) -> NoReturn:
        """Refused: instructions are not counted here."""
        raise NotImplementedError(
            "collect_callgrind is not in glasstorch: calls from PyTorch's C++ library switch valgrind's counting on "
            "and off around the statement; `blocked_autorange` measures time, and CallgrindStats holds counts that "
            "were made elsewhere"
        )


def _without_indent(source: str) -> str:
    """The source as it is printed: without the first line end and the indentation of a text in triple quotes."""
    return textwrap.dedent(source).removeprefix("\n").rstrip()
