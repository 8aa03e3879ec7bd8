"""Where do the source documents differ from PyTorch 2.13?

`tests/truth/errata.yaml` holds one entry a claim. This is the page made from it: what the document says, what
PyTorch does, and how we know, with the recorded program that shows it. An entry's id is its anchor:
`errata.md#E003`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from workbook.book.behaviours import Behaviour, recorded
from workbook.book.errors import BookError, last_line
from workbook.book.project import TRUTH
from workbook.book.prose import with_code
from workbook.book.render import box, fence, folded, text_output

DOCUMENTS = {
    "000": "What happens in torch.add",
    "001": "Autograd, dispatcher and ATen, for mastery",
    "002": "A panorama of the source",
    "003": "Notes on the framework's architecture",
    "004": "A guide to autograd's source",
}
STATUSES = {
    "wrong": "PyTorch does something else",
    "outdated": "it used to be true",
    "oversimplified": "true in a sense, but misleading when you build it",
    "incomplete": "an example that does not run, or a part that is missing",
    "unverified": "could not be settled",
}


REFERENCE = re.compile(r"(?<![\[#])\bE\d{3}\b")


class Erratum(NamedTuple):
    """One claim of a document, and what PyTorch actually does."""

    id: str
    document: str
    status: str
    says: str
    does: str
    proof: str = ""
    behaviours: tuple[str, ...] = ()


def errata(root: Path) -> list[Erratum]:
    """The entries in order."""
    path = root / TRUTH / "errata.yaml"
    try:
        entries = [Erratum(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    except (yaml.YAMLError, TypeError) as error:
        raise BookError(f"{path.name}: {last_line(str(error))}\n  an entry has {', '.join(Erratum._fields)}") from error
    for entry in entries:
        if entry.status not in STATUSES or entry.document not in DOCUMENTS:
            raise BookError(
                f"{path.name}: {entry.id} has the status {entry.status!r} and the document {entry.document!r}\n"
                f"  statuses: {', '.join(STATUSES)}; documents: {', '.join(DOCUMENTS)}"
            )
    return entries


def errata_page(root: Path) -> str:
    """The Markdown of the page, without its introduction."""
    entries, behaviours = errata(root), recorded(root)
    counts = Counter(entry.status for entry in entries)
    lines = ["| status | entries | meaning |", "|---|---:|---|"]
    lines += [f"| {mark(status)} | {counts[status]} | {meaning} |" for status, meaning in STATUSES.items()]
    parts = ["\n".join(lines)]
    for document, title in DOCUMENTS.items():
        parts.append(f"## Document {document}: {title} {{ #document-{document} }}")
        parts += [erratum_markdown(entry, behaviours) for entry in entries if entry.document == document]
    return "\n\n".join(parts)


def mark(status: str) -> str:
    """The status as a small label."""
    return f'<span class="mark mark-{status}">{status}</span>'


def erratum_markdown(entry: Erratum, behaviours: Mapping[str, Behaviour]) -> str:
    """One entry: the claim, what PyTorch does, and how we know, folded."""
    head = f'<p class="erratum-head"><a href="#{entry.id}">{entry.id}</a> {mark(entry.status)}</p>'
    known = [with_code(entry.proof)] if entry.proof else []
    known += [behaviour_markdown(behaviours[identity]) for identity in entry.behaviours]
    does = REFERENCE.sub(r"[\g<0>](#\g<0>)", with_code(entry.does))
    proof = "\n\n" + folded("How we know", "\n\n".join(known), "proof") if known else ""
    says = f"{head}\n\n{with_code(entry.says)}.\n{{ .claim }}"
    return (
        f'<div class="erratum" id="{entry.id}" markdown="1">\n\n'
        f"{box('erratum-says', says)}\n\n{box('erratum-does', does + proof)}\n\n</div>"
    )


def behaviour_markdown(behaviour: Behaviour) -> str:
    """A recorded program with its output, as one box."""
    title = html.escape(f"{behaviour.title} (torch 2.13)", quote=True)
    code = fence(behaviour.code, f'.python .cell-input .hanging title="{title}"')
    output = box("cell-outputs", text_output(behaviour.output, "result"))
    return box("cell torch", f"{code}\n\n{output}")
