"""What is done to pages after MkDocs has built them?

Mathematics is typeset here, at build time: a reader's browser needs no program for it, and a formula that
KaTeX cannot read fails the build with its page and text. Where there is no KaTeX, the formula's source is
shown. Material's program fetches Mermaid from a public host when a page has a diagram; here that address
becomes a local one, or, where there is no Mermaid, the diagram's source is shown as text.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from workbook.book.errors import BookError, last_line
from workbook.book.vendor import Vendored

TYPESET = Path(__file__).with_name("typeset.cjs")
FORMULA = re.compile(r'<(span|div) class="arithmatex">(\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)
DIAGRAM = re.compile(r'<pre class="mermaid"><code>(.*?)</code></pre>', re.DOTALL)
MERMAID_HOST = re.compile(r'"https://unpkg\.com/mermaid@[^"]+"')
MERMAID_HERE = (
    "new URL('../vendor/mermaid/mermaid.min.js',"
    "document.querySelector('script[src*=\"assets/javascripts/bundle\"]').src).href"
)
TABLE_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)|(?<=>)\w{20,}(?=<)")  # or a long word that stands alone
# Where a long name of code may be broken: behind a slash of a path, behind an underscore, before a capitalised word.
JOINT = re.compile(r"(?<=[\w.*-]/)(?=[\w.*-])|(?<=[^\W_]_)(?=[^\W_])|(?<=[a-z0-9])(?=[A-Z][a-z])")
LINK = re.compile(r'<a href="([^"]*)"')
SEARCH = 'data-md-component="search" role="dialog"'  # Material gives its dialog no name to be read aloud
POLYFILL_HOST = '"https://unpkg.com/resize-observer-polyfill"'


def finish_pages(site: Path, vendored: Vendored) -> None:
    """Typeset mathematics and settle diagrams on every page of the site, name its search, and keep Material's
    program at home."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    typeset = typeset_formulas(pages, vendored)
    for path, text in pages.items():
        finished = with_mathematics(text, typeset, depth=len(path.relative_to(site).parts) - 1)
        finished = finished.replace(SEARCH, f'{SEARCH} aria-label="Search"')
        if vendored.folder is None:
            finished = DIAGRAM.sub(diagram_source, finished)
        if finished != text:
            path.write_text(finished, encoding="utf-8", newline="\n")
    keep_at_home(site)


def typeset_formulas(pages: dict[Path, str], vendored: Vendored) -> dict[tuple[str, bool], str]:
    """HTML for each formula (its source, whether it stands alone) of the pages; empty where there is no
    KaTeX."""
    found = {formula_key(match): path for path, text in pages.items() for match in FORMULA.finditer(text)}
    if not found or vendored.folder is None or vendored.node is None:
        return {}
    done = subprocess.run(
        [vendored.node, str(TYPESET), str(vendored.folder / "katex" / "katex.min.js")],
        input=json.dumps(list(found)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise BookError(f"node could not run KaTeX\n  {last_line(done.stderr)}")
    results = dict(zip(found, json.loads(done.stdout), strict=True))
    for (formula, _), result in results.items():
        if "error" in result:
            raise BookError(
                f"{found[formula, _].name}: KaTeX cannot read the formula\n  {formula}\n  {result['error']}"
            )
    return {key: result["html"] for key, result in results.items()}


def formula_key(match: re.Match[str]) -> tuple[str, bool]:
    """A formula's source, and whether it is a displayed formula."""
    return html.unescape(match[3]).strip(), match[2] == r"\["


def with_mathematics(page: str, typeset: dict[tuple[str, bool], str], depth: int) -> str:
    """The page with each formula typeset, or shown as source if it is not among the typeset ones."""

    def shown(match: re.Match[str]) -> str:
        tag = match[1]
        formula, alone = formula_key(match)
        if (formula, alone) in typeset:
            return f'<{tag} class="formula">{typeset[formula, alone]}</{tag}>'
        source = f"<code>{html.escape(formula)}</code>"
        return f'<{tag} class="formula formula-source">{source}</{tag}>'

    changed = FORMULA.sub(shown, page)
    if changed != page and typeset:
        style = f'<link rel="stylesheet" href="{"../" * depth}assets/vendor/katex/katex.min.css">'
        changed = changed.replace("</head>", f"{style}\n</head>", 1)
    return changed


def diagram_source(match: re.Match[str]) -> str:
    """The source of a diagram that cannot be drawn.

    It must not bear Mermaid's class: Material would go and fetch Mermaid.
    """
    return (
        f'<figure class="diagram-source"><pre>{match[1]}</pre>'
        "<figcaption>The source of a diagram: it is drawn where Node.js was installed when the book was "
        "built.</figcaption></figure>"
    )


def keep_at_home(site: Path) -> None:
    """Prevent Material's program from requesting anything from another host."""
    programs = list((site / "assets" / "javascripts").glob("bundle.*.min.js"))
    replaced = 0
    for program in programs:
        text, count = MERMAID_HOST.subn(lambda _: MERMAID_HERE, program.read_text(encoding="utf-8"))
        replaced += count
        program.write_text(text.replace(POLYFILL_HOST, '""'), encoding="utf-8", newline="\n")
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
