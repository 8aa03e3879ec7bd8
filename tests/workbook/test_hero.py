"""Does the picture in README.md show what really happens?"""

from __future__ import annotations

from pathlib import Path

import pytest

import glasstorch
from glasstorch.dispatch.trace import trace
from workbook.hero import FILE, HOPS, PROGRAM, RESULT, draw

ROOT = Path(__file__).parents[2]


def test_the_committed_picture_is_fresh() -> None:
    drawn = (ROOT / FILE).read_text(encoding="utf-8")
    assert drawn == draw().svg(), "run: python -m workbook.hero"


def test_its_program_gives_its_result() -> None:
    names: dict[str, object] = {}
    exec("\n".join(PROGRAM), names)
    assert repr(names["c"]) == RESULT
    assert isinstance(names["a"], glasstorch.Tensor)


@pytest.mark.parametrize("hop", HOPS, ids=lambda hop: hop.name)
def test_its_files_are_there(hop: object) -> None:
    assert (ROOT / "reference" / "glasstorch" / hop.file).is_file()


def test_the_readme_shows_it() -> None:
    assert f"({FILE.as_posix()})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_keys_and_kernels_are_those_of_a_trace() -> None:
    names: dict[str, object] = {}
    exec("\n".join(PROGRAM[:-1]), names)
    with trace() as traced:
        exec(PROGRAM[-1], names)
    told = [(f"[{hop.name}]", hop.file) for hop in HOPS if hop.name.endswith("CPU")]
    lines = str(traced).splitlines()
    assert len(lines) == len(told) == 2
    assert all(key in line and file in line for (key, file), line in zip(told, lines, strict=True))
