"""Is each version's bytecode read in the words that the capture knows, and does the rest of a function keep them?"""

from __future__ import annotations

import dis
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._dynamo import optimize
from glasstorch.compiler.bytecode.assembled import Place, resume_code
from glasstorch.compiler.bytecode.breaks import EFFECTS, original_of
from glasstorch.compiler.bytecode.frame import LEAVING, Frame
from glasstorch.compiler.bytecode.instructions import instructions_of
from glasstorch.compiler.bytecode.liveness import live
from glasstorch.compiler.bytecode.vocabulary import CHANGES, JOINED, ROWS, SUPPORTED, rows_of, words_of
from tests.compiler.bytecode import python_programs, version_programs
from tests.compiler.bytecode.test_python import shown, whole

# What no function that is captured has, or what ends its graph: of any supported version.
NOT_EXECUTED = {
    "coroutines": "ASYNC_GEN_WRAP BEFORE_ASYNC_WITH END_ASYNC_FOR GET_AITER GET_ANEXT GET_AWAITABLE CLEANUP_THROW",
    "bodies of classes and modules": "LOAD_BUILD_CLASS SETUP_ANNOTATIONS LOAD_LOCALS STORE_NAME DELETE_NAME LOAD_NAME "
    "LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF LOAD_FROM_DICT_OR_GLOBALS IMPORT_STAR",
    "errors in groups": "CHECK_EG_MATCH PREP_RERAISE_STAR CALL_INTRINSIC_2",
    "type parameters": "CALL_INTRINSIC_1",
    "at prompts": "PRINT_EXPR",
    "never in a function's own bytecode": "INTERPRETER_EXIT RESERVED ENTER_EXECUTOR EXIT_INIT_CHECK",
}


def test_each_instruction_of_this_python_is_read_as_words_that_are_executed() -> None:
    names = {name for name, number in dis.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED_")}
    words = {word.name for name in names for arg in range(8) for word in words_of(ROWS, name, arg, (0, 0))}
    unknown = {word for word in words if word not in LEAVING and not hasattr(Frame, f"_{word}")}
    allowed = {name for line in NOT_EXECUTED.values() for name in line.split()}
    assert unknown <= allowed, sorted(unknown - allowed)


def test_rows_name_instructions_that_their_version_has() -> None:
    this = sys.version_info[:2]
    for name in CHANGES.get(this, ()):
        assert name in dis.opmap, name


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_rows_lead_to_words_that_are_executed(version: tuple[int, int]) -> None:
    """Of versions that do not run here, too."""
    rows = rows_of(version)
    for name in rows:
        for word in words_of(rows, name, 5, (0, 0)):
            assert word.name in LEAVING or hasattr(Frame, f"_{word.name}"), (name, word)


@pytest.mark.parametrize("name", EFFECTS)
def test_what_ends_a_graph_is_executed(name: str) -> None:
    assert hasattr(Frame, f"_{name}")
    assert ROWS.get(name) != JOINED


@pytest.mark.parametrize("program", version_programs.WHOLE, ids=lambda program: program.__name__)
def test_what_versions_compile_differently_is_captured(program: Callable[..., Any]) -> None:
    x = glasstorch.ones(2, 2)
    expected = shown(program(glasstorch, x))
    run = whole(program)
    assert [shown(run(glasstorch, x)), shown(run(glasstorch, x))] == [expected] * 2


@pytest.mark.parametrize("program", version_programs.IN_PARTS, ids=lambda program: program.__name__)
def test_what_versions_compile_differently_goes_on_in_parts(program: Callable[..., Any]) -> None:
    x = glasstorch.ones(2, 2)
    expected = shown(program(glasstorch, x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = optimize(lambda module, inputs: module.forward)(program)
        assert [shown(run(glasstorch, x)), shown(run(glasstorch, x))] == [expected] * 2
    assert run._optimized.breaks


def test_words_of_the_rest_are_those_of_the_function() -> None:
    """From each place at which a function can be cut."""
    count = 0
    for program in (*python_programs.PROGRAMS, *version_programs.IN_PARTS, *version_programs.WHOLE):
        code = program.__code__
        words = instructions_of(code)
        if any(word.name == "MAKE_CELL" for word in words[len(code.co_cellvars) :]):
            continue  # it is not cut
        for number in [number for number, word in enumerate(words) if word.name in EFFECTS][::7]:
            rest = resume_code(Place(code, 1, number + 1, (), live(code, number + 1)))
            found = instructions_of(rest)
            _, moved = original_of(rest, 0)
            for place, word in enumerate(found[number + 1 - moved :], number + 1):
                original = words[place]
                assert (word.name, word.line) == (original.name, original.line)
                count += 1
    assert count > 1000
