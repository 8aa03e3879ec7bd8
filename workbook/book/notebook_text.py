"""Which files are notebooks in text form, and which notebook does such a text describe?

A section is a MyST Markdown file (`tour.md`). Its notebook is the same on every machine: cell ids come from the
cells' content, there are no timestamps, and the metadata is fixed.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import jupytext
import nbformat
import yaml
from jupytext.myst import MystMetadataParsingError
from nbformat import NotebookNode

from workbook.book.errors import BookError, last_line
from workbook.book.project import CHAPTERS, LABS, shown
from workbook.book.question_cells import asking, declared, question_in
from workbook.predictions.questions import ANSWER, ASK, PREDICT

# What is used of nbformat, whose functions carry no types.
new_notebook: Callable[..., NotebookNode] = nbformat.v4.new_notebook
new_cell: dict[str, Callable[..., NotebookNode]] = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
}
notebook_to_json: Callable[..., str] = nbformat.writes

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

# What a tag does on the site stands in render.py; here is what it does in Jupyter. A tag that begins with "long: " does
# nothing, and says why a cell has more than 30 lines.
TAGS = frozenset(
    {ANSWER, "solution", PREDICT, "failure", "live", "hide-input", "hide-output", "remove-input", "remove-cell"}
)  # of a text; the builder adds ASK
LONG = "long: "
# What nbval is told: it takes an output that was drawn anew (figures/growing.py) for the first of its drawings.
FOR_NBVAL = {"failure": "raises-exception", "live": "nbval-ignore-output"}
SOURCE_HIDDEN = frozenset({ANSWER, "solution", "hide-input", "remove-input"})
OUTPUTS_HIDDEN = frozenset({PREDICT, "hide-output"})
RAISES = "raises"  # the option of a `failure` that names the class of its error

CODE_CELL = re.compile(r"^\s*(`{3,}|~{3,})\s*\{code-cell\}")


def is_notebook_source(path: Path) -> bool:
    """Whether the file's front matter says that it is a notebook in text form."""
    if path.suffix != ".md":
        return False
    with path.open(encoding="utf-8") as stream:
        if stream.readline().rstrip() != "---":
            return False
        for line in stream:
            if line.rstrip() == "---":
                return False
            if line.startswith("jupytext:"):
                return True
    return False


def notebook_sources(root: Path, paths: Sequence[Path] = ()) -> list[Path]:
    """The text notebooks among these files and folders, or of the whole project; a notebook stands for its
    text."""
    given = list(paths) or [folder for folder in (root / CHAPTERS, root / LABS) if folder.is_dir()]
    found: list[Path] = []
    for path in given:
        path = path.resolve()
        if path.is_dir():
            found += [
                p for p in sorted(path.rglob("*.md")) if ".ipynb_checkpoints" not in p.parts and is_notebook_source(p)
            ]
            continue
        path = path.with_suffix(".md")
        if not path.is_file():
            raise BookError(
                f"{shown(path)}: no such file\n  give the text of a section (.md), its notebook, or a folder of them"
            )
        if not is_notebook_source(path):
            raise BookError(
                f"{shown(path)}: not a notebook: its front matter has no `jupytext:` entry\n"
                "  plain pages need no notebook"
            )
        found.append(path)
    return list(dict.fromkeys(found))


def read_text(source: Path) -> NotebookNode:
    """The notebook that the text describes: cells with ids and metadata, but no outputs."""
    try:
        parsed = jupytext.reads(source.read_text(encoding="utf-8"), fmt="md:myst")
    except (MystMetadataParsingError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise BookError(
            f"{shown(source)}: cannot be read as a MyST notebook\n  {last_line(str(error))}\n"
            "  fix the front matter or the options (`:tags: [...]`) of the cell that it names"
        ) from error
    notebook = new_notebook(metadata=copy.deepcopy(METADATA))
    seen: Counter[str] = Counter()
    for number, cell in enumerate(parsed.cells, start=1):
        tags = list(cell.metadata.get("tags", []))
        if unknown := sorted(tag for tag in tags if tag not in TAGS and not tag.startswith(LONG)):
            raise BookError(
                f"{shown(source)}: cell {number} has the tag {unknown[0]!r}\n  known tags: {', '.join(sorted(TAGS))}"
            )
        if cell.cell_type == "code" and any(CODE_CELL.match(line) for line in cell.source.splitlines()):
            raise BookError(
                f"{shown(source)}: cell {number} holds another {{code-cell}} line\n"
                "  close the fence of the cell above it with ```"
            )
        metadata = cell_metadata(tags)
        if (kind := cell.metadata.pop(RAISES, None)) is not None:
            if "failure" not in tags:
                raise BookError(
                    f"{shown(source)}: cell {number} has the option {RAISES!r}\n  accepted: with the tag failure"
                )
            metadata[RAISES] = str(kind)
        if (question := question_in(cell, tags, source, number)) is not None:
            metadata["prediction"] = declared(question)
            add(notebook, seen, "code", asking(question), cell_metadata([ASK, "nbval-ignore-output"]))
        add(notebook, seen, cell.cell_type, cell.source, metadata)
    return notebook


def add(notebook: NotebookNode, seen: Counter[str], kind: str, source: str, metadata: dict[str, object]) -> None:
    """Append a cell whose id comes from its content."""
    digest = hashlib.sha256(f"{kind}\n{source}".encode()).hexdigest()[:10]
    seen[digest] += 1
    identity = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    notebook.cells.append(new_cell[kind](source, id=identity, metadata=metadata))


def cell_metadata(tags: Sequence[str]) -> dict[str, object]:
    """A cell's metadata from its tags: what Jupyter folds, and what nbclient and nbval expect of it."""
    metadata: dict[str, object] = {}
    if tags:
        metadata["tags"] = [*tags, *(told for tag, told in FOR_NBVAL.items() if tag in tags)]
    folded = {}
    if SOURCE_HIDDEN & set(tags):
        folded["source_hidden"] = True
    if OUTPUTS_HIDDEN & set(tags):
        folded["outputs_hidden"] = True
    if folded:
        metadata["jupyter"] = folded
    return metadata


def as_text(notebook: NotebookNode) -> str:
    """The text of a notebook's file; all notebooks are written in this form."""
    nbformat.validate(notebook)
    return notebook_to_json(notebook, version=4).rstrip("\n") + "\n"
