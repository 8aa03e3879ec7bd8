"""What does a page have to know of a cell to run it, and to say whether the recorded output came out again?

`chapters/assets/live/runner.js` reads it: the id of a cell, its number in the notebook (which tracebacks name) and a
fingerprint of its recorded outputs are attributes of its box. A cell whose code is not shown has a box as well if what
it does may matter further down.
"""

from __future__ import annotations

import ast
import hashlib
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# The kinds of output that a page shows, in the order in which one of them is chosen (MIMES in runner.js).
MIMES = ("image/svg+xml", "text/markdown", "text/html", "text/plain")

Json = Mapping[str, Any]


def attributes(cell: Json) -> str:
    """The attributes of a code cell's box."""
    facts = {"cell": cell["id"], "count": cell["execution_count"], "recorded": fingerprint(cell["outputs"])}
    return "".join(f' data-{name}="{fact}"' for name, fact in facts.items())


def hidden(cell: Json) -> str:
    """The box of a cell whose code is not shown: empty if it only displays something."""
    if only_displays(cell["source"]):
        return ""
    source = html.escape(cell["source"]).replace("\n", "&#10;")  # a blank line would end the tag, for Markdown
    return f'<div class="cell" hidden{attributes(cell)} data-source="{source}"></div>'


def only_displays(source: str) -> bool:
    """Whether a cell defines nothing that a later one could need.

    >>> only_displays("show('aten::add')"), only_displays("x = 1")
    (True, False)
    """
    return all(isinstance(statement, ast.Expr) for statement in ast.parse(source).body)


def fingerprint(outputs: Iterable[Json]) -> str:
    """Twelve digits that differ where outputs differ; empty where there are none. `Outputs` in runner.js computes them
    from what a run puts out.

    >>> fingerprint([])
    ''
    """
    whole = "".join(f"{kind}\n{text.rstrip(chr(10))}\0" for kind, text in joined(pieces(outputs)))
    return hashlib.sha256(whole.encode()).hexdigest()[:12] if whole else ""


def pieces(outputs: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """Kind and text of each output."""
    for output in outputs:
        if output["output_type"] == "stream":
            yield output["name"], text_of(output["text"])
        elif output["output_type"] == "error":
            yield "error", f"{output['ename']}: {output['evalue']}"
        elif (mime := next((mime for mime in MIMES if mime in output["data"]), None)) is not None:
            yield mime, text_of(output["data"][mime])


def joined(found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pieces, with all of a stream as one in its first place, as nbclient records it."""
    result: list[tuple[str, str]] = []
    for kind, text in found:
        place = next((n for n, (other, _) in enumerate(result) if kind == other and kind in ("stdout", "stderr")), None)
        if place is None:
            result.append((kind, text))
        else:
            result[place] = (kind, result[place][1] + text)
    return result


def text_of(value: str | Sequence[str]) -> str:
    """Notebook text, which may be stored as a list of lines."""
    return value if isinstance(value, str) else "".join(value)
