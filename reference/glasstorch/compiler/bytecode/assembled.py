"""How is the rest of a function, from an instruction on, made a function of its own?

Mirrors: torch/_dynamo/resume_execution.py (ContinueExecutionCache)
Differs: the instruction before it, which no graph holds, is a function of its own too.
"""

from __future__ import annotations

import dis
import inspect
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

from glasstorch.compiler.bytecode.blocks import Block
from glasstorch.compiler.bytecode.breaks import EFFECTS, Rest, came_from
from glasstorch.compiler.bytecode.instructions import instructions_of
from glasstorch.compiler.bytecode.vocabulary import NULL_IS_BELOW, PAIRS

HAS_TO_BOOL: Final = "TO_BOOL" in dis.opmap
MISSING: Final = (
    'torch.compile cuts functions at graph breaks with the library bytecode; pip install "glasstorch[compile]"'
)


def library() -> Any:
    """The library that disassembles and assembles."""
    try:
        import bytecode
    except ImportError as error:
        raise ImportError(MISSING) from error
    return bytecode


@lru_cache(maxsize=1024)
def step_code(rest: Rest) -> CodeType:
    """The code of a function of what an instruction takes, which gives a tuple of what it leaves on the stack.

    Of a branch it gives the truth of the value.
    """
    b = library()
    line = rest.instruction.line
    made = b.Bytecode()
    made.name, made.filename, made.first_lineno = rest.code.co_name, rest.code.co_filename, rest.code.co_firstlineno
    if hasattr(made, "qualname"):
        made.qualname = rest.code.co_qualname
    made.flags = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
    made.argnames = [f"stack_{i}" for i, is_value in enumerate(rest.taken) if is_value]
    made.argcount = len(made.argnames)

    def add(name: str, *arg: Any) -> None:
        made.append(b.Instr(name, *arg, lineno=line))

    add("RESUME", 0)
    for i, is_value in enumerate(rest.taken):
        add(*(("LOAD_FAST", f"stack_{i}") if is_value else ("PUSH_NULL",)))
    if rest.branch is None:
        made += [_alone(b, one) for one in _real(b, rest.code)[rest.instruction.first : rest.instruction.last + 1]]
        add("BUILD_TUPLE", EFFECTS[rest.instruction.name][1](rest.instruction.arg))
    elif HAS_TO_BOOL:
        add("TO_BOOL")
    else:
        add("UNARY_NOT")
        add("UNARY_NOT")
    add("RETURN_VALUE")
    return made.to_code()  # type: ignore[no-any-return]


def _alone(b: Any, one: Any) -> Any:
    """An instruction as it is; one that would leave an empty place on the stack, beside a value, leaves the value."""
    if one.name == "LOAD_METHOD":
        return b.Instr("LOAD_ATTR", one.arg, location=one.location)
    if one.name in ("LOAD_ATTR", "LOAD_GLOBAL") and isinstance(one.arg, tuple):
        return b.Instr(one.name, (False, one.arg[1]), location=one.location)
    return one


def _real(b: Any, code: CodeType) -> list[Any]:
    """The instructions, without marks and those that do nothing."""
    return [one for one in b.Bytecode.from_code(code) if isinstance(one, b.Instr) and one.name != "NOP"]


class Place(NamedTuple):
    """Where a function goes on: the instruction, what is on the stack there, and the variables that are read later."""

    code: CodeType
    line: int  # that of the instruction before
    target: int
    stack: tuple[bool | Block, ...]  # values, or (False) nothing at all, or a block that is entered again
    names: tuple[str, ...]


def place_after(rest: Rest, target: int, pushed: int) -> Place:
    """Where a function goes on when an instruction has left so many values on the stack."""
    left: list[bool | Block] = [True] * pushed
    if rest.leaves_null:
        left.insert(0 if NULL_IS_BELOW else pushed, False)
    return Place(rest.code, rest.instruction.line, target, (*rest.kept, *left), rest.names)


@lru_cache(maxsize=1024)
def resume_code(place: Place) -> CodeType:
    """The code of the rest of a function from an instruction on.

    Its arguments are what is on the stack, and the variables that are read later; the variables that are shared with
    other functions are those of an outer function.
    """
    b = library()
    code, line, target = place.code, place.line, place.target
    made = b.Bytecode.from_code(code)
    arguments = [f"___stack{i}" for i in range(place.stack.count(True))]
    made.argnames = [*arguments, *place.names]
    made.argcount, made.posonlyargcount, made.kwonlyargcount = len(made.argnames), 0, 0
    made.flags &= ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    made.freevars = [*code.co_cellvars, *code.co_freevars]
    made.cellvars = []
    made.name = f"torch_dynamo_resume_in_{code.co_name}_at_{line}"
    if hasattr(made, "qualname"):
        made.qualname = made.name
    blocks = [one for one in made if isinstance(one, b.TryBegin)]
    for block, entry in zip(blocks, dis._parse_exception_table(code), strict=True):  # type: ignore[attr-defined]
        block.stack_depth = entry.depth  # the library would find it only where the function can still get
    label = b.Label()
    body: list[Any] = []
    begin = instructions_of(code)[target].first
    number = 0
    for one in made:
        if isinstance(one, b.Instr) and one.name != "NOP":
            number += 1
            if one.name in ("MAKE_CELL", "COPY_FREE_VARS", "RESUME"):
                continue
            if number == begin + 1:
                body.append(label)
            body += _on_variables(b, one, code)
            continue
        body.append(one)
    start = [b.Instr("COPY_FREE_VARS", len(made.freevars), lineno=line)] if made.freevars else []
    start.append(b.Instr("RESUME", 0, lineno=line))
    values = iter(arguments)
    for one in place.stack:
        loads = _entering(one) if isinstance(one, Block) else [("LOAD_FAST", next(values)) if one else ("PUSH_NULL",)]
        start += [b.Instr(*load, lineno=line) for load in loads]
    start.append(b.Instr("JUMP_FORWARD", label, lineno=line))
    made[:] = [*start, *body]
    found: CodeType = made.to_code(stacksize=code.co_stacksize + 2, compute_exception_stack_depths=False)
    jump = next(word for word in instructions_of(found) if word.name == "JUMP")
    came_from(found, code, jump.target - target)
    return found


def _entering(block: Block) -> list[tuple[Any, ...]]:
    """What enters a block and leaves on the stack what ends it."""
    called = [("PUSH_NULL",), ("LOAD_CONST", block.kind)]
    count = len(block.arguments)
    return [
        *(called if NULL_IS_BELOW else reversed(called)),
        *(("LOAD_CONST", argument) for argument in block.arguments),
        *([("PRECALL", count)] if "PRECALL" in dis.opmap else []),
        ("CALL", count),
        ("BEFORE_WITH",),
        ("POP_TOP",),
    ]


def _on_variables(b: Any, one: Any, code: CodeType) -> list[Any]:
    """An instruction in the rest of a function, where a variable that is shared is one of an outer function.

    One on two variables becomes two: variables are at other places there, and it has no room for the seventeenth.
    """
    if "FAST" not in one.name and not isinstance(one.arg, b.CellVar):
        return [one]
    pairs = zip(PAIRS[one.name], one.arg, strict=True) if one.name in PAIRS else [(one.name, one.arg)]
    made = []
    for name, arg in pairs:
        variable = arg.name if isinstance(arg, b.CellVar) else arg
        is_shared = isinstance(variable, str) and variable in code.co_cellvars
        made.append(b.Instr(name, b.FreeVar(variable) if is_shared else arg, location=one.location))
    return made


def function_of(code: CodeType, names: dict[str, Any], cells: tuple[Any, ...] = ()) -> FunctionType:
    """A function with this code, these globals, and these variables of outer functions."""
    return FunctionType(code, names, code.co_name, None, cells or None)
