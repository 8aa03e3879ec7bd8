"""Are the parts on the stack in the order in which they are stored, and what happens with too few?"""

from glasstorch.compiler.bytecode.frame import Frame
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.values import Constant, Function, Mapping, Sequence, Value, known
from workbook.exercises.asking import Ask, Raises, expect


def frame_with(*stack: Value) -> Frame:
    """A frame of a function without names, with these values on its stack."""
    frame = Frame(Recorder({}), Function((lambda: None).__code__, {}), {}, True)
    frame.stack = list(stack)
    return frame


def of_numbers(count: int, kind: type = tuple) -> Sequence:
    """The value of 1, 2, 3, ..., in a container of this class."""
    return Sequence([Constant(number) for number in range(1, count + 1)], kind)


def instruction(before: int, after: int) -> Instruction:
    """`UNPACK_EX` for so many names before the star and after it."""
    arg = before | after << 8
    return Instruction("UNPACK_EX", arg, arg, -1, 1)


def judge(ask: Ask, value: Value, before: int, after: int, accepted: list[object], because: str) -> None:
    """Execute the instruction with a value on the stack, and one below it that must stay."""
    frame = frame_with(Constant("below"), value)
    ask("unpack_ex", frame, instruction(before, after)).value  # noqa: B018  # refuses where it has raised an error
    asked = (
        f"the stack, its top on the right, after UNPACK_EX with {before} names before the star and {after} after it, "
        f"where {known(value)!r} was on top of 'below'"
    )
    expect([known(one) for one in frame.stack], ["below", *accepted], asked=asked, because=because)


def test_one_name_before_the_star(ask: Ask) -> None:
    """`first, *rest = items`"""
    because = "the first name's value is on top, and below it the list of the others"
    judge(ask, of_numbers(3), 1, 0, [[2, 3], 1], because)
    judge(ask, of_numbers(3, list), 1, 0, [[2, 3], 1], because)
    judge(ask, of_numbers(1), 1, 0, [[], 1], "a name with a star may get an empty list")
    judge(ask, of_numbers(4), 2, 0, [[3, 4], 2, 1], because)


def test_names_after_the_star(ask: Ask) -> None:
    """`first, *middle, last = items`, and `*most, last = items`"""
    because = "the last name's value is the lowest, and the list is between the others"
    judge(ask, of_numbers(5), 1, 1, [5, [2, 3, 4], 1], because)
    judge(ask, of_numbers(3), 0, 1, [3, [1, 2]], because)
    judge(ask, of_numbers(6), 2, 1, [6, [3, 4, 5], 2, 1], because)
    judge(ask, of_numbers(6), 1, 3, [6, 5, 4, [2, 3], 1], because)
    judge(ask, of_numbers(2), 0, 0, [[1, 2]], "there is no other name than the one with the star")


def test_values_that_are_no_sequences(ask: Ask) -> None:
    """values that stand for a string, a range and a dict"""
    because = "whatever can be iterated over can be unpacked, and the part with the star is a list"
    judge(ask, Constant("abc"), 1, 0, [["b", "c"], "a"], because)
    judge(ask, Constant(range(4)), 1, 1, [3, [1, 2], 0], because)
    judge(ask, Mapping({"k": Constant(1), "m": Constant(2)}), 1, 0, [["m"], "k"], because)


def test_too_few_items(ask: Ask) -> None:
    """values with fewer items than names without a star"""
    for count, before, after in ((0, 1, 0), (1, 1, 1), (2, 1, 2), (2, 3, 0)):
        least = before + after
        text = f"not enough values to unpack (expected at least {least}, got {count})"
        asked = f"{least} names without a star, and {count} items"
        came = ask("unpack_ex", frame_with(of_numbers(count)), instruction(before, after))
        expect(
            came, Raises(Raised, text), asked=asked, because="the program could catch this error, as Python raises it"
        )
