"""Does the reader's copy of a lab sheet keep back what they are to predict, and nothing else?"""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from workbook.exercises.catalogue import Exercise, exercises
from workbook.exercises.sheet import unanswered

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("exercise", exercises(ROOT), ids=lambda exercise: exercise.identity)
def test_only_predictions_and_their_answers_differ(exercise: Exercise) -> None:
    shipped = json.loads(exercise.lab.read_bytes())
    given = json.loads(unanswered(exercise.lab.read_bytes()))
    nbformat.validate(nbformat.from_dict(given))
    predictions = 0
    for before, after in zip(shipped["cells"], given["cells"], strict=True):
        tags = before["metadata"].get("tags", ())
        if "predict" in tags:
            assert (after["source"], after["outputs"], after["execution_count"]) == (before["source"], [], None)
            predictions += 1
        elif "answer" in tags:
            assert after["source"].startswith("<details>\n<summary>Then look</summary>\n\n")
            assert "".join(before["source"]) in after["source"]
        else:
            assert after == before
    assert predictions
    assert {key: value for key, value in given.items() if key != "cells"} == {
        key: value for key, value in shipped.items() if key != "cells"
    }


def test_the_questions_of_interviews_are_folded() -> None:
    text = "## Asked\n\n> [!QUESTION]- What is `a < b`?\n> A\n> call.\n>\n> It *runs*.\n\n> [!QUESTION]- Why?\n> So.\n"
    cell = {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}
    (folded,) = json.loads(unanswered(json.dumps({"cells": [cell]}).encode()))["cells"]
    assert folded["source"] == (
        "## Asked\n\n<details>\n<summary>What is <code>a &lt; b</code>?</summary>\n\nA\ncall.\n\nIt *runs*."
        "\n\n</details>\n\n<details>\n<summary>Why?</summary>\n\nSo.\n\n</details>\n"
    )


@pytest.mark.parametrize("damaged", [b"", b"no notebook", b"[]", b'{"cells": [1]}', b'{"cells": [{}]}', b"\xff"])
def test_what_is_no_notebook_stays_as_it_is(damaged: bytes) -> None:
    assert unanswered(damaged) == damaged
