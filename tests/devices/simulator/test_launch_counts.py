"""Do counts of launches print as a table that a reader can take in?"""

from __future__ import annotations

from dataclasses import fields

from glasstorch.devices.simulator.launch_counts import COLUMNS, LaunchCounts
from glasstorch.devices.simulator.module import Counts


def counts(**given: int) -> Counts:
    return Counts(**({field.name: 0 for field in fields(Counts)} | given))


def test_each_launch_is_a_row_and_numbers_stand_under_their_headings() -> None:
    launches = LaunchCounts([("scale", counts(global_loads=1200, global_loaded=4800, barriers=3)), ("f", counts())])
    heading, first, second = str(launches).splitlines()
    assert len(heading) == len(first) == len(second)
    assert first.split() == ["scale", "1,200", "4,800", "0", "0", "0", "0", "3", "0", "0"]
    assert second.split() == ["f", *["0"] * len(COLUMNS)]
    for name in ("global loads", "barriers"):
        end = heading.index(name) + len(name)
        assert first[:end].endswith({"global loads": "1,200", "barriers": "3"}[name])


def test_no_launch_leaves_the_headings() -> None:
    assert str(LaunchCounts()).split()[0] == "kernel"
