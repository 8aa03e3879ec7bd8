"""Does a name that a box of a page gives to a place of the library lead there?"""

from __future__ import annotations

import re

import pytest

from tests.book.small_book import ROOT
from workbook.book.nodes import NODES, node_operators
from workbook.book.notebook_checks import read_notebook
from workbook.book.notebook_text import notebook_sources
from workbook.book.places import lines_of, named_at, place_of, symbol_in
from workbook.book.project import CHAPTERS, LABS
from workbook.book.withheld import FORMULAS

MARK = re.compile(r'data-place="([^"]+)"')


@pytest.mark.parametrize(
    ("name", "file", "begins"),
    [
        ("core/keys.py DispatchKeySet", "core/keys.py", "class DispatchKeySet"),
        ("nn/modules/calling.py Call.run", "nn/modules/calling.py", "    def run("),
        ("kernels/cpu/pointwise/loops.py kernel_of", "kernels/cpu/pointwise/loops.py", "def kernel_of("),
        ("operators/derivatives.yaml mul.Tensor", "operators/derivatives.yaml", "- op: mul.Tensor"),
        ("operators/native_functions.yaml add.Tensor", "operators/native_functions.yaml", "- func: add.Tensor("),
        ("glasstorch.autograd.node.Node", "autograd/node.py", "class Node"),
        ("glasstorch.nn.Linear", "", ""),  # is passed on there, and defined elsewhere
        ("glasstorch.autograd.generated.autograd_kernels.MulBackward0", FORMULAS, "- op: mul.Tensor"),
        ("core/geometry.py nothing", "", ""),
        ("core/nothing.py DispatchKeySet", "", ""),
    ],
)
def test_a_symbol_means_the_line_at_which_it_is_defined(name: str, file: str, begins: str) -> None:
    place = place_of(name)
    if not file:
        assert place is None
        return
    assert place is not None
    found, _, line = place.partition(":")
    assert found == file
    assert lines_of(file)[int(line) - 1].startswith(begins)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("core/geometry.py", "core/geometry.py"),
        ("core/geometry.py:1", "core/geometry.py:1"),
        ("core/geometry.py:0", None),
        ("core/geometry.py:100000", None),
        ("core/", "core/__init__.py"),
        ("kernels/cpu", "kernels/cpu/__init__.py"),
        ("glasstorch.core", "core/__init__.py"),
        ("kernels/cuda/rows.cuh", "kernels/cuda/rows.cuh"),
        ("nn", None),  # a word, such as that of torch.nn
        ("torch/nn/init.py", None),
        ("../../pyproject.toml", None),
        ("core/../core/geometry.py", None),
        ("/etc/passwd", None),
        ("", None),
    ],
)
def test_a_file_or_folder_is_known_by_its_path_in_the_library_only(name: str, place: str | None) -> None:
    assert place_of(name) == place


def test_every_generated_node_has_a_row_of_formulas() -> None:
    module = f"glasstorch.{NODES.removesuffix('.py').replace('/', '.')}"
    assert len(node_operators()) > 400
    for node in node_operators():
        place = place_of(f"{module}.{node}")
        assert place is not None
        assert place.startswith(f"{FORMULAS}:"), node


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("core/keys.py DispatchKeySet", "core/keys.py DispatchKeySet"),
        ("autograd/generated/autograd_kernels.py mul_Tensor", "autograd/generated/autograd_kernels.py mul_Tensor"),
        ("nn/modules/calling.py Call.run", "nn/modules/calling.py Call"),
    ],
)
def test_a_line_is_named_by_what_is_defined_there_and_leads_back(name: str, stays: str) -> None:
    place = place_of(name)
    assert place is not None
    assert named_at(place) == stays
    assert place_of(stays) is not None


@pytest.mark.parametrize("where", ["Cell In[3]:2", "/anywhere/else/mine.py:2", "core/nothing.py:1"])
def test_what_is_not_in_the_library_has_no_name(where: str) -> None:
    assert named_at(where) == ""


def test_a_file_by_the_end_of_its_path_is_the_one_that_defines_the_symbol() -> None:
    view = symbol_in("views.py", "view")
    assert view is not None
    assert view.startswith("kernels/views.py:")  # autograd/views.py and nn's have none
    assert symbol_in("nn/modules/calling.py", "Call.run") == place_of("nn/modules/calling.py Call.run")
    assert symbol_in("__init__.py", "DispatchKeySet") is None
    assert symbol_in("functional.py", "nothing_of_this_name") is None


def test_every_place_that_a_figure_of_the_book_is_marked_with_is_known() -> None:
    folders = [ROOT / CHAPTERS, ROOT / LABS]
    texts = [str(read_notebook(source)) for source in notebook_sources(ROOT, folders)]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / CHAPTERS / "assets" / "figures").glob("*.svg")]
    marks = [mark for text in texts for mark in MARK.findall(text)]
    assert len(marks) > 60
    assert [mark for mark in marks if place_of(mark) is None] == []
