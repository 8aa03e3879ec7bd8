"""Are the events of a profile's file what the profile has recorded?"""

from __future__ import annotations

import glasstorch as torch
from glasstorch.profiler import profile
from workbook.book.traces import trace_file


def test_the_events_of_the_file_are_read() -> None:
    with profile(profile_memory=True) as prof:
        torch.ones(2) + 1
    events = trace_file(prof)
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert [event.name for event in prof.events() if event.name.startswith("aten::")] == [
        name for name in names if name.startswith("aten::")
    ]
    assert "aten::add" in names
    assert any(event["name"] == "[memory]" and event["ph"] == "i" for event in events)
