"""When does a question come back?

FSRS decides, with the parameters that its library ships: from the days since the last review, from how well the answer
was remembered, and from how hard the question has been so far. Its steps of minutes are left out, and so is chance:
the same answers on the same days give the same days. It is told days and no times: each day begins at its midnight,
so that neither a late sitting nor another time zone moves a card.

This module alone imports `fsrs`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import fsrs

from workbook.exercises.state import LONGEST, Card

SCHEDULER = fsrs.Scheduler(learning_steps=(), relearning_steps=(), maximum_interval=LONGEST, enable_fuzzing=False)
AGAIN, HARD, GOOD, EASY = map(int, fsrs.Rating)


def reviewed(before: Card | None, rating: int, day: str) -> Card:
    """The card after a review on this day; `before` is None for a question that is asked for the first time.

    >>> reviewed(None, GOOD, "2026-11-26").due
    '2026-11-28'
    """
    after, _ = SCHEDULER.review_card(as_fsrs(before), fsrs.Rating(rating), midnight(day))
    assert after.stability is not None, "a card that was reviewed has a stability"
    assert after.difficulty is not None, "a card that was reviewed has a difficulty"
    return Card(
        due=after.due.date().isoformat(),
        reviewed=day,
        stability=min(after.stability, LONGEST),
        difficulty=after.difficulty,
        lapses=(before.lapses if before else 0) + (rating == AGAIN),
    )


def as_fsrs(card: Card | None) -> fsrs.Card:
    """The card as FSRS holds it. Its number is never used; without one, FSRS would take the time, and wait."""
    if card is None:
        return fsrs.Card(card_id=0)
    return fsrs.Card(
        card_id=0,
        state=fsrs.State.Review,
        stability=card.stability,
        difficulty=card.difficulty,
        due=midnight(card.due),
        last_review=midnight(card.reviewed),
    )


def midnight(day: str) -> datetime:
    """The beginning of a day, in the one time zone that FSRS accepts."""
    return datetime.combine(date.fromisoformat(day), time(), UTC)
