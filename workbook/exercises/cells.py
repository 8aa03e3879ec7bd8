"""What is the reader told when a cell of a lab sheet gives an output other than the accepted one?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.exercises.answer_file import LIBRARY
from workbook.exercises.report import BROKEN, NOT_STARTED, REFUSED, Refusal
from workbook.exercises.value_text import cut

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LOADING = re.compile(rf"\s*File \S*[/\\]{LIBRARY}[/\\]\S+\.py:\d+\s*")  # IPython's frame of a module that is loaded
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def cell_refusal(item: Any, error: BaseException, answer: Path) -> tuple[str, Refusal]:
    """The outcome of a cell and its message: what it asks, what it returned, and what was accepted."""
    source = str(item.cell.source).strip()
    outputs = list(item.test_outputs or ())
    asked = asked_before(item.parent.nb.cells, item.cell)
    came = cut(text_of(outputs) or "no output")
    accepted = cut(text_of(item.cell.outputs) or "no output")
    raised = next((output for output in outputs if output.output_type == "error"), None)
    wanted = any(output.output_type == "error" for output in item.cell.outputs)
    if raised is not None and not wanted:
        traceback = "\n".join(raised.traceback)
        if library_fails(traceback):
            return BROKEN, Refusal(came=f"{LIBRARY} cannot be imported: {one_text(raised)}")
        line, trace = frames(traceback)
        if raised.ename == "NotImplementedError" and line is not None:
            return NOT_STARTED, Refusal(asked, source, f"answer.py is not written yet (line {line})", line=line)
        return REFUSED, Refusal(asked, source, came, accepted, "", line, trace)
    if not outputs and type(error).__name__ != "NbCellError":
        died = "the kernel ended without a result"
        return REFUSED, Refusal(
            asked, source, died, accepted, "sys.exit, os._exit or a crash inside your answer ends it"
        )
    if came == accepted:
        return REFUSED, Refusal(asked, source, f"{came}, drawn otherwise", f"{accepted}, as it is drawn in lab.ipynb")
    noisy = is_noise(outputs, item.cell.outputs) and prints(answer)
    because = "your answer prints; the lab sheet compares all output" if noisy else ""
    return REFUSED, Refusal(asked, source, came, accepted, because)


def is_noise(outputs: Iterable[Any], accepted: Iterable[Any]) -> bool:
    """Whether outputs are the accepted ones with additional printed lines between them."""
    (came, values), (wanted, right) = printed_and_shown(outputs), printed_and_shown(accepted)
    rest = iter(came)
    return values == right and len(came) > len(wanted) and all(line in rest for line in wanted)


def printed_and_shown(outputs: Iterable[Any]) -> tuple[list[str], list[str]]:
    """The lines that a cell printed, and its other outputs as text."""
    every = list(outputs)
    printed = "".join(str(output.text) for output in every if output.output_type == "stream")
    return printed.splitlines(), [one_text(output) for output in every if output.output_type != "stream"]


def prints(answer: Path) -> bool:
    """Whether answer.py calls print, or names the stream to which it prints."""
    with suppress(OSError, SyntaxError, ValueError):
        nodes = list(ast.walk(ast.parse(answer.read_bytes())))
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        return "print" in called or any(isinstance(node, ast.Attribute) and node.attr == "stdout" for node in nodes)
    return False


def asked_before(cells: Iterable[Any], cell: Any) -> str:
    """The last heading above a cell."""
    heading = ""
    for one in cells:
        if one is cell:
            break
        if one.cell_type == "markdown":
            heading = (HEADING.findall(one.source) or [heading])[-1]
    return f"the cell below {heading!r} in lab.ipynb" if heading else "a cell of lab.ipynb"


def text_of(outputs: Iterable[Any]) -> str:
    """The outputs of a cell as text."""
    return "\n".join(filter(None, (one_text(output) for output in outputs)))


def one_text(output: Any) -> str:
    """One output as text."""
    if output.output_type == "stream":
        return str(output.text).rstrip()
    if output.output_type == "error":
        return (
            f"it called sys.exit({output.evalue})"
            if output.ename == "SystemExit"
            else f"{output.ename}: {output.evalue}"
        )
    data = output.get("data", {})
    if "text/plain" in data:
        return str(data["text/plain"])
    return f"[{', '.join(data)}]" if data else ""


def library_fails(traceback: str) -> bool:
    """Whether IPython's traceback ends in the loading of a file of the library, not in answer.py."""
    loading = False
    for row in COLOURS.sub("", traceback).splitlines():
        if re.match(r"\s*File \S*answer\.py\b", row):
            loading = False
        elif LOADING.fullmatch(row):
            loading = True
    return loading


def frames(traceback: str) -> tuple[int | None, tuple[str, ...]]:
    """The innermost line of answer.py in IPython's traceback, and its text."""
    line, text = None, ""
    inside = False
    for row in COLOURS.sub("", traceback).splitlines():
        if re.match(r"(File|Cell) ", row):
            found = re.match(r"File \S*answer\.py(?::(\d+))?", row)
            inside = found is not None
            if found is not None and found[1]:
                line, text = int(found[1]), ""
        arrow = re.match(r"-+> +(\d+) ?(.*)", row)
        if inside and arrow is not None:
            line, text = int(arrow[1]), arrow[2].strip()
    return line, (f"line {line}: {text}",) if line is not None and text else ()
