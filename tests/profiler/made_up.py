"""Events that are made up, for a library's own classes: the same for torch and for glasstorch."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

NAMES = (
    "aten::add",
    "aten::mm",
    "a name that is longer than a column of the table, by far",
    "ProfilerStep*",
    "[memory]",
)
FILES = (
    "program.py(3): work",
    "nn.Module: Linear_0",
    "/a/very/long/path/" + "folder/" * 12 + "file.py(120): function",
    "x y;z(1): f",
)


def events(library: ModuleType, seed: int, *, stack: bool = True, memory: bool = True, nested: bool = True) -> Any:
    """An EventList with its tree, the same for the same seed; `library` is torch.autograd.profiler_util or ours."""
    draw = random.Random(seed)
    made: list[Any] = []

    def add(start: float, end: float, depth: int) -> None:
        made.append(
            library.FunctionEvent(
                id=len(made) + 1,
                name=draw.choice(NAMES),
                overload_name=draw.choice(("", "Tensor")),
                trace_name=draw.choice(("a", "b")),
                thread=1,
                start_us=start,
                end_us=end,
                fwd_thread=draw.choice((0, 1)),
                input_shapes=draw.choice(([], [[2, 3], []], [[i] for i in range(40)])),
                stack=draw.sample(FILES, draw.randrange(4)) if stack else [],
                scope=draw.choice((0, 0, 1, 7)),
                cpu_memory_usage=draw.choice((0, -12, 5_000, 3 << 20, 5 << 30)) if memory else 0,
                sequence_nr=draw.choice((-1, 0, 1)),
                flops=draw.choice((0, 7, 123_456_789)),
                is_user_annotation=draw.choice((True, False)),
            )
        )
        at = start
        while nested and depth < 3 and draw.random() < 0.7:
            begin = at + draw.random() * (end - at) / 4
            at = begin + draw.random() * (end - begin)
            add(begin, at, depth + 1)

    clock = 0.0
    for _ in range(draw.randrange(1, 12)):
        clock += draw.random() * 10
        length = draw.choice((0.5, 40.0, 1_500.0, 2_000_000.0))
        add(clock, clock + length, 0)
        clock += length
    listed = library.EventList(made, profile_memory=memory, with_flops=True)
    listed._build_tree()
    return listed
