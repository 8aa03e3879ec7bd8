"""What is shown below a section's title?

A line of facts, made from the section's own lead paragraph (*15 minutes. Needs: ... You will ...*), and the ways to run
it: the notebook to download, and the command. A pure function over the page's HTML.
"""

from __future__ import annotations

import html
import re

LEAD = re.compile(
    r"<p><em>(?P<time>\d+\s+minutes)\.\s+Needs:\s+(?P<needs>.+?)\.\s+(?P<aim>You\s+will\s.+?)</em></p>", re.DOTALL
)
TITLE_END = "</h1>"


def with_head(page: str, notebook: str, source: str, typing: str = "") -> str:
    """The page with its facts, and the ways to run it, below its title.

    `notebook` is the way to the notebook from the page, `source` the section's file as it is typed at the clone's
    top, and `typing` the way to what tells of other ways to type it; empty where the book has no such page.
    """
    before, title_end, rest = page.partition(TITLE_END)
    if not title_end:
        return page
    lead = LEAD.match(rest.lstrip())
    if lead is None:
        return f"{before}{title_end}\n{ways_to_run(notebook, source, typing)}{rest}"
    told = {"Time": lead["time"], "Needs": lead["needs"], "Aim": lead["aim"]}
    rows = "\n".join(f"<dt>{name}</dt>\n<dd>{value}</dd>" for name, value in told.items())
    facts = f'<div class="facts">\n<dl>\n{rows}\n</dl>\n</div>'
    return f"{before}{title_end}\n{facts}\n{ways_to_run(notebook, source, typing)}{rest.lstrip()[lead.end() :]}"


def ways_to_run(notebook: str, source: str, typing: str) -> str:
    """The command that opens the section, with its button to copy, and the notebook."""
    told = f'<a href="{html.escape(typing)}">How commands are typed</a>\n' if typing else ""
    return (
        '<div class="run" role="group" aria-label="Run this section">\n'
        "<p>To work in it as a notebook, type in the folder of your clone:</p>\n"
        f'<div class="highlight"><pre><code>.venv/bin/workbook lab {html.escape(source)}</code></pre></div>\n'
        f'<a class="download" href="{html.escape(notebook)}" download>Download the notebook</a>\n'
        f"{told}"
        "</div>\n"
    )
