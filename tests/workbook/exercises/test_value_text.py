"""Is a value shown in few characters, whatever it is?"""

from __future__ import annotations

from workbook.exercises.value_text import cut, kind_of, short


def test_values_are_shown_short_and_without_addresses() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise ValueError

    assert short((2, 3)) == "(2, 3)"
    assert len(short(list(range(10**6)))) < 400
    assert "0x" not in short(object())
    assert "Loud" in short(Loud())
    assert cut("x\n" * 100).endswith("(200 characters)")
    assert cut("x\n" * 100).count("\n") < 20
    assert (kind_of(1), kind_of("")) == ("an int", "a str")


def test_a_function_is_shown_as_it_is_written() -> None:
    pair = (lambda: 1, lambda: 2)

    def named() -> None: ...

    assert short(lambda x, *, by=2: x * by) == "lambda x, *, by=2: x * by"
    assert short({"f": named}) == "{'f': the function named}"
    assert short(pair[0]).startswith("the lambda of line ")
    assert short(eval("lambda: 3")) == "the lambda of line 1 of <string>"
