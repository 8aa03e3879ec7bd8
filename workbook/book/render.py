"""What does an executed notebook look like as Markdown for the site?

A pure function: notebook in, Markdown and the files that it refers to out. It knows the Markdown extensions
that the site turns on (fences with classes, `md_in_html`), but nothing of the program that builds the site.

A code cell becomes one box with its input above its outputs. Tags change that:

    predict         the output is folded under "Then look", with the text of an `answer` cell that follows; the cell's
                    question stands above, and assets/predictions.js makes a form of it
    ask             the cell asks the question in Jupyter, and is not shown
    answer          the cell is folded under "Then look"
    solution        the cell is folded under "One solution"
    failure         the cell is meant to raise: its message stands in a red box, the traceback folded below; the option
                    `raises` names the class of the error, and the build fails where another one comes
    live            nothing: the output was drawn anew while the cell ran, and its last drawing is shown
    hide-input      the input is folded          remove-input    the input is not shown
    hide-output     the output is folded         remove-cell     the cell is not shown
    long: REASON    nothing: it says why the cell has more than 30 lines

A fold of what PyTorch printed is titled so, with the record's title where there is one.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbook.book import recorded
from workbook.predictions.question import NUMBER, Question, value_of
from workbook.predictions.questions import ANSWER, ASK, PREDICT, built

FOLD_AFTER = 24  # lines of output shown unfolded
KEPT_IN_SIGHT = 10  # lines of a folded output that stay visible above the fold

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
CODE = re.compile(r"(`[^`]+`)")
IMAGES = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"}
BLANK_LINES = re.compile(r"\n[ \t]*(?=\n)")
FENCE = re.compile(r"^```(\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
TITLED = re.compile(r"PyTorch \d[\d.]*: (.+)")  # the caption of a recorded behaviour
WHOLE = {"quote torch", "quote withheld"}  # code that is read whole, without scrolling
QUOTED = "quote"  # of the library

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page:

    its Markdown, and the files that it refers to by name, below the `figures` folder given to `render`.
    """

    markdown: str
    files: dict[str, bytes] = field(default_factory=dict)


def render(notebook: Json, *, name: str, figures: str) -> Rendered:
    """The page of an executed notebook.

    `name` begins the names of its figures; `figures` is the way from the page to the folder in which they
    will stand.
    """
    files: dict[str, bytes] = {}
    parts = []
    cells = list(notebook["cells"])
    while cells:
        cell = cells.pop(0)
        answer = cells.pop(0) if is_question(cell) and cells and is_answer(cells[0]) else None
        parts.append(cell_markdown(cell, name, figures, files, answer))
    return Rendered("\n\n".join(part for part in parts if part) + "\n", files)


def is_question(cell: Json) -> bool:
    """Whether the cell asks for a guess before its output is looked at."""
    return cell["cell_type"] == "code" and PREDICT in cell["metadata"].get("tags", ())


def is_answer(cell: Json) -> bool:
    """Whether the cell is the text that answers a question."""
    return cell["cell_type"] == "markdown" and ANSWER in cell["metadata"].get("tags", ())


def cell_markdown(cell: Json, name: str, figures: str, files: dict[str, bytes], answer: Json | None) -> str:
    """One cell, with the text that answers its question. Its images are added to `files`."""
    tags = frozenset(cell["metadata"].get("tags", ()))
    if tags & {"remove-cell", ASK}:
        return ""
    body = cell["source"] if cell["cell_type"] == "markdown" else code_cell(cell, tags, name, figures, files, answer)
    if "solution" in tags:
        return folded("One solution", body, "solution")
    if ANSWER in tags:
        return folded("Then look", body, "answer")
    return str(body)


def code_cell(
    cell: Json, tags: frozenset[str], name: str, figures: str, files: dict[str, bytes], answer: Json | None
) -> str:
    """A code cell: one box, input above outputs."""
    parts = []
    if "remove-input" not in tags:
        source = fence(cell["source"], ".python .cell-input")
        parts.append(folded("The code", source, "cell-fold") if "hide-input" in tags else source)
    if (question := built(cell)) is not None:
        parts.append(prediction(question))
    outputs = [output_markdown(output, name, figures, files) for output in cell["outputs"]]
    if answer is not None:
        outputs.append(box("cell-markdown", answer["source"]))
    if outputs:
        shown = box("cell-outputs", "\n\n".join(outputs))
        if PREDICT in tags:
            shown = folded("Then look", shown, "answer")
        elif "hide-output" in tags:
            shown = folded(fold_title(cell["outputs"]), shown, "cell-fold")
        parts.append(shown)
    known = "" if "remove-input" in tags else recorded.attributes(cell)
    shown = box("cell failure" if "failure" in tags else "cell", "\n\n".join(parts), known) if parts else ""
    return "\n\n".join(filter(None, (shown, recorded.hidden(cell) if "remove-input" in tags else "")))


def fold_title(outputs: Sequence[Json]) -> str:
    """What is said of outputs before they are opened."""
    captions = [
        str(output.get("data", {}).get("text/plain", "")) for output in outputs if role_of(output) == "quote torch"
    ]
    if len(captions) != len(outputs):
        return "The output"
    titled = TITLED.match(captions[0]) if len(captions) == 1 else None
    return f"PyTorch's output: {titled[1]}" if titled else "PyTorch's output"


def role_of(output: Json) -> str:
    """How an output in Markdown is dressed; empty where nothing is said of it."""
    return str(output.get("metadata", {}).get("text/markdown", {}).get("role", ""))


def prediction(question: Question) -> str:
    """A question with its choices, and in attributes what the page's program needs to mark an answer."""
    told = html.escape(json.dumps(prediction_facts(question), ensure_ascii=False))
    choices = "\n".join(f"- {choice_markdown(choice)}" for choice in question.choices)
    body = "\n\n".join(filter(None, (question.question, choices)))
    return f'<div class="prediction" data-prediction="{told}" markdown="1">\n\n{body}\n\n</div>'


def prediction_facts(question: Question) -> dict[str, Any]:
    """What the page's program has to know of a question: `literal` says that its answer is no text."""
    facts: dict[str, Any] = {"kind": question.kind, "key": question.key, "choices": list(question.choices)}
    if question.kind != "open":
        facts |= {"expected": list(question.expected), "tolerance": question.tolerance}
        facts["literal"] = not isinstance(question.value, str)
    return facts


def choice_markdown(choice: str) -> str:
    """A choice as Markdown: a literal other than text is code, and so are a number like 2,048 and what stands in
    backquotes."""
    if isinstance(value_of(choice), str) and not NUMBER.fullmatch(choice):
        pieces = CODE.split(choice)
        return "".join(piece if number % 2 else plain_markdown(piece) for number, piece in enumerate(pieces))
    return f"`{choice.replace('`', '')}`"


def plain_markdown(text: str) -> str:
    """Text in which nothing is markup."""
    return html.escape(re.sub(r"([\\\[\]`*_])", r"\\\1", text), quote=False)


def output_markdown(output: Json, name: str, figures: str, files: dict[str, bytes]) -> str:
    """One output of a cell."""
    kind = output["output_type"]
    if kind == "stream":
        return text_output(output["text"], "stderr" if output["name"] == "stderr" else "stdout")
    if kind == "error":
        return error_output(output["ename"], output["evalue"], output["traceback"])
    data: Json = output["data"]
    for mime, extension in IMAGES.items():
        if mime in data:
            content = text_of(data[mime]).encode() if extension == "svg" else base64.b64decode(data[mime])
            file_name = f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.{extension}"
            files[file_name] = content
            return f"![{markdown_escape(alternative_text(output, mime))}]({figures}/{file_name}){{.cell-figure}}"
    if "text/markdown" in data:
        role = role_of(output)
        return box(f"cell-markdown {role}".rstrip(), dressed(text_of(data["text/markdown"]), role))
    if "text/html" in data:
        return raw_html(text_of(data["text/html"]))
    if "text/latex" in data:
        return box("cell-markdown", text_of(data["text/latex"]))
    return text_output(text_of(data.get("text/plain", "")), "result")


def dressed(markdown: str, role: str) -> str:
    """A quotation's blocks with their classes: what was printed looks like any output, and code that is to be read
    whole is broken with a hanging indent, as are the wide lines of the library (finish.py)."""
    if role not in (*WHOLE, QUOTED):
        return markdown
    code = "hanging" if role in WHOLE else "breaking"

    def block(match: re.Match[str]) -> str:
        language, text = match.groups()
        return fence(text, ".text .cell-text .flowing .no-copy" if language == "text" else f".{language} .{code}")

    return FENCE.sub(block, markdown)


def text_output(text: str, role: str) -> str:
    """Text as it was printed; long text is cut, and the rest is folded."""
    lines = ANSI.sub("", text).rstrip().splitlines()
    classes = f".text .cell-text .cell-{role} .flowing .no-copy"  # finish.py lets its sentences flow
    if len(lines) <= FOLD_AFTER:
        return fence("\n".join(lines), classes)
    rest = lines[KEPT_IN_SIGHT:]
    head = fence("\n".join(lines[:KEPT_IN_SIGHT]), f"{classes} .continued")
    tail = fence("\n".join(rest), classes)
    return f"{head}\n\n{folded(f'{len(rest)} more lines', tail, 'cell-fold')}"


def error_output(kind: str, message: str, traceback: Sequence[str]) -> str:
    """The exception's message in a box, with its traceback folded."""
    said = html.escape(ANSI.sub("", message)).replace("\n", "<br>")
    head = f'<p class="error-message"><strong>{html.escape(kind)}</strong><span>{said}</span></p>'
    frames = [line for line in ANSI.sub("", "\n".join(traceback)).splitlines() if line.strip()]
    trace = folded("Traceback", fence("\n".join(frames), ".text .cell-text .no-copy"), "cell-fold")
    return box("cell-error", f"{head}\n\n{trace}" if frames else head)


def alternative_text(output: Json, mime: str) -> str:
    """What a reader who cannot see the image is told: its own title and description, or the object's text."""
    if given := output["metadata"].get(mime, {}).get("alt") or output["metadata"].get("alt"):
        return str(given)
    if mime == "image/svg+xml":
        text = text_of(output["data"][mime])
        said = [re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", text, re.DOTALL) for tag in ("title", "desc")]
        if any(said):
            return html.unescape(". ".join(match[1].strip().rstrip(".") for match in said if match))
    text = ANSI.sub("", text_of(output["data"].get("text/plain", "")))
    return "figure" if not text or text.startswith("<") else text


# --- pieces of Markdown -------------------------------------------------------------------------------------


def text_of(value: str | Sequence[str]) -> str:
    """Notebook text, which may be stored as a list of lines."""
    return value if isinstance(value, str) else "".join(value)


def fence(text: str, attributes: str) -> str:
    """A fenced block whose fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"^\s*(`{3,})", text, re.MULTILINE)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks} {{{attributes}}}\n{text.rstrip()}\n{ticks}"


def box(classes: str, body: str, attributes: str = "") -> str:
    """Markdown inside a division."""
    return f'<div class="{classes}"{attributes} markdown="1">\n\n{body}\n\n</div>'


def folded(summary: str, body: str, classes: str) -> str:
    """Markdown that is shown when its summary is clicked."""
    head = f'<details class="{classes}" markdown="1">\n<summary>{html.escape(summary)}</summary>'
    return f"{head}\n\n{body}\n\n</details>"


def raw_html(text: str) -> str:
    """HTML that Markdown does not change.

    Blank lines would end it, so those inside `<pre>` become character references.
    """
    kept = re.sub(r"<pre.*?</pre>", lambda pre: BLANK_LINES.sub("&#10;", pre[0]), text.strip(), flags=re.DOTALL)
    return f'<div class="cell-html" markdown="0">\n{BLANK_LINES.sub("", kept)}\n</div>'


def markdown_escape(text: str) -> str:
    """Text in one line that may be placed between square brackets."""
    return re.sub(r"([\\\[\]`*_<>])", r"\\\1", " ".join(text.split()))
