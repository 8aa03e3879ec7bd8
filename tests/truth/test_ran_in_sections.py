"""Does our counterpart of a place in PyTorch's source exist, and does the section that names it run it?"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import lru_cache

import pytest

from tests.truth.ran_in_sections import (
    LIBRARY,
    OURS,
    ROOT,
    Named,
    definitions,
    digest,
    named,
    recorded,
    runs,
    text_of,
    wanted,
)
from workbook.book.contents import sections
from workbook.book.source_links import rows

SECTIONS = [section.path.removesuffix(".md") for section in sections(ROOT)]
RECORDED = recorded()
SMALL = "04-autograd/leaves-and-accumulation"
RERUN = "run python -m tests.truth.ran_in_sections"


@pytest.mark.parametrize("section", SECTIONS)
def test_our_counterparts_are_in_the_library(section: str) -> None:
    assert [place for place in named(section) if place.symbol not in definitions(place.file)] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_our_counterparts_run_in_the_section(section: str) -> None:
    assert RECORDED[section]["cells"] == digest(section), RERUN
    assert RECORDED[section]["ran"] == wanted(section), RERUN


@pytest.mark.parametrize("section", SECTIONS)
def test_a_row_begins_with_the_word_of_its_author(section: str) -> None:
    for row in rows(text_of(section).read_text(encoding="utf-8")):
        word = row["here"].split()[0].rstrip(":;,")
        assert word in ("same", "simplified", "omitted"), row[0]
        assert word != "omitted" or not OURS.search(row["here"]), row[0]
        assert word != "omitted" or re.match(r"omitted: \w", row["here"].strip()), f"give the reason: {row[0]}"


@pytest.mark.parametrize("section", SECTIONS)
def test_what_a_row_calls_omitted_is_not_in_the_library(section: str) -> None:
    for row in rows(text_of(section).read_text(encoding="utf-8")):
        if row["here"].split()[0].rstrip(":;,") == "omitted":
            assert not has_a_twin(row["path"], row["symbol"]), row[0]
            assert mirrored_by(row["path"], row["symbol"]) == [], row[0]


def has_a_twin(path: str, symbol: str) -> bool:
    """Whether the library defines a symbol of a Python file of PyTorch in the file of the same path."""
    return path.startswith("torch/") and symbol.rsplit(maxsplit=1)[-1] in definitions(path.removeprefix("torch/"))


@lru_cache(maxsize=1)
def mirrored() -> dict[str, str]:
    """What the header of each file of the library says that it mirrors."""
    found = {}
    for path in LIBRARY.rglob("*.py"):
        header = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        said = header.partition("Mirrors:")[2].partition("Differs:")[0].partition("\n\n")[0]
        found[path.relative_to(LIBRARY).as_posix()] = " ".join(said.split())
    return found


def mirrored_by(path: str, symbol: str) -> list[str]:
    """The files of the library whose header says that they mirror a symbol of a file of PyTorch."""
    name = re.compile(rf"\b{re.escape(symbol.rsplit(maxsplit=1)[-1])}")
    return [file for file, said in mirrored().items() if path in said and name.search(said)]


def test_a_counterpart_is_found_by_the_header_that_names_it() -> None:
    assert mirrored_by("torch/csrc/utils/pybind.h", "type_caster") == ["utils/_cpp/casters.py"]
    assert mirrored_by("torch/csrc/utils/pybind.h", "no_such_symbol") == []


def test_a_twin_is_found_by_its_path_and_its_name() -> None:
    assert has_a_twin("torch/fx/graph.py", "class Graph")
    assert not has_a_twin("torch/fx/graph.py", "class NoSuchClass")
    assert not has_a_twin("torch/_dynamo/symbolic_convert.py", "class InstructionTranslator")
    assert not has_a_twin("fx/graph.py", "class Graph")


def test_a_section_that_runs_again_runs_the_same_places() -> None:
    command = [sys.executable, "-m", "tests.truth.ran_in_sections", "--one", SMALL]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == RECORDED[SMALL]["ran"] != []


def test_what_can_run_is_told_from_what_cannot() -> None:
    assert runs(Named("autograd/node.py", "Node"))
    assert runs(Named("core/geometry.py", "contiguous_strides"))
    assert not runs(Named("core/keys.py", "nothing_of_this_name"))
    assert not runs(Named("operators/gen/emit_autograd.py", "emit"))
    assert definitions("no/such/file.py") == {}
