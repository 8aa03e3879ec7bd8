"""What of a page is handed to the search?"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbook.book.errors import BookError
from workbook.book.searching import EXPOSED, WORDS, add_words, named, readable, weighed


def test_what_is_folded_as_an_answer_is_left_out_whole() -> None:
    nested = '<details class="answer"><summary>Then look</summary><details><p>deep</p></details><p>after</p></details>'
    assert readable(f"<p>a &amp; b</p>{nested}<p>c<br>d&#8212;</p>") == "<p>a &amp; b</p><p>c<br>d&#8212;</p>"


@pytest.mark.parametrize("kind", ["solution", "hint", "proof", "cell-text cell-stdout", "quote withheld"])
def test_other_elements_are_left_out_by_their_class(kind: str) -> None:
    assert readable(f'<div class="{kind}"><div>x<img src="y.png"></div></div><p>z</p>') == "<p>z</p>"


def test_of_code_only_what_a_cell_runs_is_read_and_of_a_folded_question_the_question() -> None:
    ran, quoted = (
        '<div class="cell-input highlight"><pre>ran()</pre></div>',
        '<div class="highlight"><pre>no</pre></div>',
    )
    assert readable(ran + quoted) == ran
    question = '<details class="question"><summary>Why?</summary><p>Because.</p></details>'
    assert readable(question) == '<details class="question"><summary>Why?</summary></details>'


def test_a_page_of_modules_is_read_as_questions_and_names_of_classes() -> None:
    page = (
        '<div class="doc doc-object doc-module">\n<h2 id="glasstorch.a" class="doc"><code>glasstorch.a</code></h2>'
        '<div class="doc doc-contents"><p>Why <code>a</code>?</p><p>More.</p><div class="doc doc-children">'
        '<div class="doc doc-object doc-class">\n<h3 id="glasstorch.a.C">C</h3>'
        '<div class="doc doc-object doc-function">\n<h4 id="glasstorch.a.C.f">f()</h4></div></div></div></div></div>'
    )
    assert list(named("reference/api/a.html", "a", page)) == [
        {"location": "reference/api/a.html", "title": "a", "text": "Why a? C"},
    ]


def test_an_operator_is_read_by_its_name() -> None:
    page = '<h2 id="add">add<a class="headerlink" href="#add">#</a></h2><p>Sums.</p>'
    assert list(named("reference/operators/p.html", "P & Q", page)) == [
        {"location": "reference/operators/p.html", "title": "P &amp; Q", "text": ""},
        {"location": "reference/operators/p.html#add", "title": "add", "text": ""},
    ]


def test_parts_that_are_the_same_everywhere_are_dropped_and_the_others_weighed() -> None:
    places = (
        "04-a/b.html#next",
        "04-a/b.html",
        "exercises/c.html#begin",
        "exercises/c.html",
        "reference/api/d.html#next",
    )
    entries = [{"location": place, "title": "", "text": "x"} for place in places]
    found = [(entry["location"], entry.get("boost")) for entry in weighed(entries)]
    assert found == [("04-a/b.html", None), ("exercises/c.html", 0.1), ("reference/api/d.html#next", 0.05)]


def test_our_part_is_added_to_a_search_that_names_its_library(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="not found"):
        add_words(tmp_path)
    program = tmp_path / "assets" / "javascripts" / "workers" / "search.1.min.js"
    program.parent.mkdir(parents=True)
    program.write_text("theirs()", encoding="utf-8")
    with pytest.raises(BookError, match=f"no longer says {EXPOSED}"):
        add_words(tmp_path)
    program.write_text(f"(()=>{{{EXPOSED}theirs}})()", encoding="utf-8")
    add_words(tmp_path)
    assert program.read_text(encoding="utf-8").endswith(WORDS.read_text(encoding="utf-8"))
