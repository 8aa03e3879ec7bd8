"""Does the guard of a constant hold for the same constant, and for nothing else?"""

import enum
import math

import glasstorch as torch
from glasstorch.compiler.guards import Guards
from workbook.exercises.asking import Ask, expect


class Colour(enum.Enum):
    """Two members with values that other constants have."""

    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    """Members that equal numbers."""

    LOW = 1
    HIGH = 2


NAN = math.nan
ANOTHER_NAN = float("nan")


def judge(ask: Ask, value: object, other: object, accepted: bool, because: str) -> None:
    """Ask for the guards of a constant, and whether they hold for another object."""
    guards = Guards()
    came = ask("equal", guards, "L['value']", value)
    came.value  # noqa: B018  # refuses where the function has raised an error
    asked = f"whether the guards of {value!r} hold for {other!r} of class {type(other).__name__}"
    try:
        holds: object = guards.compiled()({"value": other}, {})
    except Exception as error:  # noqa: BLE001
        holds = f"{type(error).__name__}: {error}"
    expect(holds, accepted, asked=asked, because=f"{because}; the guards: {', '.join(map(str, guards.all))}")


def test_numbers_and_strings(ask: Ask) -> None:
    """the guards of a number and of a string"""
    for value, other in ((3, 4), ("relu", "tanh"), (2.5, 3.5), (b"a", b"b"), (1j, 2j), ("it's", "its"), (1, None)):
        judge(ask, value, value, True, "it is the same object")
        judge(ask, value, other, False, "it is another constant")


def test_equal_constants_of_other_classes(ask: Ask) -> None:
    """the guards of a constant, for equal ones of other classes"""
    for value, other in ((1, True), (1, 1.0), (True, 1), (False, 0), (1.0, 1), (0j, 0.0), (1, Level.LOW)):
        judge(ask, value, other, False, "a program can tell them apart by their class")


def test_copies(ask: Ask) -> None:
    """the guards of a constant, for an equal object elsewhere in memory"""
    pairs = (
        ("relu", str(b"relu", "ascii")),
        (10**30, int("1" + 30 * "0")),
        (2.5, float("2.5")),
        (range(3), range(3)),
        (slice(1, 2), slice(1, 2)),
        (frozenset("ab"), frozenset("ba")),
        (torch.device("cpu"), torch.device("cpu")),
    )
    for value, other in pairs:
        judge(ask, value, other, True, "where an object is in memory makes no difference")


def test_zeros_and_nan(ask: Ask) -> None:
    """the guards of zeros and of NaN"""
    for value, other, accepted, because in (
        (0.0, -0.0, False, "1 / x shows the sign of a zero"),
        (-0.0, 0.0, False, "1 / x shows the sign of a zero"),
        (0.0, 0.0, True, "both zeros have the same sign"),
        (complex(0, 0.0), complex(0, -0.0), False, "the imaginary parts have different signs"),
        (NAN, NAN, True, "it is the same object"),
        (NAN, ANOTHER_NAN, True, "what is computed with a NaN is the same for another NaN"),
        (NAN, 1.0, False, "it is another number"),
        (1.0, NAN, False, "it is another number"),
        (complex(NAN, 1), complex(ANOTHER_NAN, 1), True, "both parts are the same"),
        (math.inf, -math.inf, False, "it is another number"),
    ):
        judge(ask, value, other, accepted, because)


def test_objects_of_the_library(ask: Ask) -> None:
    """the guards of constants that cannot be written as code"""
    for value, other in (
        (torch.float32, torch.float64),
        (torch.device("cpu"), torch.device("meta")),
        (torch.strided, torch.sparse_coo),
        (torch.channels_last, torch.contiguous_format),
        (Colour.RED, Colour.GREEN),
        (Level.LOW, Level.HIGH),
        (Level.LOW, 1),
        (None, torch.float32),
        (..., None),
    ):
        judge(ask, value, value, True, "it is the same object")
        judge(ask, value, other, False, "it is another constant")
