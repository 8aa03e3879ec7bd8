"""Does the list of operators tell of all that the registry has, and only of that?"""

from __future__ import annotations

import re
from pathlib import Path

from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators.gen.model import OPERATORS
from tests.book.small_book import ROOT
from workbook.book.operator_pages import entries, link, operator_index, page_of_section, section_pages

cuda.register_kernels()
NAMES = [name.removeprefix("aten::") for name in registry.operators if name.startswith("aten::")]


def totals() -> list[int]:
    (told,) = re.findall(r"^All together: (.*)$", operator_index(ROOT), re.MULTILINE)
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", told)]


def test_the_counts_are_those_of_the_registry() -> None:
    names, operators, native, composite = totals()
    assert names == len({entry.name for found in entries().values() for entry in found})
    assert operators == len(NAMES)
    told = {one.name for found in entries().values() for entry in found for one in entry.overloads}
    assert native + composite == len(told)
    formulas, on_cuda = re.findall(
        r"^Of these ([\d,]+) have derivatives of their own, ([\d,]+) a CUDA", operator_index(ROOT), re.MULTILINE
    )[0]
    with_cuda = {o.qualified_overload for o in registry.operators.values() if o.has_kernel_for("CUDA")}
    assert int(on_cuda.replace(",", "")) == len(with_cuda & told)
    declared = (OPERATORS / "derivatives.yaml").read_text(encoding="utf-8")
    rows = set(re.findall(r"^- op: (\S+)$", declared, re.MULTILINE))
    assert int(formulas.replace(",", "")) == len(rows & told)


def test_every_overload_stands_on_a_page_with_its_schema() -> None:
    text = "".join(section_pages(ROOT).values())
    told = {one.name for found in entries().values() for entry in found for one in entry.overloads}
    assert set(re.findall(r"<p><code>aten::([\w.]+)\(", text)) == told


def test_the_index_links_every_name_to_its_entry() -> None:
    pages = {Path(path).stem: text for path, text in section_pages(ROOT).items()}
    links = re.findall(r'<a href="([\w-]+)\.html#(\w+)"><code>(\w+)</code></a>', operator_index(ROOT))
    assert {name for _, _, name in links} == {entry.name for found in entries().values() for entry in found}
    assert all(f"{{ #{place} }}" in pages[page] for page, place, _ in links)


def test_a_place_links_to_the_page_of_its_module() -> None:
    assert link("kernels/cpu/scans.py:47") == (
        '<a href="../api/kernels-cpu.html#glasstorch.kernels.cpu.scans"><code>kernels/cpu/scans.py:47</code></a>'
    )


def test_a_book_without_the_library_has_no_such_pages(tmp_path: Path) -> None:
    assert section_pages(tmp_path) == {}


def test_sections_have_pages_of_their_own() -> None:
    assert set(section_pages(ROOT)) == {page_of_section(title) for title in entries()}
