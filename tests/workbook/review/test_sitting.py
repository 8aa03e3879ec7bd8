"""Does a sitting ask, open, grade, record and end as it should?"""

from __future__ import annotations

import doctest
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.workbook.predictions.asking_book import SECTION as PREDICTED
from tests.workbook.predictions.asking_book import WRONG
from tests.workbook.predictions.asking_book import make_book as make_predictions
from tests.workbook.review.book import make_book, write_section
from workbook.exercises import say
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError
from workbook.exercises.state import Card, load
from workbook.predictions.questions import questions as predictions
from workbook.predictions.record import commit
from workbook.review import sitting as module
from workbook.review.deck import count_due, deck, missed_predictions
from workbook.review.interview import key_of
from workbook.review.schedule import AGAIN, GOOD, reviewed
from workbook.review.sitting import Sitting, review, when
from workbook.stopped import STOPPED

Output = pytest.CaptureFixture[str]
TODAY = "2026-11-26"
FIRST, SECOND = "What is a tensor?", "What is a view?"


class Calendar:
    """The day that it is for the command."""

    def __init__(self) -> None:
        self.day = date.fromisoformat(TODAY)

    def __call__(self) -> str:
        return self.day.isoformat()


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> Calendar:
    """A calendar that a test may turn."""
    calendar = Calendar()
    monkeypatch.setattr(states, "today", calendar)
    return calendar


@pytest.fixture
def clone(tmp_path: Path, today: Calendar, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with six questions in three chapters, of which two are new."""
    monkeypatch.setattr(say, "program", lambda: "workbook")
    monkeypatch.setenv("COLUMNS", "100")
    return make_book(tmp_path)


def typed(lines: Iterable[str | BaseException]) -> Callable[[str], str]:
    """A reader who types these lines; after the last, the input ends. An exception is what the system does."""
    left = iter(lines)

    def ask(prompt: str) -> str:
        print(prompt, end="")
        line = next(left, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line

    return ask


def sit(clone: Path, lines: Iterable[str | BaseException], name: str | None = None, **options: object) -> int:
    """Hold a sitting with a reader who types these lines. Returns the exit code."""
    return Sitting(clone, deck(clone, load(clone), name), typed(lines), **options).hold()  # type: ignore[arg-type]


def words(capsys: Output) -> str:
    """What was printed, without its line breaks."""
    return " ".join(capsys.readouterr().out.split())


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


# --- one sitting ---


def test_a_question_is_answered_before_ours_opens_and_then_graded(clone: Path, capsys: Output) -> None:
    assert sit(clone, ["numbers", "g"], most=1) == 0
    assert capsys.readouterr().out == (
        "No card is due, 2 are new. A sitting takes about 10 minutes. ? skips a card, q ends; every answer is\n"
        "recorded at once.\n"
        "Answer from memory. A prediction is compared with what the cell printed. Any other answer you type,\n"
        "or only think, before ours opens; then you grade it.\n"
        "\n"
        "1  Chapter 00: first (new)\n"
        "\n"
        "What is a tensor?\n"
        "\n"
        "> \n"
        "Answer to: What is a tensor?\n"
        "\n"
        "  a  again  you did not know it, or something else\n"
        "  h  hard   you knew it with effort, or in part\n"
        "  g  good   you knew it\n"
        "  e  easy   you knew it at once\n"
        "How was it? a, h, g or e: It comes back in 2 days, on 2026-11-28.\n"
        "\n"
        "1 card answered. The next comes back in 2 days, on 2026-11-28.\n"
    )
    assert load(clone).cards == {key_of(FIRST): reviewed(None, GOOD, TODAY)}


def test_the_answer_is_not_shown_before_the_reader_has_answered(clone: Path, capsys: Output) -> None:
    assert sit(clone, []) == 0
    assert "Answer to" not in capsys.readouterr().out
    assert load(clone).cards == {}


@pytest.mark.parametrize("lines", [["?", "numbers", "g"], ["numbers", "?", "numbers", "g"]])
def test_a_card_that_is_passed_by_is_not_recorded(clone: Path, capsys: Output, lines: list[str]) -> None:
    assert sit(clone, lines) == 0
    assert list(load(clone).cards) == [key_of(SECOND)]
    assert "1 card answered." in capsys.readouterr().out


@pytest.mark.parametrize("lines", [["q"], ["numbers", "q"]])
def test_q_ends_the_sitting(clone: Path, capsys: Output, lines: list[str]) -> None:
    assert sit(clone, [*lines, KeyError("asked again")]) == 0
    assert load(clone).cards == {}
    assert "No card was answered." in capsys.readouterr().out


def test_the_grades_are_explained_once(clone: Path, capsys: Output) -> None:
    sit(clone, ["", "a", "", "e"])
    printed = capsys.readouterr().out
    assert printed.count("you knew it at once") == 1
    assert printed.count("How was it?") == 2


@pytest.mark.parametrize("said", ["a", "A", " again ", "1"])
def test_a_grade_is_a_letter_a_word_or_a_number(clone: Path, said: str) -> None:
    sit(clone, ["", said])
    assert load(clone).cards[key_of(FIRST)] == reviewed(None, AGAIN, TODAY)


@pytest.mark.parametrize("said", ["", "x", "5", "0", "goo", "g" * 100_000, "\x1b[A", "ok\x00"])
def test_anything_else_is_asked_again_and_not_repeated(clone: Path, capsys: Output, said: str) -> None:
    sit(clone, ["", said, "h"])
    printed = capsys.readouterr().out
    assert "press Enter: a (again), h (hard), g (good), e (easy)." in " ".join(printed.split())
    assert "\x1b" not in printed
    assert len(printed) < 3_000
    assert list(load(clone).cards) == [key_of(FIRST)]


def test_what_is_due_comes_before_what_is_new(clone: Path, capsys: Output) -> None:
    overdue = Card("2026-11-20", "2026-11-10", 10.0, 5.0)
    states.update(clone, lambda state: state.cards.update({key_of("What is a leaf?"): overdue}))
    sit(clone, ["", "g", "", "g", "", "g"])
    printed = capsys.readouterr().out
    assert printed.startswith("1 card is due, 2 are new.")
    assert [line for line in printed.splitlines() if line.startswith("What")] == ["What is a leaf?", FIRST, SECOND]
    assert "1  Chapter 04: the-graph\n" in printed
    assert "2  Chapter 00: first (new)\n" in printed


def test_a_sitting_ends_after_its_minutes_and_says_what_is_left(
    clone: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = {key_of(text): Card(TODAY, "2026-11-10", 10.0, 5.0) for text in (FIRST, SECOND, "What is a leaf?")}
    states.update(clone, lambda state: state.cards.update(cards))
    clock = itertools.count(0, 61)  # a minute and a second between two looks at it
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(states, "alone", lambda root: nullcontext())  # the lock looks at the clock too
    sit(clone, ["", "g"] * 3, minutes=3)
    assert words(capsys).endswith("The time is over: 3 minutes. 2 cards answered. 1 more is due: `workbook review`")


def test_a_sitting_that_has_asked_enough_says_nothing_of_the_time(clone: Path, capsys: Output) -> None:
    sit(clone, ["", "g"], most=1)
    assert "time is over" not in capsys.readouterr().out


def test_of_a_topic_all_are_asked_although_they_are_new(clone: Path, capsys: Output) -> None:
    sit(clone, ["", "g"] * 9, "views")
    assert "What is an offset?" in (printed := words(capsys))
    assert "What is a run?" in printed
    assert "2 cards answered." in printed


def test_an_answer_may_have_code_and_links(clone: Path, capsys: Output) -> None:
    path = clone / "chapters/00-start/first.md"
    answer = "> See [the `view`](b.md):\n>\n> ```python\n> x  =  1\n> ```"
    path.write_text(path.read_text(encoding="utf-8").replace(f"> Answer to: {FIRST}", answer), encoding="utf-8")
    sit(clone, ["", "g"], most=1)
    assert "See the `view`:\n\n    x  =  1\n" in capsys.readouterr().out


@pytest.mark.parametrize("columns", ["24", "40"])
def test_a_narrow_terminal_is_enough(
    clone: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    sit(clone, ["", "x", "g"], most=1)
    longest = max(map(len, capsys.readouterr().out.splitlines()))
    assert longest <= int(columns) + len("How was it? a, h, g or e: ")  # the prompt's line goes on with what is printed


def test_colours_are_left_out_where_they_are_not_wanted(
    clone: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    sit(clone, [], most=1)
    assert "\x1b[1m1  Chapter 00: first (new)\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    sit(clone, [], most=1)
    assert "\x1b" not in capsys.readouterr().out


# --- predictions that were missed ---


@pytest.fixture
def missed(clone: Path) -> Path:
    """A clone whose reader has missed the five predictions of a section; there is nothing else to ask."""
    (clone / "mkdocs.yml").write_text("nav:\n", encoding="utf-8")
    make_predictions(clone)
    (clone / "chapters" / f"{PREDICTED}.md").write_text("# The graph\n\n*20 minutes. Lead.*\n", encoding="utf-8")
    for asked, given in zip(predictions(clone), WRONG, strict=True):
        commit(clone, asked, given, graded=False)
    return clone


def test_a_missed_prediction_is_asked_with_its_code_and_compared(missed: Path, capsys: Output) -> None:
    assert sit(missed, ["3"], most=1) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("No card is due, 5 are new.")
    assert (
        "1  Chapter 04: The graph (missed)\n\n    print('output', 1)\n\nHow many nodes?\n\n"
        "A number, or Enter if you do not know: Right.\n\n    output 1\n\nBecause it is so.\n\nIt comes back in 2 days"
    ) in printed
    assert "How was it?" not in printed
    (card,) = load(missed).cards.values()
    assert card == reviewed(None, GOOD, TODAY)


def test_choices_are_listed_with_letters(missed: Path, capsys: Output) -> None:
    sit(missed, ["3", "b", "a c", "2,1", "because", "h"])
    printed = capsys.readouterr().out
    assert (
        "Which key?\n  a  `CPU`\n  b  `Meta`\n  c  3\n\nThe letter of your answer, or Enter if you do not know: Right."
        in printed
    )
    assert printed.count("Right.") == 4
    assert printed.count("How was it?") == 1  # why is prose
    assert {card.lapses for card in load(missed).cards.values()} == {0}


@pytest.mark.parametrize("given", ["", "4", "-1e300", "0.5"])
def test_a_wrong_answer_or_none_comes_back_tomorrow_with_the_right_one(
    missed: Path, capsys: Output, given: str
) -> None:
    sit(missed, [given], most=1)
    printed = capsys.readouterr().out
    assert "Wrong: the answer is 3.\n\n    output 1\n\nBecause it is so.\n\nIt comes back tomorrow.\n" in printed
    assert list(load(missed).cards.values()) == [reviewed(None, AGAIN, TODAY)]


@pytest.mark.parametrize("given", ["three", "1" * 100_000, "\x1b[2J", "nan", "\x00"])
def test_what_is_no_answer_is_asked_again(missed: Path, capsys: Output, given: str) -> None:
    sit(missed, [given, "3"], most=1)
    printed = capsys.readouterr().out
    assert "Not taken: " in printed
    assert "\x1b" not in printed
    assert "\x00" not in printed
    assert len(printed) < 3_000
    assert list(load(missed).cards.values()) == [reviewed(None, GOOD, TODAY)]


def test_reviewing_changes_no_prediction(missed: Path) -> None:
    before = load(missed).predictions
    sit(missed, ["3", "b", "a c", "2,1", "because", "h"])
    assert load(missed).predictions == before
    assert set(load(missed).cards) == set(before)


def test_predictions_that_were_right_or_never_made_are_not_asked(clone: Path) -> None:
    make_predictions(clone)
    right, wrong, *_ = predictions(clone)
    commit(clone, right, ["3"])
    assert list(missed_predictions(clone, load(clone))) == []
    commit(clone, wrong, ["3"])
    (clone / "chapters" / f"{PREDICTED}.md").write_text("# The graph\n\n*20 minutes. Lead.*\n", encoding="utf-8")
    (one,) = missed_predictions(clone, load(clone))
    assert one.key == wrong.question.key
    assert deck(clone, load(clone)).new(load(clone))[0] == one


def test_a_missed_prediction_is_found_where_its_section_has_moved_to(missed: Path) -> None:
    before = [one.key for one in missed_predictions(missed, load(missed))]
    moved = "05-cuda/graph"
    for kind in ("ipynb", "md"):
        (missed / "chapters" / moved).parent.mkdir(exist_ok=True)
        (missed / "chapters" / f"{PREDICTED}.{kind}").rename(missed / "chapters" / f"{moved}.{kind}")
    (missed / "mkdocs.yml").write_text(f"nav:\n      - {moved}.md\n", encoding="utf-8")
    found = list(missed_predictions(missed, load(missed)))
    assert [one.key for one in found] == before
    assert {one.section.path for one in found} == {f"{moved}.md"}


def test_missed_predictions_that_are_due_are_counted(missed: Path, today: Calendar) -> None:
    sit(missed, ["3", ""], most=2)
    assert count_due(missed, load(missed)) == 0
    today.day += timedelta(days=1)
    assert count_due(missed, load(missed)) == 1


def test_of_a_long_output_the_beginning_is_shown(missed: Path, capsys: Output) -> None:
    path = missed / "chapters" / f"{PREDICTED}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][1]["outputs"][0]["text"] = "\x1b[31mred\n" * 100
    path.write_text(json.dumps(notebook), encoding="utf-8")
    sit(missed, ["3"], most=1)
    printed = capsys.readouterr().out
    assert printed.count("    \\x1b[31mred\n") == 40
    assert "    ... and 60 more lines\n" in printed


# --- an end that was not planned ---


@pytest.mark.parametrize(("end", "code"), [(EOFError(), 0), (KeyboardInterrupt(), STOPPED)])
@pytest.mark.parametrize("at", [2, 3])
def test_an_interrupted_sitting_keeps_what_was_answered(
    clone: Path, capsys: Output, end: BaseException, code: int, at: int
) -> None:
    lines: list[str | BaseException] = ["", "g", "", "g"]
    assert sit(clone, [*lines[:at], end]) == code
    assert words(capsys).endswith("1 card answered. The next comes back in 2 days, on 2026-11-28.")
    assert list(load(clone).cards) == [key_of(FIRST)]


def test_an_answer_is_on_disk_before_the_next_question_is_asked(clone: Path) -> None:
    found = []

    def ask(prompt: str) -> str:
        found.append(len(load(clone).cards))
        return "g"

    Sitting(clone, deck(clone, load(clone)), ask).hold()
    assert found == [0, 0, 1, 1]


def test_a_full_disk_is_said_and_the_answer_is_written_when_there_is_room(
    clone: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.write_bytes
    full = [True]

    def write(self: Path, content: bytes) -> int:
        if full[0]:
            raise OSError(28, "No space left on device")
        return real(self, content)

    monkeypatch.setattr(Path, "write_bytes", write)

    def lines() -> Iterator[str]:
        yield ""
        yield "g"
        yield ""  # try again: still full
        full[0] = False
        yield ""

    assert sit(clone, lines(), most=1) == 0
    captured = capsys.readouterr()
    said = "workbook: Your progress could not be saved in exercises/progress.json (No space left on device)"
    assert " ".join(captured.err.split()).count(said) == 2
    assert captured.out.count("Press Enter to try again, or Ctrl-C to end without this answer: ") == 2
    assert "1 card answered." in captured.out
    assert load(clone).cards == {key_of(FIRST): reviewed(None, GOOD, TODAY)}
    assert [path.name for path in (clone / "exercises").iterdir()] == ["progress.json"]


def test_a_disk_that_stays_full_loses_the_last_answer_alone(
    clone: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines() -> Iterator[str | BaseException]:
        yield from ("", "g", "")
        monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError(28, "No space")))
        yield "g"
        yield KeyboardInterrupt()

    assert sit(clone, lines()) == STOPPED
    assert words(capsys).endswith("1 card answered. The next comes back in 2 days, on 2026-11-28.")
    assert list(load(clone).cards) == [key_of(FIRST)]


def test_a_record_that_is_damaged_in_between_is_kept_and_said(clone: Path, capsys: Output) -> None:
    record = clone / "exercises" / "progress.json"

    def lines() -> Iterator[str]:
        yield from ("", "g", "")
        record.write_text("{", encoding="utf-8")
        yield "g"

    assert sit(clone, lines()) == 0
    assert "exercises/progress.json is damaged" in capsys.readouterr().err
    assert record.with_name("progress.json.damaged-1").read_text(encoding="utf-8") == "{"
    assert list(load(clone).cards) == [key_of(SECOND)]


def test_two_sittings_at_once_ask_a_card_once_and_lose_nothing(clone: Path) -> None:
    def other() -> Iterator[str]:
        yield ""
        sit(clone, ["", "g", "", "e"])  # in another window: the same card, not answered here yet, and the next
        yield "a"
        yield "never reached"

    assert sit(clone, other()) == 0
    cards = load(clone).cards
    assert cards[key_of(FIRST)] == reviewed(reviewed(None, GOOD, TODAY), AGAIN, TODAY)
    assert cards[key_of(SECOND)].lapses == 0


def test_two_commands_at_once_lose_no_review(clone: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from workbook.exercises import state as states\n"
        "from workbook.exercises.state import Card\n"
        "root, name = Path(sys.argv[1]), sys.argv[2]\n"
        "for n in range(20):\n"
        "    card = {f'{name}{n}': Card('2026-11-28', '2026-11-26', 2.0, 5.0)}\n"
        "    states.update(root, lambda state: state.cards.update(card))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(clone), name]) for name in "abc"]
    assert [process.wait() for process in running] == [0] * 3
    assert len(load(clone).cards) == 60


# --- what is said without a sitting ---


def run(clone: Path, name: str | None = None, *, ahead: bool = False) -> int:
    """The command without a terminal."""
    return review(clone, name, minutes=10, most=None, ahead=ahead)


def answer_all(clone: Path) -> None:
    """Answer what is new: one well, the other not."""
    sit(clone, ["", "g", "", "a"])


def test_nothing_due_says_when_and_how_to_go_on(clone: Path, capsys: Output) -> None:
    answer_all(clone)
    capsys.readouterr()
    assert run(clone) == 0
    assert words(capsys) == (
        "No card is due. The next comes back tomorrow. To be asked before they are due: `workbook review --ahead` "
        "New cards come with the sections that you work through. Those of a chapter or a topic: `workbook review 04`, "
        "`workbook review views`"
    )


def test_ahead_asks_the_nearest_first(clone: Path, capsys: Output) -> None:
    answer_all(clone)
    capsys.readouterr()
    sit(clone, ["", "g", "", "g"], ahead=True)
    asked = [line for line in capsys.readouterr().out.splitlines() if line.startswith("What")]
    assert asked == [SECOND, FIRST]


def test_a_pipe_is_told_what_waits_and_nothing_is_asked(clone: Path) -> None:
    with pytest.raises(ExerciseError) as error:
        run(clone, "views")
    assert str(error.value) == (
        "a review asks and waits for answers, and this is not a terminal\n  No card is due, 2 are new.\n"
        "  run it in a terminal: `workbook review views`"
    )


def test_a_clone_without_a_book_has_nothing_to_ask(clone: Path, capsys: Output) -> None:
    (clone / "mkdocs.yml").write_text("", encoding="utf-8")
    assert run(clone) == 0
    assert words(capsys) == "There are no questions in this clone yet."


def test_a_record_of_a_newer_workbook_is_left_and_nothing_is_asked(clone: Path, capsys: Output) -> None:
    record = clone / "exercises" / "progress.json"
    record.write_text('{"version": 99}', encoding="utf-8")
    assert run(clone) == 1
    captured = capsys.readouterr()
    assert "written by a newer workbook" in captured.err
    assert captured.out == ""
    assert record.read_text(encoding="utf-8") == '{"version": 99}'


CARD = {"due": "2026-11-26", "reviewed": "2026-11-20", "stability": 5.0, "difficulty": 5.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"due": "soon"}, "its card k has due = 'soon'"),
        ({"due": "20261126"}, "its card k has due = '20261126'"),
        ({"reviewed": ""}, "its card k has reviewed = ''"),
        ({"stability": 0}, "its card k has stability = 0.0"),
        ({"stability": 1e300}, "its card k has stability = 1e+300"),
        ({"stability": -1}, "its entry k has stability = -1.0"),
        ({"difficulty": 0.5}, "its card k has difficulty = 0.5"),
        ({"difficulty": 11}, "its card k has difficulty = 11.0"),
        ({"lapses": 1.5}, "its entry k has lapses = 1.5"),
    ],
)
def test_a_damaged_card_is_kept_and_said(clone: Path, capsys: Output, change: dict[str, object], said: str) -> None:
    record = clone / "exercises" / "progress.json"
    content = json.dumps({"version": 2, "exercises": {}, "predictions": {}, "cards": {"k": {**CARD, **change}}})
    record.write_text(content, encoding="utf-8")
    with pytest.raises(ExerciseError, match="this is not a terminal"):
        run(clone)
    error = " ".join(capsys.readouterr().err.split())
    assert f"exercises/progress.json is damaged: {said}." in error
    assert record.with_name("progress.json.damaged-1").read_text(encoding="utf-8") == content


def test_the_card_of_a_question_that_is_gone_stays_in_the_record(clone: Path) -> None:
    answer_all(clone)
    write_section(clone, "00-start/first", SECOND)
    assert sit(clone, ["", "g"], ahead=True) == 0
    assert set(load(clone).cards) == {key_of(FIRST), key_of(SECOND)}


# --- over days ---


@pytest.mark.parametrize(
    ("days", "said"),
    [(0, "today"), (1, "tomorrow"), (2, "in 2 days, on 2026-11-28"), (36, "in 36 days, on 2027-01-01")],
)
def test_a_day_is_said_as_it_is_seen_today(today: Calendar, days: int, said: str) -> None:
    assert when((today.day + timedelta(days=days)).isoformat()) == said


def test_over_a_year_cards_come_back_when_they_are_due_and_ever_more_rarely(clone: Path, today: Calendar) -> None:
    asked: dict[str, list[int]] = {}
    for number in range(365):
        before = load(clone).cards
        sit(clone, itertools.cycle(["", "g"]))
        for key, card in load(clone).cards.items():
            if card != before.get(key):
                assert key not in before or before[key].due == today()
                asked.setdefault(key, []).append(number)
        today.day += timedelta(days=1)
    assert set(asked) == {key_of(FIRST), key_of(SECOND)}
    for numbers in asked.values():
        gaps = [after - before for before, after in itertools.pairwise(numbers)]
        assert gaps == sorted(gaps)
        assert 4 <= len(numbers) <= 8


def test_who_comes_back_after_a_pause_is_asked_everything_once(clone: Path, today: Calendar, capsys: Output) -> None:
    answer_all(clone)
    today.day += timedelta(days=100)
    capsys.readouterr()
    sit(clone, itertools.cycle(["", "g"]))
    printed = words(capsys)
    assert printed.startswith("2 cards are due, none are new.")
    assert "2 cards answered. The next" in printed


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Let it be this moment, in UTC."""

    class Fixed(datetime):
        @classmethod
        def now(cls, zone: object = None) -> datetime:  # type: ignore[override]
            return datetime.fromisoformat(moment).replace(tzinfo=UTC)

    monkeypatch.setattr(states, "datetime", Fixed)


ZONES = pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows cannot change a program's time zone")


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Sets the moment and the time zone; returns the day that the command sees."""

    def set_to(moment: str, zone: str) -> str:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        at(monkeypatch, moment)
        return states.today()

    yield set_to
    monkeypatch.undo()
    time.tzset()


@ZONES
def test_ten_to_midnight_and_half_past_are_two_days_where_the_reader_is(
    tmp_path: Path, clock: Callable[[str, str], str]
) -> None:
    clone = make_book(tmp_path)
    assert clock("2026-11-26 10:50", "Pacific/Auckland") == "2026-11-26"  # 23:50 there
    sit(clone, ["", "a"], most=1)
    assert load(clone).cards[key_of(FIRST)].due == "2026-11-27"
    assert deck(clone, load(clone)).due(load(clone), states.today()) == []
    assert clock("2026-11-26 11:30", "Pacific/Auckland") == "2026-11-27"  # 00:30 there; in UTC it is the same day
    assert [one.text for one in deck(clone, load(clone)).due(load(clone), states.today())] == [FIRST]


@ZONES
def test_a_flight_to_another_time_zone_moves_no_card(tmp_path: Path, clock: Callable[[str, str], str]) -> None:
    clone = make_book(tmp_path)
    clock("2026-11-26 20:00", "Pacific/Auckland")  # 09:00 on the 27th there
    sit(clone, ["", "g"], most=1)
    assert load(clone).cards[key_of(FIRST)].due == "2026-11-29"
    assert clock("2026-11-27 08:00", "America/Los_Angeles") == "2026-11-27"  # midnight there
    assert deck(clone, load(clone)).due(load(clone), states.today()) == []
    clock("2026-11-29 17:00", "America/Los_Angeles")
    assert [one.text for one in deck(clone, load(clone)).due(load(clone), states.today())] == [FIRST]
