"""Which programs does a reader see the caching allocator serve, and what is shown of them?

The library's allocator serves every program in each of its settings; `recorded_memory.py` notes the steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from glasstorch.devices.blocks import MIB
from workbook.book.explorables.recorded_memory import DEFAULT, SIDE, Recorder, Step
from workbook.book.figures.kit import Figure, text_width
from workbook.book.figures.memory_map import STATES, size_of

MEMORY = 64  # MiB of the simulated device
SHOWN, SHOWN_SETTING, SHOWN_STEP = "growing", "growing", -1  # the moment that the figure without a script shows


class Scenario(NamedTuple):
    """A program, and the settings in which it is run."""

    title: str
    about: str
    asks: str  # what the settings choose
    settings: dict[str, str]  # each with its words
    run: Callable[[Recorder, str], None]


def training(device: Recorder, setting: str) -> None:
    """Three steps of a training loop."""
    device.empty("weight", 3)
    for step in range(3):
        larger = setting == "larger" and step == 2
        device.empty("hidden", 18 if larger else 12)
        device.empty("out", 6 if larger else 4)
        device.empty("loss", 0.5)
        device.empty("grad", 3)
        for name in ("loss", "out", "hidden", "grad"):
            device.delete(name)
        if setting == "emptied":
            device.empty_cache()


def growing(device: Recorder, setting: str) -> None:
    """Batches of several sizes, each of which leaves a small result behind."""
    sizes = {"growing": (3, 4, 5, 6, 7, 8), "shrinking": (8, 7, 6, 5, 4, 3), "padded": (8,) * 6}[setting]
    for number, size in enumerate(sizes, start=1):
        device.empty("batch", size)
        device.empty(f"out{number}", 2)
        device.delete("batch")


def across(device: Recorder, setting: str) -> None:
    """A tensor of the default stream, which another stream reads when it is freed."""
    device.empty("x", 4)
    device.write("x")
    device.empty("total", 0.5, SIDE)
    device.wait_stream(SIDE, DEFAULT)
    device.read_on_side("x", "total")
    if setting == "told":
        device.record_stream("x")
    if setting == "ordered":
        device.wait_stream(DEFAULT, SIDE)
    device.delete("x")
    device.empty("y", 4)
    if device.write("y"):
        device.synchronize(SIDE)
        device.empty("z", 4)


def full(device: Recorder, setting: str) -> None:
    """A request that the driver refuses."""
    device.empty("a", 30)
    device.delete("a")
    if setting == "stays":
        device.empty("small", 2)
    if device.empty("b", 40):
        device.empty("c", 40)


SCENARIOS = {
    "training": Scenario(
        "A training loop",
        "Three steps ask for the same sizes. Watch how often the driver is asked.",
        "The third step",
        {
            "same": "is like the others",
            "larger": "has a larger batch",
            "emptied": "is like the others; each empties the cache",
        },
        training,
    ),
    "growing": Scenario(
        "Sizes that grow",
        "Six batches come and go, and each leaves a result of 2 MiB behind. At no time do they need more than 20 MiB.",
        "The batches",
        {
            "growing": "grow from 3 to 8 MiB",
            "shrinking": "shrink from 8 to 3 MiB",
            "padded": "are padded to 8 MiB each",
        },
        growing,
    ),
    "across": Scenario(
        "Across streams",
        "The stream side is to read x, and x is freed before it has. When may its memory be used again?",
        "Before x is freed, the program",
        {
            "told": "calls x.record_stream(side)",
            "untold": "does nothing",
            "ordered": "lets the default stream wait for side",
        },
        across,
    ),
    "full": Scenario(
        "No memory left",
        "The device has 64 MiB. The allocator keeps 30 of them, and the program asks for more than is left.",
        "In the kept segment",
        {"free": "nothing is in use", "stays": "a tensor of 2 MiB is in use"},
        full,
    ),
}


def data() -> dict[str, Any]:
    """Everything that the explorable shows: the steps of each scenario in each setting.

    A segment in one state is kept once: the steps name it by its position in `segments`.
    """
    table: dict[str, int] = {}
    scenarios = [
        {
            "key": key,
            "title": scenario.title,
            "about": scenario.about,
            "asks": scenario.asks,
            "settings": [list(item) for item in scenario.settings.items()],
            "runs": {
                setting: [compact(step, table) for step in steps_of(scenario, setting)] for setting in scenario.settings
            },
        }
        for key, scenario in SCENARIOS.items()
    ]
    return {"memory": MEMORY * MIB, "scenarios": scenarios, "segments": [json.loads(text) for text in table]}


def steps_of(scenario: Scenario, setting: str) -> list[Step]:
    """Run a scenario; returns what the allocator did."""
    device = Recorder(MEMORY)
    scenario.run(device, setting)
    return device.steps


def compact(step: Step, table: dict[str, int]) -> dict[str, Any]:
    """A step for the page. The blocks of a segment follow each other, each as size, request, state and name."""
    short: dict[str, Any] = {key: value for key, value in step.items() if value is not None}
    short["queued"] = {stream: work for stream, work in step["queued"].items() if work}
    usual = {"queued": {}, "active": step["allocated"]}  # what the page takes where nothing is said
    short = {key: value for key, value in short.items() if value != usual.get(key, ...)}
    short["segments"] = []
    for segment in step["segments"]:
        blocks = [
            [block["size"], block["asked"], list(STATES).index(block["state"]), block["name"]]
            for block in segment["blocks"]
        ]
        text = json.dumps({**segment, "blocks": blocks})
        short["segments"].append(table.setdefault(text, len(table)))
    return short


def figure() -> Figure:
    """One moment of a program, where nothing can be played."""
    scenario = SCENARIOS[SHOWN]
    step = steps_of(scenario, SHOWN_SETTING)[SHOWN_STEP]
    width, tall, scale = 640, 40, 640 / 20 / MIB
    drawing = Figure(
        "explorable-allocator", "The memory after a program", "", width, 30 + 84 * len(step["segments"]) + 44
    )
    x: float = 1
    for state, (kind, words) in STATES.items():
        drawing.box(x, 2, 16, 14, kind=kind, dashed=state != "active_allocated", radius=2)
        drawing.text(x + 22, 13, words, size=11.5, colour="soft")
        x += 22 + text_width(words, 11.5) + 22
    said = []
    y: float = 30
    for segment in step["segments"]:
        kept = f"{segment['pool']} pool, {segment['stream']} stream"
        head = f"segment {segment['number'] + 1}: {size_of(segment['size'])}, {kept}"
        drawing.text(1, y + 14, head, size=12.5, bold=True)
        blocks = []
        for block in segment["blocks"]:
            kind, words = STATES[block["state"]]
            left, room = block["at"] * scale, block["size"] * scale
            drawing.box(left, y + 24, room, tall, kind=kind, dashed=block["state"] != "active_allocated")
            middle, name = left + room / 2, block["name"] or "free"
            drawing.text(middle, y + 41, name, size=12, anchor="middle", mono=bool(block["name"]), room=room)
            drawing.text(middle, y + 57, size_of(block["size"]), size=12, colour="soft", anchor="middle", room=room)
            blocks.append(f"{name}, {size_of(block['size'])}, {words}")
        said.append(f"{head}: {'; '.join(blocks)}")
        y += 84
    free = step["reserved"] - step["active"]
    line = (
        f"{size_of(step['allocated'])} allocated, {size_of(step['reserved'])} reserved; "
        f"of the {size_of(free)} that are free, {size_of(step['largest'])} lie in one piece"
    )
    drawing.text(1, y + 18, line, size=12.5, room=width)
    drawing.description = f"{'. '.join(said)}. {line}."
    return drawing
