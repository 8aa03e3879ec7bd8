"""Which words of a page get a card, what does it say, and where does no link go?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from workbook.book.cards import Card, Cards, operators, plain, words_of
from workbook.book.source_map import anchor_of, names_of, source_map_page

ROOT = Path(__file__).parents[2]
KEY = Card("key", "A kind of `kernel` & <more>", "Here", "00-start/glossary.html#key")
ADD = Card("add", "Adds.", "", "reference/operators/arithmetic.html#add")
CARDS = Cards({KEY.page: KEY}, {"torch.add": ADD})
SECTION = "03-dispatcher/section.html"


def told(page: str) -> list[list[str]]:
    """The facts in a page."""
    found = re.search(r'id="cards">(.*?)</script>', page)
    return [] if found is None else json.loads(found[1])


def test_every_entry_of_the_glossary_is_a_card_with_its_definition_and_its_files() -> None:
    text = (ROOT / "chapters" / "00-start" / "glossary.md").read_text(encoding="utf-8")
    words = words_of(text)
    assert len(words) == len(re.findall(r"^### ", text, re.MULTILINE)) > 50
    assert all(card.says and card.where.startswith("PyTorch: ") for card in words.values())
    assert words["00-start/glossary.html#view"].where.endswith("`autograd/views.py`. In the documents: 视图.")
    assert not [card for card in words.values() if re.search(r"\]\(|\*", re.sub("`.*?`", "", card.says + card.where))]
    assert words["00-start/glossary.html#alias-key"].says == (
        "A name under which one kernel is registered for many keys at once, such as `Autograd` or "
        "`CompositeImplicitAutograd`. It exists only for registration, so no tensor has it in its key set."
    )


def test_operators_have_cards_by_entry_by_public_name_and_by_overload() -> None:
    entries, names = operators()
    assert entries[names["torch.add"].page] == names["torch.add"] == names["aten::add"] == names["Tensor.add"]
    assert names["aten::sum.dim_IntList"].where.startswith("`aten::sum.dim_IntList(")
    assert names["aten::sum.dim_IntList"].page == names["torch.sum"].page
    assert "torch.compile" not in names


def test_symbols_that_could_be_anybodys_have_no_card_and_the_others_have_their_place_on_the_map() -> None:
    names = names_of(ROOT)
    assert names["TensorImpl"].path == "c10/core/TensorImpl.h"
    assert "Node" not in names
    page = source_map_page(ROOT)
    assert [name for name in names if page.count(f'id="{anchor_of(name)}"') != 1] == []


def test_links_to_a_word_are_marked_and_its_facts_are_told_once() -> None:
    link = '<a href="../00-start/glossary.html#key">key</a>'
    page = CARDS.on(f"<p>{link} and {link}, not <a href='x.html'>x</a></p>", SECTION)
    assert page.count('<a data-card="0" href="../00-start/glossary.html#key">key</a>') == 2
    assert told(page) == [["key", "A kind of `kernel` & <more>", "Here"]]
    assert "<more>" not in page  # nothing in the facts can end their script
    assert page.count('<script src="../assets/cards.js" defer></script>') == 1


def test_code_that_names_an_operator_becomes_a_link_where_it_stands_first() -> None:
    code = "<code>torch.add</code>"
    page = CARDS.on(f"<p>{code} {code} <code>torch.add(1)</code></p>", SECTION)
    assert page.count("<a ") == 1
    assert f'<a class="named" data-card="0" href="../reference/operators/arithmetic.html#add">{code}</a> {code}' in page


@pytest.mark.parametrize(
    "page",
    [
        "<h2><code>torch.add</code></h2>",
        "<pre><code>torch.add</code></pre>",
        '<p><a href="x.html"><code>torch.add</code></a></p>',
        '<div class="prediction" data-prediction="{}"><ul><li><code>torch.add</code></li></ul></div>',
        "<details><summary>Of <code>torch.add</code></summary></details>",
        "<p>nothing</p>",
    ],
)
def test_where_no_link_may_stand_a_page_stays_as_it_is(page: str) -> None:
    assert CARDS.on(page, SECTION) == page


@pytest.mark.parametrize(
    "address", ["00-start/glossary.html", "reference/operators/index.html", "reference/api/x.html"]
)
def test_pages_that_tell_it_themselves_have_no_cards(address: str) -> None:
    page = '<p><a href="../00-start/glossary.html#key">key</a> <code>torch.add</code></p>'
    assert CARDS.on(page, address) == page


def test_plain_keeps_the_code_and_nothing_else_of_markdown() -> None:
    assert plain("A [node](#node) of `a * b` and *one* `c * d`\nkind") == "A node of `a * b` and one `c * d` kind"
