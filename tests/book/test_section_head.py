"""Does a section say under its title what its lead paragraph says, and how to run it?"""

from __future__ import annotations

from workbook.book.section_head import with_head

LEAD = '<p><em>15 minutes. Needs: <a href="one.html">one</a> and\ntwo. You will know what. And why.</em></p>'
FACTS = """<div class="facts">
<dl>
<dt>Time</dt>
<dd>15 minutes</dd>
<dt>Needs</dt>
<dd><a href="one.html">one</a> and
two</dd>
<dt>Aim</dt>
<dd>You will know what. And why.</dd>
</dl>
</div>
"""
RUN = """<div class="run" role="group" aria-label="Run this section">
<p>To work in it as a notebook, type in the folder of your clone:</p>
<div class="highlight"><pre><code>.venv/bin/workbook lab chapters/a/b.md</code></pre></div>
<a class="download" href="b.ipynb" download>Download the notebook</a>
</div>
"""


def test_the_lead_becomes_facts_and_the_ways_to_run_follow() -> None:
    page = with_head(f"<h1>Title</h1>\n{LEAD}\n<h2>On</h2><p>rest</p>", "b.ipynb", "chapters/a/b.md")
    assert page == f"<h1>Title</h1>\n{FACTS}{RUN}\n<h2>On</h2><p>rest</p>"


def test_a_lead_may_be_wrapped_at_any_word() -> None:
    for words in ("15 minutes.", "minutes. Needs:", "two. You", "You will", "will know"):
        wrapped = LEAD.replace(words, words.replace(" ", "\n"))
        assert wrapped != LEAD
        page = with_head(f"<h1>Title</h1>\n{wrapped}", "b.ipynb", "chapters/a/b.md")
        assert page.split() == f"<h1>Title</h1>\n{FACTS}{RUN}".split()


def test_a_page_with_another_beginning_gets_the_ways_to_run() -> None:
    other = "<p><em>To look things up.</em></p>"
    assert with_head(f"<h1>T</h1>\n{other}", "b.ipynb", "chapters/a/b.md") == f"<h1>T</h1>\n{RUN}\n{other}"


def test_a_lead_that_stands_later_is_left_alone() -> None:
    page = f"<h1>T</h1>\n<p>first</p>\n{LEAD}"
    assert with_head(page, "b.ipynb", "chapters/a/b.md").endswith(LEAD)


def test_a_page_without_a_title_stays_as_it_is() -> None:
    assert with_head(LEAD, "b.ipynb", "chapters/a/b.md") == LEAD


def test_where_the_book_tells_how_commands_are_typed_the_head_leads_there() -> None:
    page = with_head("<h1>T</h1>", "b.ipynb", "chapters/a/b.md", "../how.html#typed")
    assert '<a href="../how.html#typed">How commands are typed</a>\n</div>' in page
