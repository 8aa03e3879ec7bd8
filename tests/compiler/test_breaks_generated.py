"""Do random functions with breaks at random places do what they do without being captured?"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo import optimize
from tests.compiler.bytecode.generated import PRELUDE, Writer
from tests.compiler.bytecode.test_generated import outcome

COUNT = 40
MORE = 400  # some forty seconds
SIMPLE = re.compile(r"( +)(?:[\w\[\]\.'\", ]+ (?:=|\+=|\*=) |\w+\.append)")  # a statement that ends on its line
BREAKS = (
    "print(end='')",
    "torch._dynamo.graph_break()",
    "SEEN.append(len(SEEN)); print(end='')",
    "callee_with_a_break(x)",
)
CALLEE = """
def callee_with_a_break(x):
    y = x * 2
    print(end='')
    return y + 1
"""


def with_breaks(source: str, seed: int) -> str:
    """The function with statements that no graph can hold after some of its lines."""
    choose = random.Random(seed)
    lines = []
    for line in source.split("\n"):
        lines.append(line)
        simple = SIMPLE.match(line)
        if simple and not line.rstrip().endswith((":", ",", "(")) and choose.random() < 0.35:
            lines.append(simple[1] + choose.choice(BREAKS))
    return "\n".join(lines)


def made(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"torch": torch, "__name__": __name__}
    exec(PRELUDE + CALLEE + source, names)
    return names


@pytest.mark.parametrize(
    ("first", "count"), [(0, COUNT), pytest.param(COUNT, MORE, marks=pytest.mark.slow(reason="takes a minute"))]
)
def test_a_function_in_parts_does_what_the_function_does(first: int, count: int) -> None:
    breaks = 0
    for seed in range(first, first + count):
        source = with_breaks(Writer(seed).text(), seed)
        plain, names = made(source), made(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = optimize(lambda module, inputs: module.forward)(names["function"])
            expected = outcome(plain["function"], plain, grad=seed % 2 == 1)
            assert outcome(run, names, grad=seed % 2 == 1) == expected, source
        breaks += sum(reason.graph_break for reason in run._optimized.breaks)
    assert breaks > count, "programs break on average more than once"
