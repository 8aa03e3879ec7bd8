"""Does no file of the library import a file that imports it, around however many corners?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.cycles import components, cycles

PACKAGE = Path(__file__).parents[2] / "reference" / "glasstorch"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "


def test_no_files_of_the_library_import_each_other() -> None:
    assert cycles(PACKAGE) == []


@pytest.mark.parametrize(
    "back",
    [
        "from glasstorch.core.first import f",
        "from glasstorch.core import first",
        "from .first import f",
        "import glasstorch.core.first",
        "def g():\n    from glasstorch.core.first import f",
        "import importlib\nimportlib.import_module('glasstorch.core.first')",
        f"{FOR_TYPES}from glasstorch.core.first import f",
    ],
)
def test_a_planted_cycle_is_found_by_any_kind_of_import(tmp_path: Path, back: str) -> None:
    package(tmp_path, first="from glasstorch.core.second import f", second="from . import third", third=back)
    assert cycles(tmp_path / "glasstorch") == [["core.first", "core.second", "core.third"]]


def test_cycles_apart_are_groups_and_a_module_that_only_leads_to_one_is_in_none(tmp_path: Path) -> None:
    package(
        tmp_path, a="from . import b", b="from . import a, c", c="from . import d", d="from . import c", e="import os"
    )
    assert cycles(tmp_path / "glasstorch") == [["core.a", "core.b"], ["core.c", "core.d"]]


def test_a_package_on_the_way_to_a_module_is_imported_too(tmp_path: Path) -> None:
    package(tmp_path, a="from glasstorch.devices.deep.x import f")
    devices = tmp_path / "glasstorch" / "devices"
    (devices / "deep").mkdir(parents=True)
    for name, code in {"__init__": "from glasstorch.core import a", "deep/__init__": "", "deep/x": "f = 1"}.items():
        (devices / f"{name}.py").write_text(code, encoding="utf-8")
    assert cycles(tmp_path / "glasstorch") == [["core.a", "devices"]]


def test_the_forward_declaration_of_tensor_makes_no_cycle(tmp_path: Path) -> None:
    package(tmp_path, a=f"{FOR_TYPES}from glasstorch._tensor import Tensor")
    tensor = tmp_path / "glasstorch" / "_tensor.py"
    tensor.write_text("from glasstorch.core import a\n", encoding="utf-8")
    assert cycles(tmp_path / "glasstorch") == []
    package(tmp_path, a=f"{FOR_TYPES}from glasstorch._tensor import make")
    assert cycles(tmp_path / "glasstorch") == [["_tensor", "core.a"]]


def test_a_component_is_closed_however_it_is_entered() -> None:
    graph = {"a": "b", "b": "cd", "c": "a", "d": "e", "e": "d", "f": "a"}
    assert sorted(map(sorted, components(graph))) == [["a", "b", "c"], ["d", "e"], ["f"]]


def package(folder: Path, **files: str) -> None:
    """A package with one folder, `core`, and these files in it."""
    core = folder / "glasstorch" / "core"
    core.mkdir(parents=True, exist_ok=True)
    for name, code in files.items():
        (core / f"{name}.py").write_text(code, encoding="utf-8")
