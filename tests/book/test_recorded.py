"""Does a page know of a cell what it needs to run it, and when the recorded output came out again?"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from workbook.book.recorded import attributes, fingerprint, hidden

ROOT = Path(__file__).parents[2]
STREAM: dict[str, Any] = {"output_type": "stream", "name": "stdout", "text": "a\nb\n"}
ERROR: dict[str, Any] = {"output_type": "error", "ename": "E", "evalue": "no", "traceback": ["at /x"]}
DRAWING: dict[str, Any] = {
    "output_type": "display_data", "metadata": {}, "data": {"text/plain": "<x>", "image/svg+xml": ["<svg>", "</svg>"]},
}  # fmt: skip


def cell(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"id": "f00", "execution_count": 7, "source": source, "outputs": list(outputs)}


def test_how_a_stream_was_cut_and_where_an_error_was_raised_makes_no_difference() -> None:
    cut = [{**STREAM, "text": "a\n"}, {**STREAM, "text": ["b", "\n"]}]
    assert fingerprint(cut) == fingerprint([STREAM]) == fingerprint([{**STREAM, "text": "a\nb"}])
    assert fingerprint([{**ERROR, "traceback": []}]) == fingerprint([ERROR])
    assert fingerprint([cut[0], DRAWING, cut[1]]) == fingerprint([STREAM, DRAWING])


def test_any_other_output_makes_one() -> None:
    every = [
        [], [STREAM], [{**STREAM, "name": "stderr"}], [{**STREAM, "text": "a\nc\n"}], [ERROR],
        [{**ERROR, "evalue": "yes"}], [DRAWING], [STREAM, DRAWING], [DRAWING, STREAM],
    ]  # fmt: skip
    assert len({fingerprint(outputs) for outputs in every}) == len(every)


def test_a_cell_that_is_not_shown_is_there_if_it_defines_something() -> None:
    assert hidden(cell("show(f)\nprint(1)")) == ""
    box = hidden(cell('x = "<a>"\n\ny = 1'))
    assert "\n" not in box
    assert attributes(cell("")) == ' data-cell="f00" data-count="7" data-recorded=""'
    assert 'data-source="x = &quot;&lt;a&gt;&quot;&#10;&#10;y = 1"' in box


@pytest.mark.ci
def test_the_page_computes_the_same_fingerprint(require: Any) -> None:
    node = require("node")
    runner = (ROOT / "chapters" / "assets" / "live" / "runner.js").read_text(encoding="utf-8")
    outputs = runner[runner.index("  const ANSI") : runner.index("  // --- a cell ---")]
    program = f"""
      const element = () => ({{ replaceChildren() {{}}, append() {{}} }});
      const LARGEST = 200_000;
      {outputs.replace("box.replaceChildren(drawing(content))", "null")}
      const all = new Outputs(element());
      all.take("stream", {{ name: "stdout", text: "a\\n" }});
      all.take("display_data", {{ data: {{ "text/plain": "<x>", "image/svg+xml": "<svg></svg>" }} }});
      all.take("stream", {{ name: "stdout", text: "b\\n" }});
      all.take("error", {{ ename: "E", evalue: "no", traceback: [] }});
      all.fingerprint().then(console.log);
    """
    done = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == fingerprint([STREAM, DRAWING, ERROR])
