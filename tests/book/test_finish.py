"""Do formulas become MathML, with a typeface; do programs ask no other host?"""

from __future__ import annotations

from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from workbook.book.errors import BookError
from workbook.book.finish import finish_pages, inlined_figure, with_breaks, with_hanging_lines

PROGRAM = (
    'x="https://unpkg.com/mermaid@11/dist/mermaid.min.js";y="https://unpkg.com/resize-observer-polyfill";'
    'z=h("nav",{class:"md-code__nav"})'
)
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


def finished(site: Path, body: str) -> str:
    page = site / "deep" / "page.html"
    page.write_text(PAGE.format(body), encoding="utf-8")
    finish_pages(site)
    return page.read_text(encoding="utf-8")


def test_formulas_become_mathml_and_one_that_stands_alone_can_be_scrolled(site: Path) -> None:
    page = finished(site, INLINE + BLOCK + INLINE)
    inline = "<math><mi>a</mi><mo>&lt;</mo><msub><mi>b</mi><mn>1</mn></msub></math>"
    assert page.count(f'<span class="formula">{inline}</span>') == 2
    assert page.count('<div class="formula" tabindex="0" role="group" aria-label="Formula"><math display="block">') == 1
    assert page.count("<math") == 3
    assert "arithmatex" not in page
    assert "<link" not in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("formula", "said"),
    [(r"\frac{1}{", "reached end of input"), (r"x + \nosuch", r'Unknown command "\nosuch"')],
)
def test_a_formula_that_cannot_be_read_fails_the_build_with_its_page_and_text(
    site: Path, formula: str, said: str
) -> None:
    with pytest.raises(BookError) as caught:
        finished(site, rf'<span class="arithmatex">\({formula}\)</span>')
    lines = str(caught.value).splitlines()
    assert lines[:2] == ["deep/page.html: math-core cannot read the formula", f"  {formula}"]
    assert said in lines[2]


def test_a_site_with_formulas_has_their_typeface_and_its_licence_and_another_has_not(site: Path) -> None:
    fonts = site / "assets" / "vendor" / "fonts"
    finished(site, "no formula")
    assert not fonts.exists()
    (site / "assets" / "javascripts" / "bundle.1234.min.js").write_text(PROGRAM, encoding="utf-8")
    finished(site, INLINE)
    assert "DejaVu" in (fonts / "LICENSE-math").read_text(encoding="utf-8")
    with TTFont(fonts / "math.woff") as face:
        assert "MATH" in face, "without its table of measures no bracket grows"
        letters = face.getBestCmap()
    formula = {*map(ord, "a<b1")} | {0x1D44E, 0x1D44F}  # its two letters in italics, too
    assert formula <= {*letters}
    assert len(letters) <= len(formula) + 2, "a radical sign, and the sign that mirrors one of these"


def test_material_is_kept_at_home(site: Path) -> None:
    finished(site, "")
    program = (site / "assets" / "javascripts" / "bundle.1234.min.js").read_text(encoding="utf-8")
    assert program == 'x="data:text/javascript,";y="data:text/javascript,";z=h("div",{class:"md-code__nav"})'


def test_a_program_that_names_no_host_any_more_fails_the_build(site: Path) -> None:
    (site / "assets" / "javascripts" / "bundle.1234.min.js").write_text("x=1", encoding="utf-8")
    with pytest.raises(BookError, match=r"bundle\.1234\.min\.js\) no longer names Mermaid's host"):
        finished(site, "")


def test_what_material_leaves_without_a_name_has_one(site: Path) -> None:
    link = '<a href="x"><span class="md-ellipsis">\n  Operators\n </span> </a> <label for="a" id="__nav_1_label">{}'
    path, table = '<nav class="md-path" aria-label="{}" >', "<table><tr>{}<th>a</th></tr></table>"
    page = finished(site, link.format("") + path.format("Navigation") + table.format("<th></th>"))
    named = link.format('<span class="unseen">Pages of Operators</span>')
    assert named + path.format("Path to this page") + table.format("<td></td>") in page


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


def test_a_name_in_a_table_breaks_where_its_parts_meet_and_not_before_the_ending_of_a_file() -> None:
    cell = (
        "<td><code>use_reentrant=True</code> <code>at::add::call(self)</code> "
        "<code>a.engine.cpp</code> <code>b.h</code></td>"
    )
    assert with_breaks(cell) == (
        "<td><code>use_<wbr>reentrant=<wbr>True</code> <code>at::<wbr>add::<wbr>call(<wbr>self)</code> "
        "<code>a.<wbr>engine.cpp</code> <code>b.h</code></td>"
    )


def test_a_line_of_code_that_is_read_whole_hangs_from_its_own_indentation() -> None:
    code = '<span class="k">if</span> x:\n\n    <span class="n">y</span> &lt; 1\n'
    page = f'<div class="language-python hanging highlight"><pre><span></span><code>{code}</code></pre></div>'
    assert with_hanging_lines(page).partition("<code>")[2] == (
        '<span class="hangs" style="--deep:4"><span class="k">if</span> x:</span>\n\n'
        '<span class="hangs" style="--deep:8">    <span class="n">y</span> &lt; 1</span>\n</code></pre></div>'
    )
    call = '<span class="n">f</span><span class="p">(</span><span class="n">x</span><span class="p">)</span>'
    assert call.replace("(</span>", "(</span><wbr>") in with_hanging_lines(page.replace(code, call))
    other = page.replace("hanging ", "")
    assert with_hanging_lines(other) == other


def test_of_a_quotation_only_the_lines_that_are_wider_than_its_place_hang() -> None:
    narrow, wide = f"    return {'x' * 60}", f"    return {'y' * 90}"
    page = '<div class="language-python breaking highlight"><pre><span></span><code>{}\n</code></pre></div>'
    assert with_hanging_lines(page.format(f"{narrow}\n{wide}")) == page.format(
        f'{narrow}\n<span class="hangs" style="--deep:8">{wide}</span>'
    )


def test_a_sentence_that_was_printed_hangs_and_columns_and_short_lines_do_not() -> None:
    sentence = "RuntimeError: what was asked is refused, and this is why."
    columns = "a name                  1.0     a value\nanother              2000.0     a value"
    rows = "tensor([[1., 2.],\n        [3., 4.]])"
    page = '<div class="cell-text flowing no-copy highlight"><pre><span></span><code>{}\n</code></pre></div>'
    assert with_hanging_lines(page.format(f"{columns}\n{sentence}\n{rows}")) == page.format(
        f'{columns}\n<span class="hangs" style="--deep:4">{sentence}</span>\n{rows}'
    )


def test_a_path_in_a_table_may_break_after_each_slash() -> None:
    page = "<p><code>c10/core</code></p><td><code>c10/core/Device.h</code>, <code>a / b</code> 1/2</td>"
    assert with_breaks(page) == page.replace("c10/core/Device.h", "c10/<wbr>core/<wbr>Device.h")
