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
