"""Does the list of operators tell of all that the registry has, and only of that?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators.gen.model import OPERATORS
from glasstorch.operators.whereabouts import LIBRARY
from tests.book.small_book import ROOT
from workbook.book import operator_pages
from workbook.book.operator_pages import entries, entry_markdown, family_pages, link, operator_index, page_of_family
from workbook.book.withheld import FORMULAS, Asked
from workbook.exercises.catalogue import find

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
    rows = set(re.findall(r"^- op: (\S+)$(?!\n  not_implemented)", declared, re.MULTILINE))
    assert int(formulas.replace(",", "")) == len(rows & told)


def test_every_overload_stands_on_a_page_with_its_schema() -> None:
    text = "".join(family_pages(ROOT).values())
    told = {one.name for found in entries().values() for entry in found for one in entry.overloads}
    assert set(re.findall(r"<p><code>aten::([\w.]+)\(", text)) == told


def test_an_overload_says_what_it_does_where_that_is_not_what_the_first_one_does() -> None:
    (std,) = (entry for entry in entries()["reductions"] if entry.name == "std")
    first, over_dimensions, corrected = entry_markdown(std).split('<div class="operator"')[1:]
    assert "<p>The standard deviation" not in first
    assert "<p>The standard deviation over dimensions.</p>" in over_dimensions
    assert "<p>The standard deviation over dimensions, with the variance's correction.</p>" in corrected


def test_an_overload_says_what_it_is_tagged_and_who_writes_to_its_out() -> None:
    (std,) = (entry for entry in entries()["reductions"] if entry.name == "std")
    text = entry_markdown(std)
    assert "<dt>out=</dt><dd>composed, cast</dd>" in text
    assert '<code title="It reduces many values to one, over some dimensions or all.">reduction</code>' in text


def test_a_formula_that_an_exercise_asks_for_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = find(ROOT, "02.1")
    asked = Asked(exercise, exercise.pieces[0], FORMULAS, "mul.Tensor.other")
    monkeypatch.setattr(operator_pages, "all_asked", lambda: (asked,))
    (mul,) = (entry for entry in entries()["pointwise"] if entry.name == "mul")
    text = entry_markdown(mul)
    link = '<code>other</code>: you write this in <a href="../../exercises/02.1-strides.html">02.1</a>'
    assert f"<code>self: grad * conjugate(other)</code><br>{link}" in text
    assert "<code>other: " not in text


def test_the_index_links_every_name_to_its_entry() -> None:
    pages = {Path(path).stem: text for path, text in family_pages(ROOT).items()}
    links = re.findall(r'<a href="([\w-]+)\.html#(\w+)"><code>(\w+)</code></a>', operator_index(ROOT))
    assert {name for _, _, name in links} == {entry.name for found in entries().values() for entry in found}
    anchored = [
        any(form in pages[page] for form in (f"{{ #{place} }}", f'<a id="{place}">')) for page, place, _ in links
    ]
    assert all(anchored)


def test_a_place_links_to_what_is_defined_there_on_the_page_of_its_module() -> None:
    api = '<a href="../api/kernels-cpu-scans.html#glasstorch.kernels.cpu.scans'
    lines = (LIBRARY / "kernels/cpu/scans.py").read_text(encoding="utf-8").splitlines()
    function, row = (
        f"kernels/cpu/scans.py:{lines.index(line) + 1}"
        for line in ("def log_add_exp(x: Array, y: Array) -> Array:", 'register_scan("cumsum", np.add)')
    )
    assert link(function) == f'{api}.log_add_exp"><code>{function}</code></a>'
    assert link(row) == f'{api}"><code>{row}</code></a>'


def test_a_book_without_the_library_has_no_such_pages(tmp_path: Path) -> None:
    assert family_pages(tmp_path) == {}


def test_families_have_pages_of_their_own_and_long_ones_several() -> None:
    pages = family_pages(ROOT)
    assert {page_of_family(family) for family in entries()} < set(pages)
    assert "reference/operators/scans-2.md" not in pages
    first, second = pages["reference/operators/views.md"], pages["reference/operators/views-2.md"]
    assert not set(re.findall(r"^## .*", first, re.MULTILINE)) & set(re.findall(r"^## .*", second, re.MULTILINE))
    assert "](views-2.md)" in first
    assert "](views.md)" in second
    assert "](views-2.md)" not in second


def test_the_navigation_has_each_page_of_a_family() -> None:
    named = [
        path
        for entry in operator_pages.nav_entries(ROOT)
        for path in (
            [entry] if isinstance(entry, str) else [p for part in entry.values() for q in part for p in q.values()]
        )
    ]
    assert named == list(family_pages(ROOT))


def test_a_familys_page_says_what_it_is_and_where_pytorch_keeps_it() -> None:
    page = family_pages(ROOT)["reference/operators/scans.md"]
    assert "\n# scans\n\nCumulative sums, products and extrema along a dimension. In PyTorch, below `aten/src" in page
