"""What does a function do while a program runs, and where does a rule that looks right differ from it?

For functions whose source a section does not show, because an exercise asks for it.
"""

from __future__ import annotations

import enum
import functools
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbook.book.named import named
from workbook.book.showing import Shown, display

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
LONGEST = 60  # characters of one value
MOST = 8  # calls that are listed
PROGRAMS = ("glasstorch", "__main__")  # the modules in which a name may stand for the function

Function = Callable[..., Any]
Write = Callable[[Any], str]


def short(value: object) -> str:
    """A value in one line that is the same on every machine.

    >>> short((2, 3)), short(short), short("a" * 100)[-3:]
    ('(2, 3)', 'short', '...')
    """
    if isinstance(value, enum.Enum):
        return value.name
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    text = " ".join(ADDRESS.sub("", repr(value)).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def show_calls(name: str, program: Callable[[], object], *, write: Write = short, most: int = MOST) -> None:
    """Run a program, and list the different calls of a function in it, with what each returned.

    `name` is the function's dotted name, `write` how an argument or a result is written. Raises LookupError if the
    program never calls the function.
    """
    lines: Counter[str] = Counter()
    with recorded(name, lambda line: lines.update([line]), write):
        program()
    if not lines:
        raise LookupError(f"show_calls({name!r}, ...): the program never calls it\n  give one that does")
    told = [f"{line}{f'   ({times} times)' if times > 1 else ''}" for line, times in list(lines.items())[:most]]
    if len(lines) > most:
        told.append(f"... and {len(lines) - most} more")
    display(Shown("quote calls", f"{symbol_of(name)}, as it was called", (("text", "\n".join(told)),)))


def show_counterexamples(name: str, guess: Function, *calls: tuple[Any, ...], write: Write = short) -> None:
    """Call a function, and a guess at it, with the same arguments, and say where they differ.

    Raises AssertionError if they never do: then the guess would be right for all that is shown.
    """
    function, differ = named(name), 0
    assert callable(function), f"{name} is not a function"
    lines = []
    for arguments in calls:
        right, guessed = result(function, arguments, write), result(guess, arguments, write)
        differ += right != guessed
        call = called(symbol_of(name), arguments, {}, write)
        lines.append((f"{call} -> {right}", "as guessed" if right == guessed else f"guessed: {guessed}"))
    if not differ:
        raise AssertionError(f"show_counterexamples({name!r}, ...): the guess is right in all {len(calls)} calls")
    width = max(len(call) for call, _ in lines)
    text = "\n".join(f"{call:{width}}   {verdict}" for call, verdict in lines)
    display(Shown("quote calls", f"{symbol_of(name)}, and a guess", (("text", text),)))


def result(function: Function, arguments: tuple[Any, ...], write: Write) -> str:
    """What a call returns or raises, as text."""
    try:
        return write(function(*arguments))
    except Exception as error:  # noqa: BLE001 (whatever a guess raises)
        return f"raises {type(error).__name__}"


def called(symbol: str, arguments: tuple[Any, ...], named_ones: dict[str, Any], write: Write) -> str:
    """A call as text."""
    given = [*map(write, arguments), *(f"{key}={write(value)}" for key, value in named_ones.items())]
    return f"{symbol}({', '.join(given)})"


def symbol_of(name: str) -> str:
    """The name without its modules: `DispatchTable.__missing__`, `view_strides`.

    >>> symbol_of("glasstorch.core.geometry.view_strides")
    'view_strides'
    """
    owner, _, last = name.rpartition(".")
    return f"{owner.rpartition('.')[2]}.{last}" if isinstance(named(owner), type) else last


@contextmanager
def recorded(name: str, note: Callable[[str], None], write: Write) -> Iterator[None]:
    """Note each call of a function, wherever a module of the library or of the program has it under some name."""
    owner, _, last = name.rpartition(".")
    holder, symbol = named(owner), symbol_of(name)
    original = named(name)
    is_method = isinstance(holder, type)
    assert callable(original), f"{name} is not a function"

    @functools.wraps(original)
    def noted(*arguments: Any, **named_ones: Any) -> Any:
        call = called(symbol, arguments[is_method:], named_ones, write)  # before: it may change its arguments
        try:
            answer = original(*arguments, **named_ones)
        except Exception as error:
            note(f"{call} raises {type(error).__name__}")
            raise
        note(f"{call} -> {write(answer)}")
        return answer

    places: list[tuple[Any, str]] = [(holder, last)] if is_method else []
    for module in [] if is_method else list(sys.modules.values()):
        if getattr(module, "__name__", "").partition(".")[0] in PROGRAMS:
            places += [(module, key) for key, value in list(vars(module).items()) if value is original]
    for place, key in places:
        setattr(place, key, noted)
    try:
        yield
    finally:
        for place, key in places:
            setattr(place, key, original)
