"""What does the search find, and in which order?

The search is Material's. Its plugin hands each page to us before it reads the page: what a reader is to guess or to
write is taken out, the reference is reduced to names, and each entry gets a weight, so that the book comes before the
exercises, these before the operators, and the modules last.

`search_words.js` is added to Material's program: it finds `strides` by *stride*, and prefers whole words.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mkdocs.structure.pages import Page

from workbook.book.errors import BookError

WORDS = Path(__file__).with_name("search_words.js")
PLUGIN = "material/search"
EXPOSED = "self.lunr="  # by this name our addition reaches the library inside Material's program

Entry = dict[str, Any]

# The kinds of pages by their folder, and how much a word counts there.
API, OPERATORS, EXERCISES, REFERENCE, BOOK = "reference/api/", "reference/operators/", "exercises/", "reference/", ""
WEIGHTS = {API: 0.05, OPERATORS: 0.07, EXERCISES: 0.1, REFERENCE: 0.3, BOOK: 1.0}

# What is not read, by one of its classes: what a section asks before it shows it, what an exercise asks for, and what
# says nothing to who looks for a word.
UNREAD = {
    "answer", "solution", "hint", "withheld", "proof",
    "cell-text", "cell-html", "cell-fold", "run", "predictions", "headerlink", "house-list",
}  # fmt: skip
READ = "cell-input"  # of all blocks of code, these are read
UNREAD_TAGS = {"svg", "script", "style"}
# Parts that each section and each exercise has, and that say nothing of their own.
SAME_EVERYWHERE = {"next", "exercises", "begin", "hints", "what-a-check-does", "your-answer"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

OBJECT = re.compile(
    r'<div class="doc doc-object doc-(?P<kind>module|class)">\s*<h\d id="(?P<name>[^"]+)"(?P<rest>.*?)'
    r'(?=<div class="doc doc-(?:children|object)|</div>)',
    re.DOTALL,
)
ANSWERED = re.compile(r'(<details class="question">\s*<summary>.*?</summary>).*?(?=</details>)', re.DOTALL)
FIRST_PARAGRAPH = re.compile(r"<p>.*?</p>", re.DOTALL)
OPERATOR = re.compile(r'<h2 id="(?P<name>[^"]+)"[^>]*>(?P<title>.*?)<a class="headerlink"', re.DOTALL)
BLOCK = re.compile(r"<pre>.*?</pre>", re.DOTALL)
COMMENT = re.compile(r"#.*")
NAME = re.compile(r"\b[A-Za-z]\w*(?:[._]\w+)+|\b[A-Z][a-z]+[A-Z]\w+")  # of several words: others are in every program
INLINE = re.compile(r"</?(?:code|sub|sup)>")
TAG = re.compile(r"<[^>]*>")


def kind_of(url: str) -> str:
    """The folder by which the weight of a page is found.

    >>> kind_of("reference/api/core.html"), kind_of("04-autograd/hooks.html")
    ('reference/api/', '')
    """
    return next(folder for folder in WEIGHTS if url.startswith(folder))


def take_over(plugins: Mapping[str, Any]) -> None:
    """Have Material's plugin read pages as it is said above, where it is among the plugins."""
    if PLUGIN not in plugins:
        return
    index = plugins[PLUGIN].search_index
    read = index.add_entry_from_context

    def add(page: Page) -> None:
        start = len(index.entries)
        content = page.content or ""
        if kind_of(page.url) in (API, OPERATORS):
            index.entries += named(page.url, str(page.title), content)
        else:
            page.content = readable(content)
            try:
                read(page)
            finally:
                page.content = content
        index.entries[start:] = weighed(index.entries[start:])

    vars(index)["add_entry_from_context"] = add


def weighed(entries: list[Entry]) -> Iterator[Entry]:
    """The entries of a page with their weights, without the parts that each has."""
    for entry in entries:
        page, _, section = entry["location"].partition("#")
        kind = kind_of(page)
        if kind not in (API, OPERATORS) and section in SAME_EVERYWHERE:
            continue
        weight = {} if kind == BOOK else {"boost": WEIGHTS[kind]}
        yield entry | {"text": in_short(entry["text"])} | weight


def in_short(text: str) -> str:
    """A text without markup inside its paragraphs, with the names in its code in place of the code.

    >>> in_short("<p>Ask <code>x</code>:</p> <pre><code>node = x.grad_fn</code></pre>")
    '<p>Ask x:</p> <p>In the code: x.grad_fn.</p>'
    """
    names: dict[str, None] = {}
    for block in BLOCK.findall(text):
        names |= dict.fromkeys(NAME.findall(COMMENT.sub("", block)))
    prose = INLINE.sub("", BLOCK.sub("", text))
    unsaid = [name for name in names if name not in prose]
    if unsaid:
        prose += f" <p>In the code: {', '.join(unsaid)}.</p>"
    return " ".join(prose.split())


def named(url: str, title: str, content: str) -> Iterator[Entry]:
    """The entries of a page of the reference: each module with its question and the names of its classes, or each
    operator by its name."""
    if kind_of(url) == OPERATORS or OBJECT.search(content) is None:
        yield {"location": url, "title": html.escape(title, quote=False), "text": ""}
        for found in OPERATOR.finditer(content):
            yield {"location": f"{url}#{found['name']}", "title": TAG.sub("", found["title"]).strip(), "text": ""}
        return
    modules: dict[str, list[str]] = {}
    for found in OBJECT.finditer(content):
        name = found["name"]
        if found["kind"] == "module":
            question = FIRST_PARAGRAPH.search(found["rest"])
            modules[name] = [TAG.sub("", question[0])] if question else []
        elif (module := name.rpartition(".")[0]) in modules:  # else it is a class inside another
            modules[module].append(name.rpartition(".")[2])
    for place, (name, told) in enumerate(modules.items()):
        where = f"{url}#{name}" if place else url  # the first is what the page is about
        yield {"location": where, "title": name.removeprefix("glasstorch."), "text": " ".join(told)}


def readable(content: str) -> str:
    """A page without what the search does not read.

    >>> readable('<p>Why?</p><details class="answer"><p>Because.</p></details>')
    '<p>Why?</p>'
    """
    reader = Reader()
    reader.feed(ANSWERED.sub(r"\1", content).replace("</strong><span>", "</strong>: <span>"))
    reader.close()
    return "".join(reader.kept)


class Reader(HTMLParser):
    """Keeps a page's HTML, except for the elements that are not read."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.kept: list[str] = []
        self.inside = 0  # the number of open elements below and with the one that is not read

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin to leave out, or keep the tag."""
        classes = set((dict(attrs).get("class") or "").split())
        if self.inside or tag in UNREAD_TAGS or classes & UNREAD or ("highlight" in classes and READ not in classes):
            self.inside += tag not in VOID
        else:
            self.kept.append(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content."""
        if not self.inside:
            self.kept.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        """Keep the tag, or count it."""
        if self.inside:
            self.inside -= tag not in VOID
        else:
            self.kept.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Keep text."""
        if not self.inside:
            self.kept.append(data)

    def handle_entityref(self, name: str) -> None:
        """Keep a character that is written by its name."""
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """Keep a character that is written by its number."""
        self.handle_data(f"&#{name};")


def add_words(site: Path) -> None:
    """Add our part to Material's program for the search."""
    programs = list((site / "assets" / "javascripts" / "workers").glob("search.*.min.js"))
    if len(programs) != 1 or EXPOSED not in programs[0].read_text(encoding="utf-8"):
        raise BookError(
            f"Material's search ({', '.join(program.name for program in programs) or 'not found'}) no longer says "
            f"{EXPOSED}\n"
            "  the pinned version of mkdocs-material has changed: see how its search names lunr now, and fix "
            "add_words in searching.py"
        )
    program = programs[0].read_text(encoding="utf-8")
    programs[0].write_text(f"{program}\n{WORDS.read_text(encoding='utf-8')}", encoding="utf-8", newline="\n")
