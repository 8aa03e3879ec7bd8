"""Are formulas typeset, or shown; do diagrams and programs ask no other host?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.book.small_book import ROOT
from workbook.book.errors import BookError
from workbook.book.finish import finish_pages, inlined_figure, with_breaks
from workbook.book.vendor import Vendored, vendored

NOTHING = Vendored(None, None, "node is not installed")
PROGRAM = 'x="https://unpkg.com/mermaid@11/dist/mermaid.min.js";y="https://unpkg.com/resize-observer-polyfill"'
PAGE = "<html><head></head><body>{}</body></html>"
INLINE = r'<span class="arithmatex">\(a &lt; b_1\)</span>'
BLOCK = '<div class="arithmatex">\\[\n\\sum_i x_i\n\\]</div>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    programs = tmp_path / "assets" / "javascripts"
    programs.mkdir(parents=True)
    (programs / "bundle.1234.min.js").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "deep").mkdir()
    return tmp_path


@pytest.fixture
def typesetting(require: Callable[[str], Any]) -> Vendored:
    require("node")
    found = vendored(ROOT)
    if found.missing:
        pytest.skip(found.missing)
    return found


def finished(site: Path, body: str, found: Vendored) -> str:
    page = site / "deep" / "page.html"
    page.write_text(PAGE.format(body), encoding="utf-8")
    finish_pages(site, found)
    return page.read_text(encoding="utf-8")


def test_formulas_are_typeset_with_mathml_and_the_style_is_linked_once(site: Path, typesetting: Vendored) -> None:
    page = finished(site, INLINE + BLOCK + INLINE, typesetting)
    assert page.count('<span class="formula"><span class="katex">') == 2
    assert page.count('<div class="formula"><span class="katex-display">') == 1
    assert page.count("<math") == 3
    assert page.count('<link rel="stylesheet" href="../assets/vendor/katex/katex.min.css">') == 1
    assert "arithmatex" not in page


def test_a_formula_that_katex_cannot_read_fails_the_build(site: Path, typesetting: Vendored) -> None:
    with pytest.raises(BookError) as caught:
        finished(site, r'<span class="arithmatex">\(\frac{1}{\)</span>', typesetting)
    lines = str(caught.value).splitlines()
    assert lines[:2] == ["page.html: KaTeX cannot read the formula", r"  \frac{1}{"]
    assert "KaTeX parse error" in lines[2]


def test_without_katex_a_formula_is_shown_as_its_source(site: Path) -> None:
    page = finished(site, INLINE + BLOCK, NOTHING)
    assert '<span class="formula formula-source"><code>a &lt; b_1</code></span>' in page
    assert r'<div class="formula formula-source"><code>\sum_i x_i</code></div>' in page
    assert "katex" not in page


def test_without_mermaid_a_diagram_is_shown_as_its_source(site: Path) -> None:
    page = finished(site, '<pre class="mermaid"><code>flowchart LR\n  A --&gt; B</code></pre>', NOTHING)
    assert '<figure class="diagram-source"><pre>flowchart LR\n  A --&gt; B</pre>' in page
    assert 'class="mermaid"' not in page


@pytest.mark.parametrize("found", [NOTHING, Vendored(Path(), None)], ids=["without", "with"])
def test_material_is_kept_at_home(site: Path, found: Vendored) -> None:
    finished(site, "", found)
    program = (site / "assets" / "javascripts" / "bundle.1234.min.js").read_text(encoding="utf-8")
    assert "unpkg.com" not in program
    assert "vendor/mermaid/mermaid.min.js" in program


def test_a_program_that_names_no_host_any_more_fails_the_build(site: Path) -> None:
    (site / "assets" / "javascripts" / "bundle.1234.min.js").write_text("x=1", encoding="utf-8")
    with pytest.raises(BookError, match=r"bundle\.1234\.min\.js\) no longer names Mermaid's host"):
        finished(site, "", NOTHING)


def test_our_figures_are_put_into_the_page_and_other_images_left_alone() -> None:
    image = '<img alt="x" src="a.svg" title="A &lt; caption" />'
    svg = '<svg class="glass-figure"><title>T</title><a href="x.md?b&amp;c" aria-label="X">X</a></svg>'
    figure = inlined_figure(image, f"<?xml?>{svg}", lambda link: link.replace("md?b&c", "html?&"))
    assert svg.replace("x.md?b&amp;c", "x.html?&amp;") in figure
    assert "<?xml?>" not in figure
    assert "<figcaption>A &lt; caption</figcaption>" in figure
    assert "tabindex" not in figure, "its links can be reached, and scroll it"
    assert 'tabindex="0"' in inlined_figure(image, '<svg class="glass-figure"><title>T</title></svg>', str)
    assert inlined_figure(image, "<svg></svg>", str) == image


def test_code_in_a_table_may_break_between_its_words() -> None:
    cell = "<td><code>THPVariable_add</code> <code>__torch_function__</code> <code>CompositeKernel</code> a_b</td>"
    cell += "<td>AutogradPrivateUseOne</td><td>PyTorch</td>"
    assert with_breaks(cell) == (
        "<td><code>THPVariable_<wbr>add</code> <code>__torch_<wbr>function__</code> "
        "<code>Composite<wbr>Kernel</code> a_b</td>"
        "<td>Autograd<wbr>Private<wbr>Use<wbr>One</td><td>PyTorch</td>"
    )


def test_a_path_in_a_table_may_break_after_each_slash() -> None:
    page = "<p><code>c10/core</code></p><td><code>c10/core/Device.h</code>, <code>a / b</code> 1/2</td>"
    assert with_breaks(page) == page.replace("c10/core/Device.h", "c10/<wbr>core/<wbr>Device.h")
