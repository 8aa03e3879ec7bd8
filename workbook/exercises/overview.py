"""How far is the reader: which exercises have passed, which predictions are committed, which cards are due?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError
from workbook.exercises.desk import all_done, known, long, tell
from workbook.exercises.order import in_order
from workbook.exercises.say import command, count, paint, say, width
from workbook.exercises.say import together as unbroken
from workbook.exercises.state import State
from workbook.predictions.questions import questions
from workbook.predictions.standing import Standing, by_section, by_topic, together

BAR = 30  # columns of the progress bar
NARROW = 60  # columns below which an exercise takes two lines
TITLE = 8  # columns before a title that has a line of its own
LABEL = 28  # columns of a topic's standing
COLOURS = {"passed": "green", "changed": "yellow", "started": "cyan", "not started": "dim"}


def progress(root: Path, name: str | None, *, as_json: bool) -> int:
    """Show the exercises and predictions, or those of a chapter, topic or section, with the reader's progress."""
    state = states.load(root)
    all_of_them, sections = in_order(root, known(root, state)), by_section(questions(root), state)
    if name is not None:
        meant = sections_of(root, name, all_of_them, sections)
        all_of_them = [exercise for exercise in all_of_them if exercise.section in meant]
        sections = [section for section in sections if section.section in meant]
    if as_json:
        print_json(all_of_them, sections, state)
    elif all_of_them or sections:
        print_progress(all_of_them, sections, state, name)
        print_cards(root, state)
    else:
        all_done(all_of_them)
    tell(state)
    return 0


def sections_of(root: Path, name: str, all_of_them: Sequence[Exercise], sections: Sequence[Standing]) -> set[str]:
    """The sections with exercises or predictions that a name stands for."""
    from workbook.parts import sections_called

    every = dict.fromkeys([*(e.section for e in all_of_them), *(section.section for section in sections)])
    return sections_called(root, name, every, "leads to an exercise or asks a prediction")


def print_progress(
    all_of_them: Sequence[Exercise], sections: Sequence[Standing], state: State, name: str | None
) -> None:
    """The bar, a line for each exercise, and the predictions: by chapter, or by section where a part was named."""
    done = [exercise for exercise in all_of_them if state.of(exercise).passed]
    left = sum(exercise.minutes for exercise in all_of_them if exercise not in done)
    if all_of_them:
        filled = BAR * len(done) // len(all_of_them)
        print(f"[{paint('#' * filled, 'green')}{'-' * (BAR - filled)}]")
        about = f"; about {unbroken(long(left))} left" if left else ""
        say(f"{len(done)} of {count(len(all_of_them), 'exercise')} passed{about}")
    if sections:
        say(f"Predictions: {in_parts(together(sections))}")
    for chapter in sorted({e.chapter for e in all_of_them} | {section.chapter for section in sections}):
        print()
        print(paint(chapter, "bold"))
        for exercise in all_of_them:
            if exercise.chapter == chapter:
                print_exercise(exercise, state.standing(exercise))
        of_chapter = [section for section in sections if section.chapter == chapter]
        if name is not None:
            for section in of_chapter:
                print_section(section)
        elif of_chapter:
            say(in_parts(together(of_chapter)), "  predictions  ", " " * TITLE)
    if name is None:
        print_topics(sections)
    print()
    if any(state.standing(exercise) == "changed" for exercise in all_of_them):
        say("`changed`: the answer passed and was edited afterwards. Check it again.")
    if left:
        say(f"Go on: {command('next')}")
    elif all_of_them:
        say(f"To see that they all still pass: {command('check --all')}")
    if name is not None and any(section.committed < section.asked for section in sections):
        say(f"To answer the others: {command(f'predict {name}')}")


def print_exercise(exercise: Exercise, standing: str) -> None:
    """The line of an exercise, or two lines if the terminal is narrow."""
    first = f"  {exercise.identity}  "
    mark = paint(f"{standing:<11}", COLOURS[standing])
    if width() < NARROW:
        print(f"{first}{mark}  {long(exercise.minutes)}")
        say(exercise.title, " " * TITLE)
    else:
        print(f"{first}{mark}  {long(exercise.minutes):>10}  {exercise.title}")


def print_section(section: Standing) -> None:
    """The line of a section's predictions, its title below or beside those of the exercises."""
    right = f", {section.right} right" if section.committed else ""
    told = f"  predicted  {f'{section.committed} of {section.asked}{right}':<18}"
    if width() < NARROW:
        print(told.rstrip())
        say(section.title, " " * TITLE)
    else:
        print(f"{told}  {section.title}")


def in_parts(standing: Standing) -> str:
    """A standing that is broken at its comma only."""
    return ", ".join(map(unbroken, str(standing).split(", ")))


def print_topics(sections: Sequence[Standing]) -> None:
    """A line for each topic in which something was predicted, if there are several."""
    begun = [topic for topic in by_topic(sections) if topic.committed]
    if len(begun) < 2:
        return
    print()
    print(paint("Predictions by topic", "bold"))
    for topic in begun:
        if width() < NARROW:
            say(f"{topic.title}: {in_parts(topic)}", "  ", "    ")
        else:
            print(f"  {topic!s:<{LABEL}} {topic.title}")


def print_cards(root: Path, state: State) -> None:
    """How many cards are due, if there are any cards."""
    if not state.cards:
        return
    from workbook.review.deck import count_due

    with suppress(ExerciseError):  # a book that cannot be read has no questions
        due = count_due(root, state)
        are_due = f"{count(due, 'card')} {'is' if due == 1 else 'are'} due for review: {command('review')}"
        say(are_due if due else "No card is due for review.")


def print_json(all_of_them: Sequence[Exercise], sections: Sequence[Standing], state: State) -> None:
    """The same for scripts."""
    import json
    from dataclasses import asdict

    rows = [
        {
            "identity": exercise.identity,
            "name": exercise.name,
            "chapter": exercise.chapter,
            "title": exercise.title,
            "form": exercise.form,
            "difficulty": exercise.difficulty,
            "needs": list(exercise.needs),
            "minutes": exercise.minutes,
            "standing": state.standing(exercise),
            "started": record.started,
            "passed": record.passed,
            "passed_sha256": record.answer,
            "answer_sha256": states.digest(exercise.answer),
            "hints_seen": record.hints,
            "solution_seen": record.solution,
        }
        for exercise in all_of_them
        for record in [state.of(exercise)]
    ]
    done = sum(bool(row["passed"]) for row in rows)
    table = {"version": states.VERSION, "passed": done, "total": len(rows), "exercises": rows}
    print(json.dumps(table | {"predictions": [asdict(section) for section in sections]}, indent=1))
