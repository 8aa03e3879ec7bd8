"""How is a ratio measured on a machine that is shared and noisy?

The contestants run in turn, a short batch each, many rounds over; each one's figure is its fastest batch. A
disturbance that lasts longer than a batch then hits all of them or none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

Run = Callable[[int], float]  # repeats something n times, returns the seconds that took


@dataclass(frozen=True)
class Row:
    """One line of the table: seconds for one repetition, by contestant."""

    name: str
    seconds: dict[str, float]
    budget: float | None = None  # the ratio to torch that the project set itself
    note: str = ""
    share: float | None = None  # the ratio, where it is to something else than torch: the name says to what

    @property
    def ratio(self) -> float | None:
        """Our time over torch's; None where torch did not run."""
        if self.share is not None:
            return self.share
        return self.seconds["glasstorch"] / self.seconds["torch"] if "torch" in self.seconds else None


@dataclass
class Contest:
    """What is compared: one way to run it for each contestant."""

    name: str
    runs: dict[str, Run]
    number: int  # repetitions in a batch
    rounds: int = 30
    budget: float | None = None
    note: str = ""
    fastest: dict[str, float] = field(default_factory=dict)

    def measure(self) -> Row:
        for run in self.runs.values():
            run(max(1, self.number // 10))  # warm up: fill dispatch tables and caches
        for _ in range(self.rounds):
            for contestant, run in self.runs.items():
                seconds = run(self.number) / self.number
                self.fastest[contestant] = min(seconds, self.fastest.get(contestant, seconds))
        return Row(self.name, dict(self.fastest), self.budget, self.note)


def repeat(function: Callable[[], object]) -> Run:
    """A run that calls a function of no arguments."""

    def run(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            function()
        return time.perf_counter() - start

    return run
