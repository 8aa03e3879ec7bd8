"""Is an answer marked as its reader would expect, in Python and in the browser alike?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.workbook.predictions.asking_book import NONE_AND_ALL, RIGHT, WRONG, make_book
from workbook.book.render import prediction_facts
from workbook.predictions.literals import literal, plain, written
from workbook.predictions.question import LONGEST, PROSE, Question, Unanswerable, value_of
from workbook.predictions.questions import questions

PROGRAM = Path(__file__).parents[3] / "chapters" / "assets" / "predictions.js"
TEXTS: tuple[tuple[object, str, bool], ...] = (
    ((2, 1), "(2, 1)", True),
    ((2, 1), "2,1", True),
    ((2, 1), " ( 2 ,1, ) ", True),
    ((2, 1), "[2, 1]", True),
    ((2, 1), "(1, 2)", False),
    ((2, 1), "(2, 1", False),
    ((2,), "2,", True),
    ((2,), "(2)", False),
    ((), "()", True),
    ([], "()", True),
    ([1.5, -2], "[1.5,-2.0]", True),
    (3, "3.0", True),
    (3, "+3", True),
    (3, "0x3", True),
    (1, "True", False),
    (True, "True", True),
    (None, "None", True),
    (None, "none", False),
    (1e-5, "0.00001", True),
    (1000, "1_000", True),
    ("AutogradCPU", "AutogradCPU", True),
    ("AutogradCPU", "'AutogradCPU'", True),
    ("AutogradCPU", '"AutogradCPU"', True),
    ("AutogradCPU", "Autograd CPU", True),
    ("AutogradCPU", "autogradcpu", False),
    ("aten::add.Tensor", "aten::add.Tensor", True),
    ("3", "3", True),
    ("it's", "it's", True),
    ({"a": 1, "b": (2, 3)}, "{'b': (2, 3), 'a': 1}", True),
    ({"a": 1}, "{'a': 2}", False),
    ({"a", "b"}, "{'b', 'a', 'a'}", True),
    ({"a", "b"}, "['a', 'b']", False),
    ([(1, 2)], "((1, 2),)", True),
    ([(1, 2)], "(1, 2)", False),
    (set(), "set()", True),
    ({}, "{}", True),
    ([(1, 2), (3,)], "[(1,2),(3,)]", True),
    ([1, 2], "[1 2]", True),
    ([1, 2], "1  2", True),
    ([1, 2], "( 1 2 )", True),
    ([1, 2], "2 1", False),
    ([1, 2], "12", False),
    ([1, 2], "1 2 3", False),
    ((1, 2, 3), "1, 2 3", False),
    ([[1, 2], [3, 4]], "1 2 3 4", False),
    ((-1, 0.5), "-1 0.5", True),
    ("1 2", "1 2", True),
    ("(1, 2)", "(1 2)", False),
    ([4, 5], "04,05", False),
    ((2, 1), "__import__('os').system('x')", False),
    ("<b>", "<b>", True),
)


@pytest.mark.parametrize(("value", "given", "right"), TEXTS, ids=[f"{written(v)} {g!r}" for v, g, _ in TEXTS])
def test_a_text_is_compared_as_a_literal_or_without_spacing(value: object, given: str, right: bool) -> None:
    assert Question("?", "text", value=value).mark([given]) is right


@pytest.mark.parametrize(
    ("given", "tolerance", "right"),
    [("3", 0, True), ("3.0", 0, True), (" 3 ", 0, True), ("3e0", 0, True), ("3.1", 0, False), ("3.1", 0.2, True),
     ("2.9", 0.2, True), ("3.3", 0.2, False), ("3.2", 0.2, True), ("2.8", 0.2, True),
     ("-3", 0, False), ("+3", 0, True), ("1e400", 0, False)],
)  # fmt: skip
def test_a_number_may_be_near(given: str, tolerance: float, right: bool) -> None:
    assert Question("?", "number", tolerance=tolerance, value=3).mark([given]) is right


@pytest.mark.parametrize("given", ["three", "3,0", "1,00", "nan", "inf", "1 000", "0x3", "(3)", "٣"])
def test_what_is_no_number_is_not_marked(given: str) -> None:
    with pytest.raises(Unanswerable, match=r"is not a number; accepted: for example 12, -0\.5 or 1e6"):
        Question("?", "number", value=3).mark([given])


@pytest.mark.parametrize("place", range(5))
def test_each_kind_has_right_and_wrong_answers(tmp_path: Path, place: int) -> None:
    question = questions(make_book(tmp_path))[place].question
    expected = (None, None) if question.kind == "open" else (True, False)
    assert (question.mark(RIGHT[place]), question.mark(WRONG[place])) == expected


def test_all_that_apply_and_no_others_have_to_be_chosen() -> None:
    question = Question("?", "several", ("a", "b", "c"), value=["a", "c"])
    assert question.mark(["c", "a"])
    assert not any(map(question.mark, (["a"], ["a", "b", "c"], [], ["a", "b"])))
    none, every = replace(question, value=[]), replace(question, value=["a", "b", "c"])
    assert (none.mark([]), none.mark(["b"]), none.mark(["a", "b", "c"])) == (True, False, False)
    assert (every.mark([]), every.mark(["b"]), every.mark(["a", "b", "c"])) == (False, False, True)


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        (Question("?", "text", value="x"), [""], "nothing was entered"),
        (Question("?", "text", value="x"), ["  "], "nothing was entered"),
        (
            Question("?", "text", value="x"),
            ["a" * 100_000],
            f"100,000 characters are too many; accepted: at most {LONGEST}",
        ),
        (Question("?", "open"), ["a" * 100_000], f"accepted: at most {PROSE:,}"),
        (Question("?", "open"), ["", "b"], "nothing was entered"),
        (Question("?", "choice", ("a", "b"), value="a"), ["c"], "'c' is not one of the choices: a, b"),
        (Question("?", "choice", ("a", "b"), value="a"), [], "nothing was entered"),
        (Question("?", "several", ("a", "b"), value=["a"]), ["a", "<script>"], "'<script>' is not one of the choices"),
    ],
)
def test_what_is_no_answer_is_refused(question: Question, given: list[str], said: str) -> None:
    with pytest.raises(Unanswerable, match=said.replace("(", r"\(")):
        question.mark(given)


def test_the_key_names_what_is_asked_and_what_is_right() -> None:
    question = Question("How many?", "choice", ("1", "2"), "len(x)", value=1)
    changes: tuple[dict[str, Any], ...] = (
        {"question": "How much?"}, {"kind": "several", "value": [1]}, {"choices": ("1", "3")}, {"value": 2},
    )  # fmt: skip
    keys = [question.key, *(replace(question, **change).key for change in changes)]
    assert len(set(keys)) == len(keys)
    assert replace(question, expression="len(list(x))").key == question.key
    assert replace(question, value=2).identity == question.identity


def test_a_value_is_written_the_same_everywhere() -> None:
    class Size(tuple[int, ...]):
        """As `torch.Size`."""

    assert written(plain({"sizes": Size((2, 3)), "names": {"b", "a"}})) == "{'sizes': (2, 3), 'names': {'a', 'b'}}"
    assert literal(written((1, {"b", "a"}, set(), (2,)))) == ((1, {"a", "b"}, set(), (2,)),)
    with pytest.raises(TypeError, match="accepted: numbers, text, None"):
        plain([object()])


def test_a_choice_is_its_literal_or_its_text() -> None:
    assert [value_of(choice) for choice in ("`(2, 1)`", "`CPU`", "it raises", "'3'", "None")] == [
        (2, 1), "CPU", "it raises", "3", None,
    ]  # fmt: skip


# --- the browser's program ---

MARK = f"const {{marked}} = require({json.dumps(str(PROGRAM))}); const asked = JSON.parse(process.argv[1]);"
MARK += "console.log(JSON.stringify(asked.map(([facts, given]) => marked(facts, given))))"


def browser_marks(node: str, asked: list[tuple[Question, list[str]]]) -> list[dict[str, str]]:
    """What the page's program says of these answers."""
    given = json.dumps([[prediction_facts(question), texts] for question, texts in asked])
    done = subprocess.run([node, "-e", MARK, given], capture_output=True, text=True, check=True, encoding="utf-8")
    return json.loads(done.stdout)


def test_the_browser_marks_as_python_does(require: Callable[[str], Any], tmp_path: Path) -> None:
    asked = [(Question("?", "text", value=value), [given]) for value, given, _ in TEXTS]
    numbers = ("3", "3.0", "3.1", "2.8", "1e0", "-3", ".3e1", "3.", "three", "3,0", "nan", "0x3", "", "1__0", "1_0")
    numbers += ("3.15", "2.85", "0,003", "1,003", "12,34")
    asked += [(Question("?", "number", tolerance=0.15, value=3), [given]) for given in numbers]
    some = [one.question for one in questions(make_book(tmp_path))]
    asked += [(question, given) for answers in (RIGHT, WRONG) for question, given in zip(some, answers, strict=True)]
    asked += [(some[2], given) for given in ([], ["b"], ["c", "(1, 2)"], ["(1, 2)", "b", "c"])]
    none = [one.question for one in questions(make_book(tmp_path / "none", questions=NONE_AND_ALL))]
    every = ["(1, 2)", "b", "c"]
    asked += [(question, given) for question in none for given in ([], ["b"], every, every[::-1])]
    asked += [(some[3], ["a" * 201]), (some[4], ["a" * 2000]), (some[4], ["a" * 2001]), (some[1], [])]
    for (question, given), said in zip(asked, browser_marks(require("node"), asked), strict=True):
        assert ("refused" if "refused" in said else said["mark"]) == python_mark(question, given), (question, given)


def python_mark(question: Question, given: list[str]) -> str:
    """The mark, or that the text is refused."""
    try:
        return {True: "right", False: "wrong", None: ""}[question.mark(given)]
    except Unanswerable:
        return "refused"
