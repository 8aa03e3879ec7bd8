"""What is left to do where a graph ends early: which instruction runs as it is, and what the rest of the function gets?

Mirrors: torch/_dynamo/symbolic_convert.py (break_graph_if_unsupported, create_call_resume_at)
Differs: any instruction in the table below can end a graph; in PyTorch calls, stores, comparisons and branches can, and
    elsewhere the function is cut at an earlier instruction and the rest runs as it is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import Final, NamedTuple

from glasstorch.compiler.bytecode.blocks import Block, block_left_by, can_be_entered_again
from glasstorch.compiler.bytecode.frame import Frame
from glasstorch.compiler.bytecode.frame_base import NULL
from glasstorch.compiler.bytecode.instructions import Instruction, instructions_of
from glasstorch.compiler.bytecode.liveness import is_in_a_loop, live
from glasstorch.compiler.bytecode.values import CellValue, Known, Value

# How many values an instruction takes from the stack, and how many it leaves there; `n` is its argument.
EFFECTS: Final[dict[str, tuple[Callable[[int], int], Callable[[int], int]]]] = {
    name: (taken, left)
    for names, taken, left in (
        ("CALL CALL_KW", lambda n: n + 2, lambda n: 1),
        ("CALL_FUNCTION_EX", lambda n: 3 + (n & 1), lambda n: 1),
        ("BINARY_OP BINARY_SUBSCR COMPARE_OP CONTAINS_OP IS_OP", lambda n: 2, lambda n: 1),
        ("BINARY_SLICE", lambda n: 3, lambda n: 1),
        ("UNARY_NEGATIVE UNARY_POSITIVE UNARY_INVERT UNARY_NOT GET_ITER", lambda n: 1, lambda n: 1),
        ("LOAD_ATTR LOAD_METHOD CONVERT_VALUE", lambda n: 1, lambda n: 1),
        ("FORMAT_VALUE", lambda n: 1 + (n & 4) // 4, lambda n: 1),
        ("BUILD_STRING", lambda n: n, lambda n: 1),
        ("STORE_SUBSCR", lambda n: 3, lambda n: 0),
        ("STORE_SLICE", lambda n: 4, lambda n: 0),
        ("DELETE_SUBSCR STORE_ATTR", lambda n: 2, lambda n: 0),
        ("DELETE_ATTR", lambda n: 1, lambda n: 0),
        ("UNPACK_SEQUENCE", lambda n: 1, lambda n: n),
        ("IMPORT_NAME", lambda n: 2, lambda n: 1),
        ("IMPORT_FROM", lambda n: 1, lambda n: 2),
        ("LOAD_GLOBAL", lambda n: 0, lambda n: 1),
    )
    for name in names.split()
}
BRANCHES: Final = (  # whether the value stays on the stack where the jump is taken
    ("IF_TRUE_OR_POP", True, True),
    ("IF_FALSE_OR_POP", False, True),
    ("IF_TRUE", True, False),
    ("IF_FALSE", False, False),
)
# Functions that look at the variables of the function that calls them: one that is cut in two would show others.
LOOKING: Final = frozenset(
    ["locals", "vars", "dir", "eval", "exec", "super", "breakpoint", "_getframe", "currentframe"]
)


class Rest(NamedTuple):
    """What runs after a graph that ended early."""

    code: CodeType
    number: int  # of the instruction that runs as it is
    taken: tuple[bool, ...]  # what the instruction takes from the stack: values, or (False) nothing at all
    kept: tuple[bool | Block, ...]  # what stays below; the end of a block as what makes it again
    names: tuple[str, ...]  # of the variables that are read later
    has_cells: bool

    @property
    def instruction(self) -> Instruction:
        """The instruction that runs as it is."""
        return instructions_of(self.code)[self.number]

    @property
    def blocks(self) -> list[Block]:
        """The `with` blocks in which it is."""
        return [one for one in self.kept if isinstance(one, Block)]

    @property
    def is_call(self) -> bool:
        """Whether the instruction is a call."""
        return self.instruction.name.startswith("CALL")

    @property
    def leaves_null(self) -> bool:
        """Whether the instruction leaves, beside a value, a place for the object of a method."""
        name = self.instruction.name
        return name == "LOAD_METHOD" or (name == "LOAD_GLOBAL" and bool(self.instruction.arg & 1))

    @property
    def branch(self) -> tuple[bool, bool] | None:
        """Of a branch: the truth that jumps, and whether the value stays where it does; else None."""
        name = self.instruction.name
        return next((found[1:] for found in BRANCHES if name.endswith(found[0])), None)


# Where the code of a function's rest comes from: the code of the function, and by how many numbers instructions moved.
_originals: weakref.WeakKeyDictionary[CodeType, tuple[CodeType, int]] = weakref.WeakKeyDictionary()


def came_from(rest: CodeType, original: CodeType, moved: int) -> None:
    """Note that the code of a function's rest was made of the function's."""
    _originals[rest] = (original, moved)


def original_of(code: CodeType, number: int) -> tuple[CodeType, int]:
    """An instruction of a function's rest, in the function itself: a loop comes to the same rest again."""
    original, moved = _originals.get(code, (code, 0))
    return original, number - moved


def can_break(frame: Frame) -> bool:
    """Whether the instruction that a frame was at can run as it is, and the rest be another function."""
    code, number = frame.code, frame.at
    instruction = instructions_of(code)[number]
    if instruction.name not in EFFECTS and not any(end in instruction.name for end, *_ in BRANCHES):
        return False
    if any(i.name == "MAKE_CELL" for i in instructions_of(code)[number:]):
        return False  # a comprehension has a variable of its own that others share, and here that is a name's place
    if not can_be_entered_again(frame) or is_in_a_loop(code, number):
        return False
    return LOOKING.isdisjoint(code.co_names) and not _is_looking(frame, instruction)


def _is_looking(frame: Frame, instruction: Instruction) -> bool:
    """Whether a call is one of a function that looks at variables, however it is named."""
    values = frame.stack if instruction.name.startswith("CALL") else []
    return any(isinstance(value, Known) and getattr(value.value, "__name__", "") in LOOKING for value in values)


def rest_of(frame: Frame) -> tuple[Rest, list[Value]]:
    """What is left to do, and the values that it needs, in order: taken, kept, variables, cells."""
    code, number = original_of(frame.code, frame.next)
    instruction = instructions_of(code)[number]
    is_branch = instruction.name not in EFFECTS
    count = 1 if is_branch else EFFECTS[instruction.name][0](instruction.arg)
    split = len(frame.stack) - count
    kept, taken = frame.stack[:split], frame.stack[split:]
    targets = [number + 1, instruction.target] if is_branch else [number + 1]
    read = {name for target in targets for name in live(code, target)}
    names = tuple(name for name in code.co_varnames if name in read and name in frame.variables)
    cells: list[Value] = [CellValue(frame.cells[name]) for name in (*code.co_cellvars, *code.co_freevars)]
    rest = Rest(
        code, number,
        tuple(value is not NULL for value in taken),
        tuple(block_left_by(value) or value is not NULL for value in kept), names, bool(cells),
    )  # fmt: skip
    values = [value for value in (*taken, *kept) if value is not NULL and block_left_by(value) is None]
    passed_on = getattr(frame.variables, "passed_on", frame.variables.__getitem__)
    return rest, [*values, *(passed_on(name) for name in names), *cells]
