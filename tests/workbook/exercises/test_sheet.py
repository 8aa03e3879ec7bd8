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


@pytest.mark.parametrize("damaged", [b"", b"no notebook", b"[]", b'{"cells": [1]}', b'{"cells": [{}]}', b"\xff"])
def test_what_is_no_notebook_stays_as_it_is(damaged: bytes) -> None:
    assert unanswered(damaged) == damaged
