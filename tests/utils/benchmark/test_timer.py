"""Does a Timer run what it is given, as often as it says, and measure it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.utils import benchmark
from glasstorch.utils.benchmark import CopyIfCallgrind, Language, Timer


class Work:
    """Counts runs, and knows a clock that goes on by one step each run."""

    def __init__(self, step: float) -> None:
        self.runs, self.step, self.extra = 0, step, 0.0
        self.noise: Iterator[float] | None = None

    def __call__(self) -> None:
        self.runs += 1
        self.extra += next(self.noise) if self.noise is not None else 0.0

    def now(self) -> float:
        return self.runs * self.step + self.extra


def test_timeit_warms_up_and_runs_as_often_as_told() -> None:
    work = Work(0.5)
    measured = Timer("work()", timer=work.now, globals={"work": work}).timeit(300)
    assert work.runs == 303
    assert (measured.number_per_run, measured.raw_times, measured.median) == (300, [150.0], 0.5)
    assert Timer("work()", timer=work.now, globals={"work": work}).timeit(1).raw_times == [0.5]


def test_blocks_grow_until_the_clock_does_not_matter_and_repeat_until_the_time_is_over() -> None:
    work, seen = Work(9e-6), []
    timer = Timer("work()", timer=work.now, globals={"work": work}, num_threads=1)
    measured = timer.blocked_autorange(callback=lambda number, time: seen.append((number, time)), min_run_time=0.01)
    # Reading the clock is taken to last 1e-9 s: more than a ten-thousandth of one run, and less of ten.
    assert measured.number_per_run == 10
    assert measured.raw_times == pytest.approx([9e-5] * 112)
    assert seen == [(10, time) for time in measured.raw_times]
    assert measured.median == pytest.approx(9e-6)


def test_the_size_of_a_block_is_that_of_torch() -> None:
    pytest.importorskip("torch")
    import torch.utils.benchmark as oracle

    for step in (2e-6, 1e-3, 0.5):
        blocks = []
        for library in (benchmark, oracle):
            work = Work(step)
            measured = library.Timer("work()", timer=work.now, globals={"work": work}).blocked_autorange(
                min_run_time=0.01
            )
            adaptive = library.Timer("work()", timer=work.now, globals={"work": work}).adaptive_autorange()
            blocks.append((measured.number_per_run, measured.raw_times, adaptive.number_per_run, adaptive.raw_times))
        assert blocks[0] == blocks[1]


def test_it_goes_on_until_the_times_are_steady_or_the_time_is_over() -> None:
    def measured(noise: list[float], **options: Any) -> benchmark.Measurement:
        work = Work(0.1)
        timer = Timer("work()", timer=work.now, globals={"work": work})
        timer.timeit(1)
        work.noise = iter([0.0, *noise, *[0.0] * 1000])
        return timer.adaptive_autorange(**options)

    assert len(measured([]).raw_times) == 4
    unsteady = measured([0.1, 0.0, 0.2, 0.0, 0.3, 0.0])
    assert len(unsteady.raw_times) > 4
    assert unsteady.meets_confidence(0.1)
    assert len(measured([0.0, 0.5] * 50, max_run_time=2.0).raw_times) < 10


def test_a_statement_sees_globals_setup_and_the_library() -> None:
    seen: list[Any] = []
    Timer(
        """
        y = torch.ones(n)
        seen.append((y.sum().item(), torch.get_num_threads()))
        """,
        setup="n = m + 1",
        globals={"m": CopyIfCallgrind(2), "seen": seen},
        num_threads=1,
    ).timeit(1)
    assert seen[-1] == (3.0, 1)


def test_source_in_triple_quotes_is_shown_without_its_indentation() -> None:
    timer = Timer("\n        if True:\n            x = 1\n    ", setup="\n    y = 2\n    ", label="l", language="py")
    assert (timer._task_spec.stmt, timer._task_spec.setup) == ("if True:\n    x = 1", "y = 2")


def test_a_real_statement_takes_a_time() -> None:
    measured = Timer("x.exp()", globals={"x": glasstorch.ones(10)}).blocked_autorange(min_run_time=0.001)
    assert 0 < measured.median < 60
    assert repr(measured).splitlines()[1] == "x.exp()"
    assert benchmark.timer() <= benchmark.timer()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stmt": len}, ValueError, "Currently only a `str` stmt is supported"),
        ({"language": "c++"}, NotImplementedError, "a statement in C\\+\\+ calls PyTorch's C\\+\\+ library"),
        ({"language": Language.CPP}, NotImplementedError, "language"),
        ({"language": "rust"}, ValueError, "Invalid language `rust`."),
        ({"global_setup": "#include <x>"}, ValueError, "global_setup is C\\+\\+ only, got `#include <x>`"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Timer(**options)


def test_what_a_timer_does_not_do_says_what_does() -> None:
    timer = Timer()
    for call in (timer.repeat, timer.autorange):
        with pytest.raises(NotImplementedError, match=r"See `Timer\.blocked_autorange\.`"):
            call()
    with pytest.raises(NotImplementedError, match="collect_callgrind is not in glasstorch"):
        timer.collect_callgrind()
