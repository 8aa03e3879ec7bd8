"""Does glasstorch print what PyTorch 2.13 printed?

Every recorded program runs as `python -m glasstorch` runs it, in a copy of one process that has loaded the library.
Those that cannot yet print the same stand in WAITING with what they wait for, and must really differ: an entry that has
been overtaken is a failure.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from glasstorch.core import errors
from workbook.book.behaviours import SNIPPET, Behaviour, comparable, recorded

ROOT = Path(__file__).parents[2]
RECORDED = recorded(ROOT)

WAITING = {
    "B069": "kernels of backends that are not here, and keys that one fallback serves (tests/dispatch/tables.py)",
    "B089": "jit.trace",
    "B090": "jit.script",
    "B091": "jit's passes",
    "B104": "export",
    "B115": "autocast",
    "B118": "quantization",
    "B120": "quantization",
    "B121": "quantization",
    "B126": "distributed",
    "B128": "distributed",
    "B201": "functions of the C API, which a library in Python does not have",
    "B211": "quantization",
    "B213": "futures",
}

# A warning as Python prints it: the place, the text (further lines are indented), the line of the program.
WARNING = re.compile(r"^\S+: \w*Warning: .*\n(?:  .*\n)*", re.MULTILINE)
# How a function prints: PyTorch's are written in C, and this library's in Python.
FUNCTION = re.compile(r"<(?:built-in method (\w+) of type object|function (\w+)) at 0x…>")
OUR_ERRORS = {
    name: kind.__mro__[1].__name__
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}


def told(output: str) -> str:
    """What a program printed, without where warnings point, and with PyTorch's class for each of our errors."""
    output = WARNING.sub("", comparable(output) + "\n")
    output = FUNCTION.sub(lambda match: f"<function {match[1] or match[2]}>", output)
    output = re.sub(r"\b\w+Error\b", lambda match: OUR_ERRORS.get(match[0], match[0]), output)
    return output.rstrip()


def program(behaviour: Behaviour, folder: Path) -> Path:
    """The file of a recorded program."""
    path = folder / behaviour.identity / SNIPPET
    path.parent.mkdir()
    path.write_text(f"import torch\n{behaviour.code}\n", encoding="utf-8")
    return path


def run(*arguments: str) -> str:
    """What Python prints with these arguments."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "reference"), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False, text=True, encoding="utf-8",
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def printed() -> Iterator[dict[str, str]]:
    """What each program prints; one prints the end of a line with its own path, which must not be long."""
    with tempfile.TemporaryDirectory() as folder:
        yield answers(Path(folder))


def answers(folder: Path) -> dict[str, str]:
    """What each program prints, by its id."""
    programs = {identity: str(program(behaviour, folder)) for identity, behaviour in RECORDED.items()}
    if not hasattr(os, "fork"):
        return {identity: run("-m", "glasstorch", path) for identity, path in programs.items()}
    assert run(str(Path(__file__).with_name("forked.py")), *programs.values()) == ""
    return {identity: Path(f"{path}.printed").read_text(encoding="utf-8") for identity, path in programs.items()}


def test_a_copy_prints_what_a_process_of_its_own_prints(printed: dict[str, str], tmp_path: Path) -> None:
    for identity in ("B001", "B126"):  # one prints what PyTorch prints, one ends with an error
        path = program(RECORDED[identity], tmp_path)
        alone = run("-m", "glasstorch", str(path))
        assert told(printed[identity]) == told(alone)


@pytest.mark.parametrize("identity", sorted(RECORDED))
def test_a_program_is_set_out_in_lines_below_a_sentence(identity: str) -> None:
    title, code = RECORDED[identity].title, RECORDED[identity].code
    assert len(title) <= 110
    assert len(title.split()) >= 3
    assert title[-1] not in ".:;"
    assert identity not in title
    starts = [node.lineno for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    assert len(starts) == len(set(starts))
    assert max(map(len, code.splitlines())) <= 88


@pytest.mark.parametrize("identity", sorted(set(RECORDED) - set(WAITING)))
def test_the_program_prints_what_it_prints_under_pytorch(printed: dict[str, str], identity: str) -> None:
    assert told(printed[identity]) == told(RECORDED[identity].output), RECORDED[identity].code


@pytest.mark.parametrize("identity", sorted(WAITING))
def test_what_waits_for_a_feature_really_waits(printed: dict[str, str], identity: str) -> None:
    assert told(printed[identity]) != told(RECORDED[identity].output), (
        f"{identity} prints the same now; take it out of WAITING, where it waited for {WAITING[identity]}"
    )


def test_only_recorded_programs_wait() -> None:
    assert set(WAITING) <= set(RECORDED)
    assert len(RECORDED) - len(WAITING) >= 30
