"""Does each kind of cell and output come out as it should, whatever it contains?"""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from typing import Any

import markdown
import pytest

from workbook.book.render import FOLD_AFTER, render

EXTENSIONS = ["attr_list", "def_list", "md_in_html", "tables", "pymdownx.superfences", "pymdownx.highlight"]


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    metadata = {"tags": list(tags)} if tags else {}
    known = {"id": "f00", "execution_count": 1}
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": list(outputs), **known}


def text(source: str, *tags: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {"tags": list(tags)} if tags else {}}


def stream(said: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": said}


def display(data: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def error(kind: str, message: str, *traceback: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": kind, "evalue": message, "traceback": list(traceback)}


def markdown_of(*cells: dict[str, Any]) -> str:
    return render({"cells": cells}, name="page", figures="../figures").markdown


def html_of(*cells: dict[str, Any]) -> str:
    return markdown.Markdown(extensions=EXTENSIONS).convert(markdown_of(*cells))


def plain(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def test_text_passes_unchanged() -> None:
    assert markdown_of(text("# Title\n\n> [!NOTE]\n> Words.")) == "# Title\n\n> [!NOTE]\n> Words.\n"


def test_a_cell_is_one_box_with_input_above_output() -> None:
    html = html_of(code("x = 1\nx", stream("1\n")))
    assert re.search(
        r'<div class="cell" data-cell="f00" data-count="1" data-recorded="[0-9a-f]{12}">\s*'
        r'<div class="cell-input highlight">.*</div>\s*'
        r'<div class="cell-outputs">\s*<div class="cell-text cell-stdout flowing no-copy highlight">',
        html,
        re.DOTALL,
    )


@pytest.mark.parametrize(
    "nasty",
    [
        "</div>",
        "<script>alert(1)</script>",
        "```\nfence\n```",
        "a\n\n\nb",
        "    indented",
        "# not a title",
        "& < > &amp;",
        "$x$ and *x*",
        "</code></pre>",
        '::: {.x}\n"""',
    ],
)
def test_nothing_in_code_or_output_breaks_the_page(nasty: str) -> None:
    html = html_of(text("Before."), code(nasty, stream(nasty)), text("After."))
    shown = re.findall(r"<code>(.*?)</code>", html, re.DOTALL)
    escaped = [plain(s).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip("\n") for s in shown]
    assert escaped == [nasty, nasty]
    assert "<p>Before.</p>" in html
    assert "<p>After.</p>" in html
    assert "<script" not in html


def test_colour_codes_are_taken_out() -> None:
    assert "\x1b" not in markdown_of(code("x", stream("\x1b[31mred\x1b[0m")))


def test_a_long_output_is_cut_and_its_rest_folded() -> None:
    whole = "\n".join(f"line {n}" for n in range(FOLD_AFTER + 6))
    html = html_of(code("x", stream(whole)))
    assert "<summary>20 more lines</summary>" in html
    assert html.index("line 9") < html.index("<details") < html.index("line 10")
    assert "<details" not in html_of(code("x", stream("\n".join(whole.split("\n")[:FOLD_AFTER]))))


def test_stderr_is_marked() -> None:
    assert "cell-stderr" in html_of(code("x", stream("careful", "stderr")))


def test_a_failure_shows_its_message_and_folds_the_traceback() -> None:
    html = html_of(code("f()", error("ShapeError", "a < b\n  *c*", "Traceback", "  f.py in f"), tags=("failure",)))
    assert '<div class="cell failure" data-cell=' in html
    assert "<strong>ShapeError</strong><span>a &lt; b<br>  *c*</span>" in html
    assert re.search(r"<details[^>]*>\s*<summary>Traceback</summary>.*f\.py in f", html, re.DOTALL)


def test_a_prediction_folds_the_output_with_the_answer_below() -> None:
    html = html_of(code("t.shape", display({"text/plain": "(2, 3)"}), tags=("predict",)), text("Because.", "answer"))
    assert html.count("<summary>Then look</summary>") == 1
    assert html.index("shape") < html.index("<details") < html.index("(2, 3)") < html.index("Because.")
    assert html.index("Because.") < html.index("</details>")


@pytest.mark.parametrize(("tag", "summary"), [("answer", "Then look"), ("solution", "One solution")])
def test_answers_and_solutions_are_folded(tag: str, summary: str) -> None:
    for cell in (text("*The answer.*", tag), code("answer()", stream("42"), tags=(tag,))):
        html = html_of(cell)
        assert html.startswith(f'<details class="{tag}">\n<summary>{summary}</summary>')
        assert html.endswith("</details>")


def test_inputs_outputs_and_cells_can_be_hidden() -> None:
    cell = ("source", stream("output"))
    assert markdown_of(code(*cell, tags=("remove-cell",))).strip() == ""
    assert "source" not in markdown_of(code(*cell, tags=("remove-input",)))
    assert re.search(
        r"<summary>The code</summary>.*source.*</details>.*output",
        html_of(code(*cell, tags=("hide-input",))),
        re.DOTALL,
    )
    assert re.search(
        r"source.*<summary>The output</summary>.*output", html_of(code(*cell, tags=("hide-output",))), re.DOTALL
    )


def test_a_cell_with_nothing_to_show_leaves_no_empty_box() -> None:
    assert markdown_of(code("f(1)", tags=("remove-input",))).strip() == ""
    assert markdown_of(code("x = 1", tags=("remove-input",))).startswith('<div class="cell" hidden')


def test_an_svg_becomes_a_file_with_its_title_as_alternative_text() -> None:
    svg = "<svg><title>A_b [c]</title><desc>Three cells.</desc></svg>"
    page = render(
        {"cells": [code("x", display({"image/svg+xml": svg, "text/plain": "<SVG>"}))]}, name="02-views", figures="../f"
    )
    [(name, content)] = page.files.items()
    assert re.fullmatch(r"02-views-[0-9a-f]{12}\.svg", name)
    assert content == svg.encode()
    html = markdown.Markdown(extensions=EXTENSIONS).convert(page.markdown)
    assert f'<img alt="A_b [c]. Three cells" class="cell-figure" src="../f/{name}" />' in html


def test_a_png_takes_its_alternative_text_from_the_metadata_or_the_object() -> None:
    data = {"image/png": base64.b64encode(b"png").decode(), "text/plain": "<Figure size 640x480>"}
    assert 'alt="A loss curve"' in html_of(code("x", display(data, alt="A loss curve")))
    assert 'alt="figure"' in html_of(code("x", display(data)))
    assert 'alt="Curve(3)"' in html_of(code("x", display(data | {"text/plain": "Curve(3)"})))


def test_html_is_left_alone_even_with_blank_lines() -> None:
    table = "<table>\n\n<tr><td>*a*</td></tr>\n</table>\n<pre>a\n\nb</pre>"
    html = html_of(code("x", display({"text/html": table, "text/plain": "t"})), text("After."))
    assert "<td>*a*</td>" in html
    assert "<pre>a&#10;\nb</pre>" in html
    assert "<p>After.</p>" in html


def test_markdown_and_its_role_are_kept() -> None:
    data = {"text/markdown": "*core/keys.py, line 3*\n\n```python\nx = 1\n```", "text/plain": "x"}
    html = html_of(code("x", display(data, **{"text/markdown": {"role": "quote torch"}})))
    assert '<div class="cell-markdown quote torch">\n<p><em>core/keys.py, line 3</em></p>' in html
    assert '<div class="cell-markdown">' in html_of(code("x", display(data)))


def test_a_fold_of_what_pytorch_printed_says_so() -> None:
    def torch(caption: str) -> dict[str, Any]:
        data = {"text/markdown": "*c*\n\n```text\n1\n```", "text/plain": f"{caption}\n\n1"}
        return display(data, **{"text/markdown": {"role": "quote torch"}})

    def title(*outputs: dict[str, Any]) -> str:
        return re.findall(r"<summary>(.*?)</summary>", markdown_of(code("x", *outputs, tags=("hide-output",))))[0]

    assert title(torch("PyTorch 2.13: Hooks, in order")) == "PyTorch&#x27;s output: Hooks, in order"
    assert title(torch("PyTorch 2.13")) == "PyTorch&#x27;s output"
    assert title(torch("PyTorch 2.13: One"), torch("PyTorch 2.13: Two")) == "PyTorch&#x27;s output"
    assert title(torch("PyTorch 2.13"), stream("1")) == "The output"


def test_the_code_of_a_record_hangs_and_its_output_looks_like_any_output() -> None:
    data = {"text/markdown": "*c*\n\n```python\nx = 1\n```\n\n```text\n1\n```", "text/plain": "x"}
    html = html_of(code("x", display(data, **{"text/markdown": {"role": "quote torch"}})))
    assert re.search(
        r'<div class="hanging highlight">.*<div class="cell-text flowing no-copy highlight">', html, re.DOTALL
    )


def test_the_code_of_the_library_is_broken_where_it_is_wide() -> None:
    data = {"text/markdown": "*c*\n\n```python\nx = 1\n```", "text/plain": "x"}
    html = html_of(code("x", display(data, **{"text/markdown": {"role": "quote"}})))
    assert '<div class="breaking highlight">' in html


def test_text_stored_as_lines_is_joined() -> None:
    assert "ab" in markdown_of(code("x", display({"text/plain": ["a", "b"]})))


def test_a_question_is_shown_with_its_choices() -> None:
    told = {
        "question": "Which *one* of `a_b`?",
        "kind": "choice",
        "choices": ["(1, 2)", "only `x`, not <b>", "`C`"],
        "answer": "k",
    }
    asked = code("1", stream("output\n"), tags=("predict",))
    asked["metadata"]["prediction"] = told | {"value": "'C'"}
    html = html_of(text("Before"), asked, text("Because.", "answer"))
    assert "<li><code>(1, 2)</code></li>\n<li>only <code>x</code>, not &lt;b&gt;</li>\n<li><code>C</code></li>" in html
    assert html.index('class="prediction"') < html.index('<details class="answer">') < html.index("output")
    facts = json.loads(unescape(re.search(r'data-prediction="([^"]+)"', html)[1]))
    assert (facts["expected"], facts["kind"], facts["literal"]) == (["`C`"], "choice", False)


def test_the_cell_that_asks_in_jupyter_is_not_on_the_page() -> None:
    assert markdown_of(code("workbook.predict('x')", tags=("ask",))) == "\n"
