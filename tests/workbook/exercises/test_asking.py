"""Does asking capture what comes, and does judging say in words what is wrong with it?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch as torch
from workbook.exercises.answer_file import (
    MODULE,
    AuthorError,
    NotStarted,
    Refused,
)
from workbook.exercises.asking import Ask, Raises, close, equal, expect
from workbook.exercises.report import Refusal

ANSWER = """
class Node:
    pass

def double(number):
    return 2 * number

def as_list(number):
    return [number]

def nothing(number):
    number * 2

def refuse(number):
    raise ValueError("not a good number")

def outer(number):
    return refuse(number)

def stub(number):
    raise NotImplementedError

def change(numbers):
    numbers.clear()
    return numbers
"""
NAN = float("nan")


@pytest.fixture(autouse=True)
def without_answer() -> Iterator[None]:
    """Leave no module `answer` behind."""
    yield
    sys.modules.pop(MODULE, None)


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Asks the answer above."""
    path = tmp_path / "answer.py"
    path.write_text(ANSWER)
    return Ask(path)


def refused(action: Callable[[], object]) -> Refusal:
    """The refusal that something raises."""
    with pytest.raises(Refused) as info:
        action()
    return info.value.refusal


def test_a_call_gives_its_value_and_its_text(ask: Ask) -> None:
    came = ask("double", 4)
    assert (came.value, came.call, came.line) == (8, "double(4)", 5)
    assert ask("double", number=(1,)).call == "double(number=(1,))"


def test_the_text_of_a_call_is_what_was_passed_not_what_became_of_it(ask: Ask) -> None:
    assert ask("change", [1, 2]).call == "change([1, 2])"


def test_what_is_equal_is_accepted(ask: Ask) -> None:
    expect(ask("double", 4), 8)
    expect((1, [2.0], {"a": NAN}), (1, [2.0], {"a": NAN}))


def test_a_value_that_is_wrong_is_refused_with_all_that_is_known(ask: Ask) -> None:
    told = refused(lambda: expect(ask("double", 4), 9, because="why", asked="nine"))
    assert told == Refusal("nine", "double(4)", "8", "9", "why", 5)


def test_a_wrong_type_is_said_in_words(ask: Ask) -> None:
    told = refused(lambda: expect(ask("as_list", 4), (4,)))
    assert (told.came, told.accepted) == ("[4], a list", "(4,), a tuple")


def test_a_missing_return_is_guessed(ask: Ask) -> None:
    assert refused(lambda: expect(ask("nothing", 4), 8)).came == "None (is a `return` missing?)"
    expected = None
    assert refused(lambda: expect(8, expected)).accepted == "None"


@pytest.mark.parametrize(
    ("line", "guessed"),
    [
        ("pass", True),
        ("return", False),
        ("return None", False),
        ("return number if number > 9 else None", False),
        ("return {}.get(number, None)", True),
    ],
)
def test_a_missing_return_is_not_guessed_where_none_is_returned_in_writing(
    tmp_path: Path, line: str, guessed: bool
) -> None:
    path = tmp_path / "answer.py"
    path.write_text(f"def maybe(number):\n    if number < 0:\n        return number\n    {line}\n")
    told = refused(lambda: expect(Ask(path)("maybe", 4), 8))
    assert told.came == "None" + " (is a `return` missing?)" * guessed


@pytest.mark.parametrize(("accepted", "guessed"), [("8", True), ("8 if number else None", False), ("None", False)])
def test_a_missing_return_is_not_guessed_where_the_check_accepts_none(
    ask: Ask, tmp_path: Path, accepted: str, guessed: bool
) -> None:
    check = tmp_path / "check_nothing.py"
    check.write_text(
        "def judge(ask, expect):\n    expect(ask('nothing', 4), 7)\n\n"
        f"def later(ask, expect, number):\n    expect(ask('nothing', 4), {accepted})\n"
    )
    space: dict[str, Any] = {}
    exec(compile(check.read_text(), str(check), "exec"), space)
    told = refused(lambda: space["judge"](ask, expect))
    assert told.came == "None" + " (is a `return` missing?)" * guessed


def test_a_recursion_is_told_once_a_place(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("def even(n):\n    return odd(n - 1)\n\ndef odd(n):\n    return even(n - 1) if n > 5 else n / 0\n")
    told = refused(lambda: expect(Ask(path)("even", 10), True))
    assert told.trace == (
        "line 2, in even, 3 times: return odd(n - 1)",
        "line 5, in odd, 3 times: return even(n - 1) if n > 5 else n / 0",
    )
    path.write_text("".join(f"def f{i}():\n    return f{i + 1}()\n" for i in range(6)))
    assert [line[:7] for line in refused(lambda: expect(Ask(path)("f0"), 1)).trace] == [
        f"line {n}," for n in (6, 8)
    ] + [
        "line 10",
        "line 12",
    ]


def test_what_is_read_off_the_value_is_judged(ask: Ask) -> None:
    expect(ask("as_list", 3), 1, read=len)
    with pytest.raises(Refused) as refused:
        expect(ask("as_list", 3), 2, read=len, because="it is so")
    refusal = refused.value.refusal
    assert (refusal.input, refusal.came, refusal.accepted) == ("as_list(3)", "1", "2")
    with pytest.raises(Refused) as refused:
        expect(ask("refuse", 3), 2, read=len, because="it is so")
    refusal = refused.value.refusal
    assert (refusal.came, refusal.accepted) == ("ValueError: not a good number", "2")
    assert refusal.because == "it is so"


def test_of_a_tensor_that_is_not_row_major_the_strides_are_shown(ask: Ask) -> None:
    t = torch.tensor([[1, 2]])
    assert ask("as_list", t).call == "as_list(tensor([[1, 2]]))"
    assert ask("as_list", t[0, 0].expand(2)).call == "as_list(tensor([1, 1]) with strides (0,))"


def test_what_it_raises_is_a_refusal_with_its_lines(ask: Ask) -> None:
    told = refused(lambda: expect(ask("outer", 4), 8))
    assert told.came == "ValueError: not a good number"
    assert told.accepted == "8"
    assert told.line == 15
    assert told.trace == (
        "line 18, in outer: return refuse(number)",
        'line 15, in refuse: raise ValueError("not a good number")',
    )
    assert refused(lambda: ask("outer", 4).value).input == "outer(4)"


def test_an_exception_can_be_what_is_accepted(ask: Ask) -> None:
    expect(ask("refuse", 1), Raises(ValueError, "good"))
    other = refused(lambda: expect(ask("refuse", 1), Raises(ValueError, "bad")))
    assert other.accepted == "the function raises ValueError whose message has 'bad'"
    assert other.came == "ValueError: not a good number"
    assert refused(lambda: expect(ask("refuse", 1), Raises(TypeError))).accepted == "the function raises TypeError"
    assert refused(lambda: expect(ask("double", 1), Raises(ValueError))).came == "2"


def test_raises_needs_a_call() -> None:
    with pytest.raises(AuthorError, match="needs what `ask` returned"):
        expect(3, Raises(ValueError))


def test_a_stub_is_not_started(ask: Ask) -> None:
    with pytest.raises(NotStarted) as info:
        ask("stub", 1)
    assert (info.value.name, info.value.line) == ("stub", 21)


def test_a_class_is_got_by_name_and_what_is_missing_is_told(ask: Ask) -> None:
    assert ask.get("Node").__name__ == "Node"
    told = refused(lambda: ask.get("Tree"))
    assert told.came.startswith("answer.py has no Tree; it defines Node, double, as_list")


def test_another_judgement_takes_the_place_of_equality(ask: Ask) -> None:
    expect(ask("double", 2), 7, same=lambda value, accepted: value < accepted)
    with pytest.raises(Refused):
        expect(ask("double", 2), 4, same=lambda value, accepted: value is None)


@pytest.mark.parametrize(
    ("value", "accepted", "expected"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (True, 1, False),
        ((1, 2), (1, 2), True),
        ((1, 2), (1, 2, 3), False),
        ((1, 2.0), (1, 2), False),
        ([(1,)], [[1]], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        (NAN, NAN, True),
        (NAN, 1.0, False),
    ],
)
def test_equal_means_the_same_types_all_the_way_down(value: object, accepted: object, expected: bool) -> None:
    assert equal(value, accepted) is expected


def test_tensors_are_compared_by_shape_dtype_and_elements() -> None:
    three = torch.tensor([1.0, 2.0, NAN])
    assert equal(three, torch.tensor([1.0, 2.0, NAN]))
    assert not equal(three, torch.tensor([1.0, 2.0, 3.0]))
    assert not equal(three, torch.tensor([[1.0, 2.0, NAN]]))
    assert not equal(three, torch.tensor([1.0, 2.0, NAN], dtype=torch.float64))


def test_close_allows_rounding_and_nothing_else() -> None:
    one = torch.tensor([1.0])
    assert close(one + 1e-6, one)
    assert not close(one + 1e-3, one)
    assert not close(torch.tensor([1.0 + 1e-6], dtype=torch.float64), torch.tensor([1.0], dtype=torch.float64))
    assert not close(torch.tensor([[1.0]]), one)
    assert not close(1.0, one)


def test_the_answer_has_begun_when_it_is_loaded(tmp_path: Path) -> None:
    path, begun = tmp_path / "answer.py", tmp_path / "begun"
    path.write_text("from pathlib import Path\nknown = Path(__file__).with_name('begun').exists()\n")
    ask = Ask(path, begun)
    assert not begun.exists()
    assert ask.answer.known


# --- programs ---


def test_a_program_has_the_value_of_its_last_line(ask: Ask) -> None:
    came = ask.run("""
        x = torch.ones(2)
        x.add_(1)
        x.tolist()
    """)
    expect(came, [2.0, 2.0])
    assert came.call == "x = torch.ones(2)\nx.add_(1)\nx.tolist()"
    assert ask.last is came


def test_what_a_program_raises_is_kept(ask: Ask) -> None:
    expect(ask.run("torch.ones(2) @ torch.ones(3)"), Raises(RuntimeError, "size"))
    with pytest.raises(Refused) as caught:
        expect(ask.run("len(3)"), 1)
    assert caught.value.refusal.came == "TypeError: object of type 'int' has no len()"
    assert caught.value.refusal.input == "len(3)"


def test_an_answer_is_loaded_once_and_before_a_program_runs(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("x = 1\n")
    loaded: list[int] = []
    ask = Ask(path, loaded=lambda module: loaded.append(module.x))
    ask.run("1")
    ask.run("2")
    assert loaded == [1]
