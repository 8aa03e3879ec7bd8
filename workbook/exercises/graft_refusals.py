"""Which errors and refusals say why a piece cannot be grafted?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbook.exercises.answer_file import AuthorError, error_refusal
from workbook.exercises.catalogue import Piece
from workbook.exercises.report import Refusal


def author_error(piece: Piece, problem: str) -> AuthorError:
    """The error of an exercise.toml that names something that does not exist."""
    key = f" key = {piece.key!r}" if piece.key else ""
    return AuthorError(f"exercise.toml: [[graft]] kind = {piece.kind!r} target = {piece.target!r}{key}: {problem}")


def calls_itself(piece: Piece, line: int) -> Refusal:
    """The refusal of an answer that calls its counterpart."""
    return Refusal(
        asked=f"your own {piece.answer}",
        came=f"your answer calls the piece that it replaces ({piece.target})",
        accepted="an answer that does the work itself",
        line=line,
    )


def needs_itself(piece: Piece, error: RecursionError, path: Path, code: object) -> Refusal:
    """The refusal of an endless recursion: through the library, or the answer's own."""
    refusal = error_refusal(error, path, f"a {piece.answer} that returns")
    trace, passes = error.__traceback__, 0
    while trace is not None:
        passes += trace.tb_frame.f_code is code
        trace = trace.tb_next
    if passes < 2:
        return refusal
    because = (
        f"the library's functions that your answer calls need {piece.answer}, which is your answer: it recurses forever"
    )
    return replace(refusal, because=because)
