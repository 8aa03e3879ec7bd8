"""How does a page of the served book read and write the reader's record?

`chapters/assets/predictions.js` asks at `workbook/predictions`: GET gives all predictions, POST commits one
(`{"key", "given", "mark"}`) or adds those that a browser kept (`{"predictions": {...}}`). Only pages of this very
server are answered: any page on the web could send a request to this machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from workbook.exercises import state as states
from workbook.exercises.state import DamagedState, State
from workbook.predictions import record
from workbook.predictions.question import Unanswerable
from workbook.predictions.questions import questions

PATH = "/workbook/predictions"
LARGEST = 1 << 20  # bytes of a request
HOSTS = ("127.0.0.1", "localhost")
GRADES = {"right": True, "wrong": False}
OLDER = "This page is older than the book: its question is no longer asked like that. Reload the page."

Answer = tuple[HTTPStatus, dict[str, Any]]


def refuse_strangers(headers: Mapping[str, str], *, writes: bool) -> Answer | None:
    """An answer to a request that no page of this server sent; None where one did."""
    host = headers.get("Host", "")
    origin = headers.get("Origin", f"http://{host}")
    if host.partition(":")[0] not in HOSTS or origin != f"http://{host}":
        return refused(HTTPStatus.FORBIDDEN, "Only pages of this server are answered.")
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return refused(HTTPStatus.FORBIDDEN, "Only pages of this server are answered.")
    if writes and headers.get("Content-Type", "").partition(";")[0] != "application/json":
        return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A prediction is sent as application/json.")
    return None


def read(root: Path) -> Answer:
    """All predictions on record."""
    return HTTPStatus.OK, told(states.load(root))


def write(root: Path, body: bytes) -> Answer:
    """Record what a page sent."""
    try:
        table = json.loads(body)
        if not isinstance(table, dict):
            raise TypeError
    except (ValueError, TypeError, RecursionError):
        return refused(HTTPStatus.BAD_REQUEST, "The request is not a JSON object.")
    if "predictions" in table:
        return add(root, table["predictions"])
    key, given = table.get("key"), table.get("given")
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        return refused(HTTPStatus.BAD_REQUEST, "`given` is not a list of texts.")
    asked = next((asked for asked in questions(root) if asked.question.key == key), None)
    if asked is None:
        return refused(HTTPStatus.CONFLICT, OLDER)
    try:
        prediction, state = record.commit(root, asked, given, GRADES.get(str(table.get("mark"))))
    except Unanswerable as error:
        return refused(HTTPStatus.BAD_REQUEST, f"Not committed: {error}.")
    state.predictions[asked.question.key] = prediction
    return HTTPStatus.OK, told(state)


def add(root: Path, predictions: object) -> Answer:
    """Add the predictions that a browser kept."""
    contents = states.contents(State()) | {"predictions": predictions}
    try:
        other = states.parse(json.dumps(contents).encode())
    except DamagedState as error:
        return refused(HTTPStatus.BAD_REQUEST, f"The predictions cannot be added: {error}.")
    try:
        _, state = record.add(root, other)
    except Unanswerable as error:
        return refused(HTTPStatus.BAD_REQUEST, f"The predictions cannot be added: {error}.")
    return HTTPStatus.OK, told(state)


def told(state: State) -> dict[str, Any]:
    """What a page is told: the predictions, whether they are on disk, and warnings about the record."""
    return {
        "predictions": states.contents(state)["predictions"],
        "recorded": state.writable and state.saved,
        "said": state.said,
    }


def refused(status: HTTPStatus, why: str) -> Answer:
    """A refusal with its reason."""
    return status, {"error": why}
