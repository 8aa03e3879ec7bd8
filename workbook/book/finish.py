"""What is done to pages after MkDocs has built them?

Formulas become MathML, so a reader's browser needs no program for them; a formula that cannot be read fails the build
with its page and text. A page that was opened without the files beside it says so. Material's program would fetch
Mermaid and a polyfill from a public host; here those addresses are taken out of it, because no page has diagrams of
that kind.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

from workbook.book.errors import BookError
from workbook.book.mathematics import characters_of, with_mathematics, write_typeface

TYPEFACES = Path("assets") / "vendor" / "fonts"
MERMAID_HOST = re.compile(r'"https://unpkg\.com/mermaid@[^"]+"')
NOTHING = '"data:text/javascript,"'  # an empty program
TABLE_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)|(?<=>)\w{20,}(?=<)")  # or a long word that stands alone
# Where a long name of code may be broken: behind a slash of a path, behind an underscore, before a capitalised word,
# behind two colons, a dot (but not before the ending of a file's name), an equals sign or a bracket.
JOINT = re.compile(
    r"(?<=[\w.*-]/)(?=[\w.*-])|(?<=[^\W_]_)(?=[^\W_])|(?<=[a-z0-9])(?=[A-Z][a-z])"
    r"|(?<=::)(?=\w)|(?<=[a-zA-Z_)]\.)(?=[a-zA-Z_])(?!(?:cpp|cuh?|h|json|md|pyi?|toml|yaml)\b)|(?<=\w[=(])(?=\w)"
)
# A block of code that is read whole, or of what a program printed; its lines, which hang from their own indentation
# where they are broken. Of what was printed, only sentences are broken: columns would no longer be columns.
HANGING = re.compile(
    r'(?P<head><div class="[^"]*\b(?P<kind>hanging|flowing|breaking)\b[^"]*">(?:<span class="filename">[^<]*</span>)?'
    r"<pre>(?:<span></span>)?<code>)"
    r"(?P<lines>.*?)(?P<foot></code></pre>)",
    re.DOTALL,
)
ALIGNED = re.compile(r"\s|.*\S  +\S")
SHORT = 40  # columns, which fit on a phone
WIDE = 76  # columns of code, which fit beside the navigation of a page 1280 pixels wide
OPENING = re.compile(r'<span class="[op]">[^<]*[.(\[=]</span>(?=<)')  # in a line of code, what it may be broken behind
TAG = re.compile(r"<[^>]+>")
DEEPER = 4  # columns by which the rest of a broken line is indented further
LINK = re.compile(r'<a href="([^"]*)"')
# What Material's pages lack for a reader to whom they are read aloud: the dialog of the search has no name, the path
# above a page has that of the navigation beside it, and the empty corner of a table is said to head something.
READ_ALOUD = {
    'data-md-component="search" role="dialog"': 'data-md-component="search" role="dialog" aria-label="Search"',
    '<nav class="md-path" aria-label="Navigation"': '<nav class="md-path" aria-label="Path to this page"',
    "<th></th>": "<td></td>",
}
# The switch beside the link to a group of pages shows only a symbol; the list of the group is named after it. Its words
# stand in it and are not seen: an element `label` may have no name by an attribute.
SWITCH = re.compile(
    r'(?P<link><span class="md-ellipsis">\s*(?P<name>[^<"]+?)\s*</span>\s*</a>\s*<label [^>]*id="__nav_[^>]*>)'
)
# What its program puts around the button of a piece of code: that is no navigation.
TOOLS = '("nav",{class:"md-code__nav"})'
BODY = re.compile(r"<body\b[^>]*>")
# The style hides it. From inside a zip file many systems open a page alone, without style and programs.
ALONE = """
<p class="alone"><strong>This page was opened without the files that belong to it</strong>, as from inside a zip file.
Unpack the whole file first, and open <code>index.html</code> in the folder that comes out.</p>"""
POLYFILL_HOST = '"https://unpkg.com/resize-observer-polyfill"'


def finish_pages(site: Path) -> None:
    """Turn the formulas of every page of the site into MathML, mend how it is read aloud and add what it says when it
    was opened alone; and keep Material's program at home."""
    characters: set[str] = set()
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        finished = with_mathematics(text, path.relative_to(site).as_posix())
        characters |= characters_of(finished)
        for theirs, ours in READ_ALOUD.items():
            finished = finished.replace(theirs, ours)
        finished = SWITCH.sub(
            lambda switch: f'{switch["link"]}<span class="unseen">Pages of {switch["name"]}</span>', finished
        )
        finished = BODY.sub(lambda body: body[0] + ALONE, finished, count=1)
        if finished != text:
            path.write_text(finished, encoding="utf-8", newline="\n")
    if characters:
        write_typeface(site / TYPEFACES, characters)
    keep_at_home(site)


def keep_at_home(site: Path) -> None:
    """Prevent Material's program from requesting anything from another host."""
    programs = list((site / "assets" / "javascripts").glob("bundle.*.min.js"))
    replaced = 0
    for program in programs:
        text, count = MERMAID_HOST.subn(NOTHING, program.read_text(encoding="utf-8"))
        replaced += count
        text = text.replace(POLYFILL_HOST, NOTHING).replace(TOOLS, TOOLS.replace("nav", "div", 1))
        program.write_text(text, encoding="utf-8", newline="\n")
    if not replaced:
        raise BookError(
            f"Material's program ({', '.join(program.name for program in programs) or 'not found'}) no longer "
            "names Mermaid's host\n"
            "  the pinned version of mkdocs-material has changed: see how it loads Mermaid now, and fix keep_at_home "
            "in finish.py"
        )


def with_breaks(page: str) -> str:
    """The page with places to break where the words of a path or a name of code in a table meet: a column is narrow.

    >>> with_breaks("<td><code>c10/core</code> a/b</td>")
    '<td><code>c10/<wbr>core</code> a/b</td>'
    """
    return TABLE_CELL.sub(lambda cell: CODE.sub(lambda code: JOINT.sub("<wbr>", code[0]), cell[0]), page)


def with_hanging_lines(page: str) -> str:
    """The page with each line of code that is read whole, each wide line of a quotation, and each sentence that was
    printed, in an element of its own: where the page is narrower than a line, its rest stands deeper than its
    beginning."""

    def block(match: re.Match[str]) -> str:
        lines = match["lines"].split("\n")
        return match["head"] + "\n".join(hanging_line(line, match["kind"]) for line in lines) + match["foot"]

    return HANGING.sub(block, page)


def hanging_line(line: str, kind: str) -> str:
    """One line of highlighted text, which ends all elements that it begins; one that needs no breaking as it is.

    >>> hanging_line("  y()", "hanging")
    '<span class="hangs" style="--deep:6">  y()</span>'
    """
    text = html.unescape(TAG.sub("", line))
    if not text.strip() or (kind == "flowing" and (len(text) <= SHORT or ALIGNED.match(text))):
        return line
    if kind == "breaking" and len(text) <= WIDE:
        return line
    deep = len(text) - len(text.lstrip(" ")) + DEEPER
    line = OPENING.sub(r"\g<0><wbr>", line)
    return f'<span class="hangs" style="--deep:{deep}">{line}</span>'


def inlined_figure(image: str, svg: str, address: Callable[[str], str]) -> str:
    """One of our figures in place of the image element that refers to it; other images are unchanged.

    Inside the page a figure follows the reader's choice of colours, its title and description can be read
    aloud, and its links work: `address` turns one that holds in the figure's file into one that holds in the page.
    The image's title becomes the caption. A figure that is wider than its place can be scrolled by the keyboard: by
    its links, or where it has none by its box.
    """
    if 'class="glass-figure"' not in svg:
        return image
    drawing = LINK.sub(
        lambda link: f'<a href="{html.escape(address(html.unescape(link[1])))}"', svg[svg.index("<svg") :]
    )
    title = re.search(r'\btitle="([^"]*)"', image)
    caption = f"<figcaption>{title[1]}</figcaption>" if title else ""
    reached = "" if "<a " in drawing else ' tabindex="0"'
    return f'<figure class="figure"><div class="figure-scroll"{reached}>{drawing}</div>{caption}</figure>'
