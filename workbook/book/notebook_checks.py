"""Is a committed notebook what its text says, executed from top to bottom, and as the builder writes it?"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from workbook.book.errors import BookError
from workbook.book.notebook_text import as_text, read_text
from workbook.book.project import shown
from workbook.book.question_cells import lacks_value, without_values

COMMAND = "python -m workbook.book.notebooks"  # that builds a notebook

# What is used of nbformat, whose functions carry no types.
notebook_from_json: Callable[..., NotebookNode] = nbformat.reads


def read_notebook(source: Path) -> NotebookNode:
    """The committed notebook for the text, or a BookError that says how to make one."""
    path = source.with_suffix(".ipynb")
    if not path.is_file():
        raise BookError(f"{shown(path)}: missing\n  run: {COMMAND} {shown(source)}")
    try:
        return notebook_from_json(path.read_text(encoding="utf-8"), as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, UnicodeDecodeError, KeyError) as error:
        raise BookError(
            f"{shown(path)}: not a notebook ({type(error).__name__})\n"
            f"  it is built, never edited; run: {COMMAND} {shown(source)}"
        ) from error


def check_in_step(source: Path) -> NotebookNode:
    """The committed notebook, once it is sure to say what the text says and to be executed from top to
    bottom."""
    expected, committed = read_text(source), read_notebook(source)
    unvalued = copy.deepcopy(committed)
    without_values(unvalued)
    path = shown(source.with_suffix(".ipynb"))
    remedy = f"run: {COMMAND} {shown(source)}"
    for number, (ours, theirs) in enumerate(zip(expected.cells, unvalued.cells, strict=False), start=1):
        if (ours.cell_type, ours.source, ours.metadata) != (theirs.cell_type, theirs.source, theirs.metadata):
            raise BookError(
                f"{path}: out of step with its text: cell {number} differs\n{first_difference(theirs, ours)}  {remedy}"
            )
    if len(expected.cells) != len(committed.cells):
        raise BookError(
            f"{path}: out of step with its text: {len(committed.cells)} cells, the text has "
            f"{len(expected.cells)}\n  {remedy}"
        )
    code = [cell for cell in committed.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        if cell.execution_count != number:
            raise BookError(
                f"{path}: code cell {number} was not executed in order (count {cell.execution_count})\n  {remedy}"
            )
        raised = any(output.output_type == "error" for output in cell.outputs)
        if raised != ("failure" in cell.metadata.get("tags", [])):
            raise BookError(
                f"{path}: code cell {number} {'raised' if raised else 'should have raised and did not'}\n  {remedy}"
            )
    for number, cell in enumerate(code, start=1):
        if lacks_value(cell.metadata.get("prediction")):
            raise BookError(f"{path}: code cell {number} has a question without the value of its answer\n  {remedy}")
    stripped = unvalued
    for cell in stripped.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    written = source.with_suffix(".ipynb").read_text(encoding="utf-8")
    if as_text(stripped) != as_text(expected) or as_text(committed) != written:
        raise BookError(f"{path}: not as the builder writes it (ids, metadata or formatting were edited)\n  {remedy}")
    return committed


def first_difference(old: NotebookNode, new: NotebookNode) -> str:
    """The first line of a cell that differs, in the notebook and in the text."""
    if old.source == new.source:
        was, now = (f"{cell.cell_type} {dict(cell.metadata)}" for cell in (old, new))
        return f"    notebook: {was}\n    text:     {now}\n"
    pairs = zip([*old.source.splitlines(), "(nothing)"], [*new.source.splitlines(), "(nothing)"], strict=False)
    was, now = next((was, now) for was, now in pairs if was != now)
    return f"    notebook: {was}\n    text:     {now}\n"


def check_rebuilt(source: Path, rebuilt: str) -> None:
    """Check that the committed notebook equals the rebuilt one, byte for byte."""
    path = source.with_suffix(".ipynb")
    committed = path.read_text(encoding="utf-8") if path.is_file() else ""
    if committed == rebuilt:
        return
    difference = difflib.unified_diff(
        committed.splitlines(), rebuilt.splitlines(), "committed", "rebuilt", lineterm="", n=2
    )
    shortened = [f"    {line[:160]}" for line in list(difference)[:24]]
    raise BookError(
        f"{shown(path)}: executing it again gives a different notebook\n"
        + "\n".join(shortened)
        + f"\n  if the new outputs are right, run: {COMMAND} {shown(source)}"
    )
