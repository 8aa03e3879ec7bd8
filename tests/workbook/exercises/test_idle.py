"""Is an assertion that catches nothing found, and one that catches something left alone?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbook.exercises.answer_file import AuthorError
from workbook.exercises.idle import assertions, idle

HEAD = "from workbook.exercises.asking import Ask, expect\n\n\n"
DOUBLE = "def double(x):\n    return {}\n"


@pytest.fixture
def wrong(tmp_path: Path) -> list[Path]:
    """Two wrong answers to `double`: one is right for 2 and -2, the other for numbers that are not negative."""
    texts = {"square": "x * abs(x)", "absolute": "abs(x) * 2"}
    for name, text in texts.items():
        (tmp_path / f"wrong_{name}.py").write_text(DOUBLE.format(text))
    return sorted(tmp_path.glob("wrong_*.py"))


def check(folder: Path, body: str) -> Path:
    """A check file with this body."""
    path = folder / "check_double.py"
    path.write_text(HEAD + body)
    return path


NEEDED = """
def test_small(ask: Ask) -> None:
    expect(ask("double", 3), 6)


def test_negative(ask: Ask) -> None:
    came = ask("double", -2).value
    assert came == -4
"""


def test_assertions_are_statements_of_both_kinds_with_their_lines() -> None:
    source = HEAD + NEEDED + "\n\ndef judge(x):\n    if x:\n        expect(x, 1)\n"
    found = assertions(source)
    lines = source.splitlines()
    assert [lines[one.line - 1].strip() for one in found] == [
        'expect(ask("double", 3), 6)',
        "assert came == -4",
        "expect(x, 1)",
    ]
    assert [one.function for one in found] == ["test_small", "test_negative", "judge"]
    assert [one.shared for one in found] == [False, False, True]


def test_an_assertion_that_alone_refuses_an_answer_is_needed(tmp_path: Path, wrong: list[Path]) -> None:
    assert [one.text for one in idle(check(tmp_path, NEEDED), wrong)] == []


def test_an_assertion_that_refuses_nothing_is_idle(tmp_path: Path, wrong: list[Path]) -> None:
    body = NEEDED + '\n\ndef test_two(ask: Ask) -> None:\n    expect(ask("double", 2), 4)\n'
    assert [one.text for one in idle(check(tmp_path, body), wrong)] == ["expect(ask('double', 2), 4)"]


def test_an_assertion_that_others_repeat_is_idle(tmp_path: Path, wrong: list[Path]) -> None:
    body = NEEDED + '\n\ndef test_again(ask: Ask) -> None:\n    expect(ask("double", -3), -6)\n'
    # -3 catches all that the others catch; nothing passes when one of them is taken out
    assert len(list(idle(check(tmp_path, body), wrong))) == 3


def test_an_assertion_in_a_helper_counts_for_all_tests_that_call_it(tmp_path: Path, wrong: list[Path]) -> None:
    body = """
def judge(ask: Ask, x: int) -> None:
    expect(ask("double", x), 2 * x)


def test_small(ask: Ask) -> None:
    judge(ask, 3)


def test_negative(ask: Ask) -> None:
    judge(ask, -3)
"""
    assert list(idle(check(tmp_path, body), wrong)) == []


def test_a_wrong_answer_that_the_whole_check_accepts_shows_nothing(tmp_path: Path) -> None:
    right = tmp_path / "wrong_only_elsewhere.py"
    right.write_text(DOUBLE.format("x + x"))
    assert len(list(idle(check(tmp_path, NEEDED), [right]))) == 2


@pytest.mark.parametrize(
    "test",
    [
        "def test_x(ask, tmp_path):\n    assert True\n",
        "import pytest\n\n@pytest.mark.parametrize('x', [1])\ndef test_x(ask):\n    assert True\n",
    ],
)
def test_a_test_that_cannot_be_run_alone_is_refused(tmp_path: Path, test: str) -> None:
    with pytest.raises(AuthorError, match="test_x has to take `ask` and nothing else"):
        list(idle(check(tmp_path, test), []))


def test_the_module_answer_is_as_it_was(tmp_path: Path, wrong: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "answer", mine := type(sys)("answer"))
    list(idle(check(tmp_path, NEEDED), wrong))
    assert sys.modules["answer"] is mine


def test_an_answer_that_raises_the_limit_of_recursion_has_raised_it_for_itself_only(tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    answer = tmp_path / "wrong_deep.py"
    answer.write_text("import sys\n\n\n" + DOUBLE.format("sys.setrecursionlimit(10**9) or 2 * abs(x)"))
    assert [one.text for one in idle(check(tmp_path, NEEDED), [answer])] == ["expect(ask('double', 3), 6)"]
    assert sys.getrecursionlimit() == limit


def test_another_judgement_may_say_which_tests_refuse_an_answer(tmp_path: Path, wrong: list[Path]) -> None:
    # as a repair's does, which puts each answer into a copy of its process
    asked: list[str] = []

    def refuses_all(tests: object, answer: Path) -> set[str]:
        asked.append(answer.name)
        return {"test_small", "test_negative"}

    found = idle(check(tmp_path, NEEDED), wrong, refuses_all)  # type: ignore[arg-type]
    assert len(list(found)) == 2  # whatever is removed, every answer stays refused
    assert {"wrong_absolute.py", "wrong_square.py"} == set(asked)
