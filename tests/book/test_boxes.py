"""Which boxes of a page become links to the code that they name, and which words do not?"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import glasstorch
from glasstorch.data import collate
from glasstorch.dispatch.trace import trace
from tests.book.small_book import ROOT
from workbook import hero
from workbook.book.api import room_pages
from workbook.book.boxes import with_links
from workbook.book.figures import graph, hops, house_map
from workbook.book.figures.kit import Figure
from workbook.book.finish import inlined_figure, with_breaks
from workbook.book.house import LAYERS
from workbook.book.places import named_at, place_of
from workbook.book.references import definitions

PAGE = "03-dispatcher/section.html"
REFERENCE = {page.replace(".md", ".html") for page in room_pages(ROOT)}


def linked(page: str) -> tuple[str, list[str]]:
    """A page in a folder of the book."""
    return with_links(page, PAGE, REFERENCE)


def on_page(figure: Figure) -> str:
    """A figure as it stands in a page before its boxes are links."""
    return inlined_figure("<img>", figure.svg(), lambda link: link)


class Opened(HTMLParser):
    """The tags that are open, to find what was closed by another's end."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("wbr", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def leaf(*values: float) -> Any:
    return glasstorch.tensor(values, requires_grad=True)


def test_each_hop_of_a_trace_leads_to_its_kernel() -> None:
    with trace() as recorded:
        leaf(1.0) + leaf(2.0)
    page, places = linked(on_page(hops.draw(recorded)))
    assert places == [
        place_of("autograd/generated/autograd_kernels.py add_Tensor"),
        place_of("kernels/cpu/pointwise/loops.py kernel_of"),
    ]
    boxes = re.findall(r'<a data-quote="(\d)" href="\.\./reference/api/([^"]+)">(.*?)</a>', page, re.DOTALL)
    assert [number for number, _, _ in boxes] == ["0", "1"]
    assert [inside.count("<rect") for _, _, inside in boxes] == [1, 1]  # all of it can be pointed at
    assert "AutogradCPU" in boxes[0][2]
    assert boxes[1][1] == "kernels-cpu-pointwise.html#glasstorch.kernels.cpu.pointwise.loops.kernel_of"
    assert Opened(page).wrong == []


def test_a_hop_whose_kernel_is_not_in_the_library_is_no_link() -> None:
    lab = glasstorch.library.Library("boxes", "DEF")
    twice = lab.define("twice(Tensor x) -> Tensor")
    lab.impl("twice", lambda x: x, "CompositeImplicitAutograd")
    given = glasstorch.ones(2)
    with trace() as recorded:
        twice(given)
    lab.close()
    page, places = linked(on_page(hops.draw(recorded)))
    assert places == []
    assert "<a " not in page
    assert 'role="img"' in page
    assert 'tabindex="0"' in page


def test_each_node_of_a_graph_leads_to_its_formulas() -> None:
    w = leaf(1.0, 2.0)

    class Mine(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    page, places = linked(on_page(graph.draw(Mine.apply(w * w).sum(), {"w": w})))
    assert places == [
        place_of("operators/derivatives.yaml sum"),
        place_of("operators/derivatives.yaml mul.Tensor"),
        place_of("autograd/accumulate_grad.py AccumulateGrad"),
    ]
    assert "MineBackward" in page
    assert not re.search(r"<a [^>]*>(?:(?!</a>).)*MineBackward", page, re.DOTALL)
    assert Opened(page).wrong == []


def test_a_figure_with_links_is_a_group_and_is_reached_by_them_and_without_a_site_it_is_a_picture() -> None:
    figure = graph.draw(leaf(1.0).exp(), {})
    assert "<a " not in figure.svg()
    assert 'role="img"' in figure.svg()
    page, _ = linked(on_page(figure))
    assert 'role="group"' in page
    assert 'role="img"' not in page
    assert "tabindex" not in page


def test_each_room_of_the_map_leads_to_its_module() -> None:
    svg = house_map.draw(ROOT).svg()
    _, places = linked(inlined_figure("<img>", svg, lambda link: link))
    rooms = [room for layer in LAYERS for room in layer.built(ROOT)]
    assert sorted(places) == sorted(room if room.endswith(".py") else f"{room}/__init__.py" for room in rooms)
    rows = '<div class="house-list"><a href="../reference/api/core.html"><code>core/</code></a></div>'
    page, places = linked(rows)
    assert places == ["core/__init__.py"]
    assert '<a data-quote="0" href="../reference/api/core.html#glasstorch.core"><code>core/</code></a>' in page


def test_the_hops_of_the_home_picture_lead_to_their_files() -> None:
    _, places = linked(on_page(hero.draw()))
    assert places == [hop.file for hop in hero.HOPS]


def test_a_table_and_a_line_of_the_glossary_lead_where_they_name_the_library() -> None:
    row = (
        "<table><td><code>torch/nn/init.py</code>, <code>linear</code></td><td><code>Call.run</code>, in "
        "<code>nn/modules/calling.py</code>; <code>devices/driver.py</code> <code>nn</code> "
        "<code>__init__.py</code></td></table>"
    )
    page, places = linked(with_breaks(row))
    assert places == [place_of("nn/modules/calling.py Call.run"), "devices/driver.py"]
    assert '"><code>Call.<wbr>run</code></a>, in <code>nn/<wbr>' in page
    assert '"><code>devices/<wbr>driver.py</code></a>' in page
    here = "Here: <code>core/keys.py</code>, <code>operators/composite/</code>."
    note = f"<em>PyTorch: <code>core/keys.py</code>. {here}</em>"
    page, places = linked(note)
    assert places == ["core/keys.py", "operators/composite/__init__.py"]
    assert page.index("Here: ") < page.index("<a ")
    assert page.count("<a ") == 2


def test_prose_and_explorables_stay_as_they_are() -> None:
    figure = (
        '<figure class="figure explorable"><svg class="glass-figure"><g data-place="core/keys.py"></g></svg></figure>'
    )
    page = f"<p>In <code>core/keys.py</code>. Here: <code>core/keys.py</code></p>{figure}"
    assert linked(page) == (page, [])
    listed = '<table><td><a href="../api/core.html"><code>glasstorch.core</code></a></td></table>'
    assert linked(listed) == (listed, [])


def test_links_to_lines_are_numbered_wherever_they_stand_and_others_stay_as_they_are() -> None:
    there = '<a href="../api/core-keys.html"><code>core/keys.py:3</code></a>'
    other = '<a href="../api/core-keys.html"><code>core/keys.py</code></a>'
    page, places = with_links(f"{there} {other} {there}", "reference/operators/views.html", REFERENCE)
    assert places == ["core/keys.py:3"]
    assert page.count('<a data-quote="0" href="../api/core-keys.html') == 2
    assert page.count("<code>core/keys.py:3</code></a>") == 2
    assert other in page


@pytest.mark.parametrize(
    "text", ["<table><code>core/keys.py</code></table>", '<svg class="glass-figure"><g data-place="core/"></g></svg>']
)
def test_a_book_without_a_reference_has_no_links(text: str) -> None:
    assert with_links(text, PAGE, set()) == (text, [])


def test_only_what_the_reference_shows_has_an_anchor_there() -> None:
    assert {name for _, _, name in definitions("data/collate.py")} == set(collate.__all__)
    assert definitions("backends/cudnn/__init__.py") == []
    assert "Node" in {name for _, _, name in definitions("autograd/node.py")}


def test_a_symbol_and_its_file_may_stand_on_two_lines() -> None:
    note = "<em>PyTorch: x. Here: <code>AccumulateGrad</code> in\n<code>autograd/accumulate_grad.py</code>.</em>"
    _, places = linked(note)
    assert [named_at(place) for place in places] == ["autograd/accumulate_grad.py AccumulateGrad"]
