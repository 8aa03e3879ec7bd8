"""Is the library's reference in reading order, and are our docstrings shown as they are meant?"""

from __future__ import annotations

import re
from pathlib import Path

import griffe
import pytest

from tests.book.small_book import ROOT
from workbook.book import api
from workbook.book.api import HouseStyle, api_index, docstring_markdown, modules_of, room_pages
from workbook.book.errors import BookError
from workbook.book.house import PACKAGE
from workbook.book.withheld import Asked
from workbook.exercises.catalogue import find


def package(folder: Path, files: dict[str, str]) -> Path:
    for name, docstring in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""{docstring}"""\n', encoding="utf-8")
    return folder


def test_modules_come_in_reading_order_then_by_name(tmp_path: Path) -> None:
    room = package(
        tmp_path / "room",
        {
            "__init__.py": "What?\n\nReading order: `second`, then `inner/` (more) and\n`first.py`.\n\nMirrors: `aaa`",
            "first.py": "",
            "second.py": "",
            "aaa.py": "",
            "inner/__init__.py": "Reading order: `b` `a`",
            "inner/a.py": "",
            "inner/b.py": "",
            "generated/__init__.py": "",
        },
    )
    names = [path.relative_to(room).as_posix() for path in modules_of(room)]
    assert names == ["__init__.py", "second.py", "inner/__init__.py", "inner/b.py", "inner/a.py", "first.py", "aaa.py"]


def test_header_lines_become_a_box_and_doctests_code() -> None:
    text = "How?\n\nMirrors: a.h (x),\n    b.h\nDiffers: nothing.\n\nMore words.\n\n>>> 1 + 1\n2\n\nThe end."
    assert docstring_markdown(text) == (
        "How?\n\n\nMore words.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nThe end.\n\n"
        '<div class="mirrors" markdown="1">\n\nMirrors\n:   a.h (x), b.h\n\nDiffers\n:   nothing.\n\n</div>'
    )


def test_a_fact_may_go_on_in_a_line_that_is_not_indented() -> None:
    text = "How?\n\nMirrors: a.h (x,\ny)\nDiffers: nothing\nmuch.\n\nMore."
    shown = docstring_markdown(text)
    assert "Mirrors\n:   a.h (x, y)\n\nDiffers\n:   nothing much.\n" in shown
    assert shown.startswith("How?\n\n\nMore.\n")


def test_a_note_is_no_heading() -> None:
    assert docstring_markdown("How?\n\n# Note [Twice a_b]\nIt is.") == "How?\n\n**Note: Twice a&#95;b**\n\nIt is."


def test_an_indented_block_is_code_and_stays_as_it_is() -> None:
    text = "How?\n\n    run [arguments] a_b <x>\n\nMirrors: a.h"
    assert docstring_markdown(text).startswith("How?\n\n    run [arguments] a_b <x>\n\n")


def test_ways_to_call_an_operator_are_code() -> None:
    text = "All.\n\nlinalg.f(a_b, *, out=None) -> Tensor\nf(a, dim) -> Tensor\n    Over one.\n\nThe end."
    shown = "All.\n\n```text\nlinalg.f(a_b, *, out=None) -> Tensor\nf(a, dim) -> Tensor\n    Over one.\n```\n\nThe end."
    assert docstring_markdown(text) == shown


def test_the_docstring_of_the_package_itself_is_shown_as_the_others(tmp_path: Path) -> None:
    package(tmp_path, {"small/__init__.py": "What?\n\nMirrors: a.h", "small/inner.py": "Who?\n\nMirrors: b.h"})
    small = griffe.load("small", search_paths=[tmp_path], extensions=griffe.load_extensions(HouseStyle))
    assert isinstance(small, griffe.Module)
    for module in (small, small["inner"]):
        assert '<div class="mirrors"' in module.docstring.value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One.\n\nTwo: three.", "One.\n\nTwo: three."),
        ("out[i][j] and `a[i][j]`", "out&#91;i&#93;&#91;j&#93; and `a[i][j]`"),
        ("torch/__init__.py, `a_b`", "torch/&#95;&#95;init&#95;&#95;.py, `a_b`"),
        ("a vector<Edge> of *args, 2 * 3", "a vector&#60;Edge> of &#42;args, 2 * 3"),
    ],
)
def test_in_prose_only_backticks_mean_something(text: str, shown: str) -> None:
    assert docstring_markdown(text) == shown


def test_every_module_of_the_library_is_on_one_page_and_its_room_in_the_index() -> None:
    found = [name for page in room_pages(ROOT).values() for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE)]
    files = [path for path in (ROOT / PACKAGE).rglob("*.py") if not {"generated", "__pycache__"} & set(path.parts)]
    modules = {".".join(path.relative_to(ROOT / "reference").with_suffix("").parts) for path in files}
    there = {name.removesuffix(".__init__") for name in modules}
    assert sorted(found) == sorted(there)


@pytest.mark.parametrize(
    ("name", "page", "listed"),
    [
        ("core.storage", "core-storage", "core"),
        ("jit", "jit", None),
        ("jit.ir", "jit-ir", "jit"),
        ("jit.passes.dead_code", "jit-passes", None),
        ("devices.simulator", "devices-simulator", None),
        ("cuda.memory", "cuda", None),
        ("_tensor", "tensor", None),
        ("library", "init-library", "init"),
    ],
)
def test_a_module_is_described_with_its_folder_or_listed_there(name: str, page: str, listed: str | None) -> None:
    pages = room_pages(ROOT)
    assert re.search(rf"^::: glasstorch\.{re.escape(name)}$", pages[f"reference/api/{page}.md"], re.MULTILINE)
    if listed is not None:
        assert f"[`glasstorch.{name}`]({page}.md#glasstorch.{name})\n:   " in pages[f"reference/api/{listed}.md"]
    file = ROOT / PACKAGE / (name.replace(".", "/") + ".py")
    module = file if file.is_file() else ROOT / PACKAGE / name.replace(".", "/") / "__init__.py"
    assert api.page_of_module(module, ROOT) == f"reference/api/{page}.md"


def test_the_index_has_each_folder_with_its_question_and_the_navigation_each_page() -> None:
    index = api_index(ROOT)
    assert "[`glasstorch.core`](core.md)\n:   What is a tensor before any operation? *" in index
    assert "](core-storage.md" not in index
    entries = {name: pages for entry in api.nav_entries(ROOT) for name, pages in entry.items()}
    assert entries["devices.simulator"] == "reference/api/devices-simulator.md"
    assert entries["core"][0] == {"All modules": "reference/api/core.md"}
    assert {"storage": "reference/api/core-storage.md"} in entries["core"]
    named = [
        path
        for pages in entries.values()
        for path in ([pages] if isinstance(pages, str) else [path for page in pages for path in page.values()])
    ]
    assert sorted(named) == sorted(room_pages(ROOT))


def test_names_that_are_only_passed_on_are_described_where_they_are_defined() -> None:
    assert room_pages(ROOT)["reference/api/init-facade.md"].count("members: false") == 1


def test_a_page_names_the_other_pages_of_its_room_and_the_chapters_that_are_written(tmp_path: Path) -> None:
    package(tmp_path / PACKAGE, {"core/__init__.py": "What?", "core/a.py": "A?", "core/deep/__init__.py": "Deep?"})
    package(tmp_path / PACKAGE, {"printing.py": "Print?"})
    (tmp_path / "chapters" / "02-a").mkdir(parents=True)
    (tmp_path / "chapters" / "02-a" / "b.md").write_text("# B\n\n*10 minutes. Needs", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - 02-a/b.md\n", encoding="utf-8")
    pages = room_pages(tmp_path)
    assert list(pages) == [f"reference/api/{name}.md" for name in ("core", "core-deep", "printing")]
    core, deep, printing = pages.values()
    assert "told in [02 Tensor and storage](../../02-a/b.md).\n\n" in core
    assert "On pages of their own: [`glasstorch.core.deep`](core-deep.md)." in core
    assert "# glasstorch.core.deep\n" in deep
    assert "On pages of their own: [`glasstorch.core`](core.md)." in deep
    assert "told in" not in printing
    assert "of their own" not in printing


def test_a_module_that_does_not_parse_is_named(tmp_path: Path) -> None:
    core = package(tmp_path / PACKAGE / "core", {"__init__.py": "What?"})
    (core / "broken.py").write_text("def f(:\n", encoding="utf-8")
    with pytest.raises(BookError, match=r"broken\.py:1: invalid syntax\n  fix it"):
        api_index(tmp_path)


def test_what_an_exercise_asks_for_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "small", {"__init__.py": "Small?"})
    text = (
        '"""A?"""\n\ndef given():\n    """One."""\n\nclass C:\n    """C."""\n    def asked(self):\n        """Two."""\n'
    )
    (tmp_path / "small" / "a.py").write_text(text, encoding="utf-8")
    exercise = find(ROOT, "02.1")
    asked = Asked(exercise, exercise.pieces[0], "a.py", "C.asked")
    assert asked.dotted == "glasstorch.a.C.asked"
    monkeypatch.setattr(Asked, "dotted", "small.a.C.asked")
    monkeypatch.setattr(api, "all_asked", lambda: (asked,))
    small = griffe.load("small", search_paths=[tmp_path], extensions=griffe.load_extensions(HouseStyle))
    link = "[02.1 Row-major strides](../../exercises/02.1-strides.md)"
    assert small["a.C.asked"].docstring.value == f"Two.\n\nYou write this in {link}: `workbook start 02.1`."
    assert small["a.given"].docstring.value == "One."
