"""Are single keys read, and is the terminal afterwards as it was before?"""

from __future__ import annotations

import io
import os
import pty
import sys
import termios
import time
from collections.abc import Iterator

import pytest

from workbook.exercises import keys
from workbook.exercises.keys import Keys, NoKeys, open_keys


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: the end that a person types at, and the end that a program reads."""
    person, program = pty.openpty()
    yield person, program
    os.close(person)
    os.close(program)


def test_keys_come_one_by_one_and_without_enter(terminal: tuple[int, int]) -> None:
    person, program = terminal
    with Keys(program) as opened:
        assert opened.available
        for typed, key in (("n", "n"), ("H", "h"), ("\x1b[A", ""), ("qq", "q"), ("\x04", "\x04"), ("ü", "ü")):
            os.write(person, typed.encode())
            assert opened.read(2) == key


def test_no_key_is_nothing_after_the_time(terminal: tuple[int, int]) -> None:
    with Keys(terminal[1]) as opened:
        began = time.monotonic()
        assert opened.read(0.05) == ""
        assert 0.04 < time.monotonic() - began < 60


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_the_terminal_is_restored(terminal: tuple[int, int], error: type[BaseException] | None) -> None:
    program = terminal[1]
    before = termios.tcgetattr(program)
    try:
        with Keys(program) as opened:
            assert termios.tcgetattr(program) != before
            termios.tcsetattr(program, termios.TCSANOW, before)
            opened.again()
            assert termios.tcgetattr(program) != before
            if error is not None:
                raise error
    except KeyboardInterrupt:
        pass
    assert termios.tcgetattr(program) == before


def test_a_terminal_that_is_gone_ends_the_reading(monkeypatch: pytest.MonkeyPatch, terminal: tuple[int, int]) -> None:
    person, program = terminal
    with Keys(program) as opened:
        os.write(person, b"x")
        monkeypatch.setattr(os, "read", lambda descriptor, size: b"")
        with pytest.raises(EOFError):
            opened.read(2)
        monkeypatch.undo()


def test_where_there_is_no_terminal_no_key_is_ever_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_keys(io.StringIO("n")) as opened:
        assert type(opened) is NoKeys
        assert not opened.available
        assert opened.read(0.01) == ""
        opened.again()
    with open(os.devnull, encoding="utf-8") as nothing:
        assert type(open_keys(nothing)) is NoKeys


def test_a_process_in_the_background_leaves_the_keys_alone(
    monkeypatch: pytest.MonkeyPatch, terminal: tuple[int, int]
) -> None:
    with os.fdopen(os.dup(terminal[1]), encoding="utf-8") as stream:
        monkeypatch.setattr(keys.os, "tcgetpgrp", lambda descriptor: os.getpgrp() + 1)
        assert type(open_keys(stream)) is NoKeys
        monkeypatch.setattr(keys.os, "tcgetpgrp", lambda descriptor: os.getpgrp())
        assert type(open_keys(stream)) is Keys


def test_the_module_for_windows_is_not_needed_here() -> None:
    assert "msvcrt" not in sys.modules
