"""How does a test get a small book that asks one question of each kind?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SECTION = "04-autograd/graph"
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"question": "How many nodes?", "kind": "number", "answer": "len(nodes)", "value": "3"},
    {"question": "Which key?", "kind": "choice", "choices": ["`CPU`", "`Meta`", "3"], "answer": "k", "value": "'Meta'"},
    {
        "question": "Which run?",
        "kind": "several",
        "choices": ["(1, 2)", "b", "c"],
        "answer": "r",
        "value": "[(1, 2), 'c']",
    },
    {"question": "Which strides?", "kind": "text", "answer": "s", "value": "(2, 1)"},
    {"question": "Why?", "kind": "open"},
)
NONE_AND_ALL = tuple(
    QUESTIONS[2] | {"question": f"Which of these run, {given}?", "value": value}
    for given, value in (("if nothing does", "[]"), ("if everything does", "[(1, 2), 'b', 'c']"))
)
REASON = "Because it is so."
RIGHT = (["3"], ["`Meta`"], ["(1, 2)", "c"], ["2,1"], ["I think that it is so."])
WRONG = (["4"], ["`CPU`"], ["(1, 2)"], ["(1, 2)"], ["I do not know."])


def notebook(questions: tuple[dict[str, Any], ...] = QUESTIONS) -> dict[str, Any]:
    """An executed notebook that asks these questions."""
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": "# The graph"}]
    for number, asked in enumerate(questions, 1):
        stream = {"output_type": "stream", "name": "stdout", "text": f"output {number}\n"}
        metadata = {"tags": ["predict"], "prediction": asked}
        code = {"cell_type": "code", "source": f"print('output', {number})", "metadata": metadata, "outputs": [stream]}
        reason = {"cell_type": "markdown", "metadata": {"tags": ["answer"]}, "source": REASON}
        cells += [code | {"execution_count": number}, reason]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def make_book(root: Path, section: str = SECTION, questions: tuple[dict[str, Any], ...] = QUESTIONS) -> Path:
    """A clone in this folder with a section that asks."""
    path = root / "chapters" / f"{section}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(questions)), encoding="utf-8")
    (root / "exercises").mkdir(exist_ok=True)
    with (root / "mkdocs.yml").open("a") as navigation:
        navigation.write(f"      - {section}.md\n")
    return root
