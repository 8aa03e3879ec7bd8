"""Does a card come back after days, by FSRS, and by nothing else?"""

from __future__ import annotations

import doctest
import math
from datetime import UTC, date, datetime, timedelta

import fsrs
import pytest

from workbook.exercises.state import LONGEST, Card, check_card
from workbook.review import schedule
from workbook.review.schedule import AGAIN, EASY, GOOD, HARD, reviewed

DAY = "2026-11-26"


def later(day: str, days: int) -> str:
    """The day so many days after another."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def days(card: Card) -> int:
    """The days between a card's last review and its next."""
    return (date.fromisoformat(card.due) - date.fromisoformat(card.reviewed)).days


def test_the_examples_hold() -> None:
    assert doctest.testmod(schedule).failed == 0


def test_the_better_it_was_remembered_the_later_it_comes_back() -> None:
    cards = [reviewed(None, rating, DAY) for rating in (AGAIN, HARD, GOOD, EASY)]
    assert [days(card) for card in cards] == [1, 1, 2, 8]
    assert [card.lapses for card in cards] == [1, 0, 0, 0]
    assert sorted((card.difficulty for card in cards), reverse=True) == [card.difficulty for card in cards]


def test_it_is_what_fsrs_says_at_noon_of_the_same_days() -> None:
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    theirs, ours, day = fsrs.Card(card_id=7), None, DAY
    for rating in (GOOD, GOOD, AGAIN, HARD, GOOD, EASY):
        noon = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) + timedelta(hours=12)
        theirs, _ = scheduler.review_card(theirs, fsrs.Rating(rating), noon)
        ours = reviewed(ours, rating, day)
        assert (ours.stability, ours.difficulty) == (theirs.stability, theirs.difficulty)
        assert ours.due == theirs.due.date().isoformat()
        day = ours.due


def test_what_is_remembered_each_time_comes_back_ever_later() -> None:
    card = reviewed(None, GOOD, DAY)
    gaps = [days(card)]
    for _ in range(6):
        card = reviewed(card, GOOD, card.due)
        gaps.append(days(card))
    assert gaps == sorted(set(gaps))
    assert gaps[-1] > 365


def test_what_is_forgotten_comes_back_tomorrow_or_soon_and_is_counted() -> None:
    card = reviewed(None, EASY, DAY)
    card = reviewed(card, GOOD, card.due)
    before = card
    card = reviewed(card, AGAIN, card.due)
    assert days(card) < days(before) / 5
    assert card.difficulty > before.difficulty
    assert card.lapses == 1
    assert reviewed(card, AGAIN, card.due).lapses == 2


def test_a_card_that_is_late_and_remembered_gains_more() -> None:
    card = reviewed(None, GOOD, DAY)
    in_time, late = (reviewed(card, GOOD, later(card.due, wait)) for wait in (0, 10))
    assert late.stability > in_time.stability


def test_the_same_answers_on_the_same_days_give_the_same_card() -> None:
    def run() -> Card:
        card = reviewed(None, EASY, DAY)
        for _ in range(4):
            card = reviewed(card, GOOD, card.due)
        return card

    assert run() == run()


@pytest.mark.parametrize("rating", [AGAIN, HARD, GOOD, EASY])
@pytest.mark.parametrize("moved", [0, -1, -400])
def test_a_second_review_on_a_day_or_with_a_clock_set_back_is_a_card_too(rating: int, moved: int) -> None:
    card = reviewed(reviewed(None, GOOD, DAY), rating, later(DAY, moved))
    check_card("key", card)
    assert card.reviewed == later(DAY, moved)
    assert days(card) >= 1


@pytest.mark.parametrize("stability", [1e-9, 0.001, 1.0, float(LONGEST)])
@pytest.mark.parametrize("difficulty", [1.0, 5.0, 10.0])
@pytest.mark.parametrize("rating", [AGAIN, HARD, GOOD, EASY])
def test_every_card_that_the_record_may_hold_can_be_reviewed(stability: float, difficulty: float, rating: int) -> None:
    for day in ("0001-01-01", "2026-11-01", "9999-12-31"):
        card = reviewed(Card(day, day, stability, difficulty, 3), rating, DAY)
        check_card("key", card)
        assert math.isfinite(card.stability)
        assert 1 <= days(card) <= LONGEST
