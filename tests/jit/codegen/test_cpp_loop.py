"""Does a loop in C++ compute what NumPy does, and is NumPy there where C++ cannot be?"""

from __future__ import annotations

import subprocess
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core import parallel
from glasstorch.core.dtype import bool_, dtype, float32, float64, int32, int64, uint8
from glasstorch.devices import cpp_compiler
from glasstorch.devices.cpp_compiler import CompileError
from glasstorch.jit import fuser
from glasstorch.jit.codegen import cpp_loop
from glasstorch.jit.codegen.cpp_loop import GRAIN_SIZE, CppLoop
from glasstorch.jit.codegen.fused_group import CPP_THRESHOLD, FusedGroup
from glasstorch.jit.codegen.lower import lower
from glasstorch.jit.codegen.numpy_loop import NumpyLoop
from glasstorch.jit.codegen.program import Constant, Loop, Step, UnfusableError
from glasstorch.jit.codegen.walk import plan_walk
from glasstorch.kernels.pointwise.vocabulary import VOCABULARY
from glasstorch.kernels.quiet import quietly
from tests.jit.codegen.groups import fused_words, group_of, same_to_the_bit
from tests.jit.codegen.test_fused_group import LAYOUTS, chain, of_a_bias, with_outputs

randn = glasstorch.randn

# Formulas that call a function of the C library, and by how many units in the last place they may be off.
INEXACT = {
    "exp": 2, "log": 2, "sin": 2, "cos": 2, "tanh": 3, "power": 2, "expm1": 2, "log1p": 2, "erf": 2,
    "rounded_exp": 2, "rounded_tanh": 3,
}  # fmt: skip
# What C++ has not, for any dtype.
NUMPY_ONLY = {"floor_divide", "remainder"}
ONLY_FLOATS = {"div", "sqrt", "trunc_divide", "reciprocal", *INEXACT}
# Formulas that NumPy or the operators' shape functions refuse for a dtype.
BITWISE = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}
REFUSED = {float32: BITWISE, float64: BITWISE, bool_: {"sub", "neg", "abs"}}
OF_ONE = {"neg", "abs", "sgn", "bitwise_not", "sqrt", "reciprocal", "cast", "copy", *INEXACT} - {"power"}
COMPARISONS = {"eq", "ne", "lt", "gt", "le", "ge"}


def every_formula(of: dtype) -> Loop:
    """A loop of all formulas that C++ has for a dtype, on a mask (0) and two arrays (1, 2), each with a result."""
    left_out = NUMPY_ONLY | REFUSED.get(of, set()) | (set() if of.is_floating_point else ONLY_FLOATS)
    names = sorted({*fused_words(), "cast", "copy"} - left_out)
    steps = []
    for slot, name in enumerate(names, start=3):
        operands = (0, 1, 2) if name == "where" else (1,) if name in OF_ONE else (1, 2)
        steps.append(Step(name, operands, slot, bool_ if name in COMPARISONS else of))
    return Loop((), tuple(steps), (0, 1, 2), tuple(step.slot for step in steps))


def specials(of: dtype, count: int) -> np.ndarray[Any, Any]:
    """Elements with all that is special in a dtype, and many that are not."""
    random = np.random.default_rng(count)
    if of.is_floating_point:
        values = random.normal(scale=3, size=count).astype(of.numpy)
        values[:9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 88.9, -104]
        return random.permutation(values)
    if of is bool_:
        return random.integers(0, 2, count).astype(bool)
    info = np.iinfo(of.numpy)
    values = random.integers(-9 if info.min else 0, 9, count).astype(of.numpy)
    values[:2] = info.min, info.max
    return random.permutation(values)


def units_off(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """The largest distance, in units in the last place; infinity where one is special and the other is not."""
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        off = np.abs(found.astype(np.longdouble) - wanted) / np.spacing(np.abs(wanted))
    return float(np.nan_to_num(np.where(same, 0, off), nan=np.inf).max())


@pytest.mark.parametrize("of", [bool_, uint8, int32, int64, float32, float64], ids=str)
def test_every_formula_gives_what_numpy_gives(of: dtype) -> None:
    loop = every_formula(of)
    count = 1037
    mask = np.random.default_rng(0).integers(0, 2, count).astype(bool)
    reads = [mask, specials(of, count), specials(of, count)[::-1].copy()]
    found, wanted = ([np.empty(count, step.dtype.numpy) for step in loop.steps] for _ in range(2))
    dtypes = [bool_, of, of, *(step.dtype for step in loop.steps)]
    CppLoop(loop, dtypes, plan_walk((count,), [(1,)] * len(dtypes)))((count,), [*reads, *found])
    NumpyLoop(loop, dtypes)((count,), [*reads, *wanted])
    for step, ours, theirs in zip(loop.steps, found, wanted, strict=True):
        if step.formula in INEXACT:
            exact = in_double(step.formula, [reads[slot] for slot in step.operands], of)
            assert units_off(ours, exact) <= INEXACT[step.formula], step.formula
        else:
            assert np.array_equal(ours, theirs, equal_nan=of.is_floating_point), step.formula


def in_double(formula: str, reads: list[Any], of: dtype) -> Any:
    """What a formula gives for floats of 64 bits, rounded to a dtype."""
    slots = range(len(reads))
    loop = Loop((), (Step(formula, tuple(slots), len(reads), float64),), tuple(slots), (len(reads),))
    exact = np.empty(reads[0].size)
    NumpyLoop(loop, [float64] * (len(reads) + 1))((exact.size,), [*(a.astype(np.float64) for a in reads), exact])
    return quietly(exact.astype, of.numpy)


def test_every_formula_is_there_or_known_not_to_be() -> None:
    assert {name for name in fused_words() if VOCABULARY[name].cpp is None} == NUMPY_ONLY


@pytest.mark.parametrize("name", sorted(ONLY_FLOATS))
def test_what_only_floats_have_is_left_to_numpy_for_integers(name: str) -> None:
    loop = Loop((), (Step(name, (0,) if name in OF_ONE else (0, 0), 1, int64),), (0,), (1,))
    with pytest.raises(UnfusableError):
        CppLoop(loop, [int64, int64], plan_walk((3,), [(1,), (1,)]))


NUMBERS = [0.1, -0.0, 1e-45, -3.4e38, float("inf"), float("-inf"), float("nan")]
INTEGERS = [0, -1, 2**63 - 1, -(2**63)]


def test_numbers_reach_the_text_to_the_bit() -> None:
    steps = [Step("copy", (Constant(value, float64),), slot, float64) for slot, value in enumerate(NUMBERS)]
    steps += [Step("copy", (Constant(value, int64),), len(steps) + i, int64) for i, value in enumerate(INTEGERS)]
    steps += [Step("copy", (Constant(value, bool_),), len(steps) + i, bool_) for i, value in enumerate((True, False))]
    loop = Loop((), tuple(steps), (), tuple(step.slot for step in steps))
    arrays = [np.empty(1, step.dtype.numpy) for step in steps]
    CppLoop(loop, [step.dtype for step in steps], plan_walk((1,), [(1,)] * len(steps)))((1,), arrays)
    wanted = [np.array([step.operands[0].value], step.dtype.numpy) for step in steps]  # type: ignore[union-attr]
    assert [a.tobytes() for a in arrays] == [b.tobytes() for b in wanted]


@pytest.mark.parametrize("of", [int32, int64], ids=str)
def test_integers_wrap_around_from_step_to_step(of: dtype) -> None:
    """A compiler that may take overflow for impossible makes `x + 1 > x` true."""
    largest = glasstorch.full((9,), np.iinfo(of.numpy).max, dtype=of)
    group = in_cpp(group_of(lambda x: (x + 1 > x, -(x + 1) * 2, (x + 1).abs() < 0), largest))
    for found, wanted in zip(group(largest), group.interpret(largest), strict=True):
        assert same_to_the_bit(found, wanted)


# Groups ----------------------------------------------------------------------------------------------------------


def in_cpp(group: FusedGroup) -> FusedGroup:
    """The same group with loops in C++."""
    with fuser("cpp"):
        return FusedGroup(group.subgraph)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_layout_in_memory_changes_the_result(layout: str) -> None:
    x, y = LAYOUTS[layout]()
    group = in_cpp(group_of(lambda x, y: (x * y + x > y, (x - y).relu()), x, y))
    plan = group.plan(x, y)
    assert plan is not None
    assert all(isinstance(loop.run, CppLoop) for loop in plan.loops)
    for found, wanted in zip(group(x, y), group.interpret(x, y), strict=True):
        assert same_to_the_bit(found, wanted)


@pytest.mark.parametrize("function", [chain, with_outputs, of_a_bias])
def test_several_operators_are_near_eager_mode(function: Any) -> None:
    x, y = randn(40, 300), randn(300)
    group = in_cpp(group_of(function, x, y))
    for found, wanted in zip(group(x, y), group.interpret(x, y), strict=True):
        assert np.allclose(found.numpy(), wanted.numpy(), rtol=1.3e-6, atol=1e-5)  # torch.testing's for float32


def runs_in(group: FusedGroup, *inputs: Any) -> list[type]:
    plan = group.plan(*inputs)
    assert plan is not None
    return [type(loop.run) for loop in plan.loops]


@pytest.mark.parametrize("shape", [(GRAIN_SIZE * 3 + 5,), (3, GRAIN_SIZE), (GRAIN_SIZE, 3)])
@pytest.mark.parametrize("threads", [1, 2, 3, 100])
def test_threads_change_no_bit(shape: tuple[int, ...], threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = randn(shape), randn(shape[-1])[:1].expand(shape)
    group = in_cpp(group_of(lambda x, y: (x * y).exp() + y, x, y))
    monkeypatch.setattr(parallel, "_chosen", 1)
    (wanted,) = group(x, y)
    monkeypatch.setattr(parallel, "_chosen", threads)
    started: list[Any] = []
    start = Thread.start
    monkeypatch.setattr(Thread, "start", lambda self: (started.append(self), start(self)))
    (found,) = group(x, y)
    assert same_to_the_bit(found, wanted)
    assert len(started) == min(threads, 3) - 1


def test_by_default_large_loops_are_in_cpp() -> None:
    small, large = randn(CPP_THRESHOLD - 1), randn(CPP_THRESHOLD)
    group = group_of(chain, small, small)
    assert runs_in(group, small, small) == [NumpyLoop]
    assert runs_in(group, large, large) == [CppLoop]


def test_a_fuser_may_be_chosen() -> None:
    x = randn(CPP_THRESHOLD)
    with fuser("numpy"):
        assert runs_in(group_of(chain, x, x), x, x) == [NumpyLoop]
    assert runs_in(in_cpp(group_of(chain, x, x)), x[:3], x[:3]) == [CppLoop]


def test_a_formula_without_cpp_is_left_to_numpy_and_told() -> None:
    x = glasstorch.arange(1, 9)
    told: list[str] = []
    with fuser("cpp"):
        group = FusedGroup(group_of(lambda x: (x // 3).exp(), x).subgraph, told.append)
    assert runs_in(group, x) == [NumpyLoop]
    assert told == ["in NumPy: no C++ for floor_divide"]


def test_without_a_compiler_numpy_is_used_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise CompileError("no compiler was found\ninstall one")

    monkeypatch.setattr(cpp_compiler, "compiler", none)
    monkeypatch.setattr(cpp_loop, "load", cpp_loop.load.__wrapped__)
    x = randn(5)
    told: list[str] = []
    with fuser("cpp"):
        group = FusedGroup(group_of(chain, x, x).subgraph, told.append)
    assert runs_in(group, x, x) == [NumpyLoop]
    assert told == ["in NumPy: no compiler was found"]
    assert same_to_the_bit(group(x, x)[0], group.interpret(x, x)[0])


def test_other_sizes_are_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = randn(6, 5), randn(5)
    group = in_cpp(group_of(chain, x, y))
    group(x, y)
    monkeypatch.setattr(cpp_loop, "library", None)
    group(randn(70, 5), y)
    group(randn(6, 9), randn(9))


def test_another_process_finds_what_was_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path))
    monkeypatch.setattr(cpp_loop, "load", cpp_loop.load.__wrapped__)  # forgets, as another process would
    x = randn(5)
    first = in_cpp(group_of(chain, x, x))(x, x)
    (made,) = (tmp_path / "fuser").iterdir()
    assert made.suffix == ".so"
    monkeypatch.setattr(subprocess, "run", None)
    second = in_cpp(group_of(chain, x, x))(x, x)
    assert same_to_the_bit(first[0], second[0])


def test_a_compilers_refusal_is_told_in_its_first_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp_loop, "HEAD", "#error one\n#error two\n")
    x = randn(5)
    told: list[str] = []
    with fuser("cpp"):
        group = FusedGroup(group_of(chain, x, x).subgraph, told.append)
    assert runs_in(group, x, x) == [NumpyLoop]
    (said,) = told
    assert said.startswith("in NumPy: ")
    assert "#error one" in said
    assert "two" not in said


def test_a_refused_text_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def refuse(*arguments: Any, **options: Any) -> None:
        calls.append(arguments)
        raise CompileError("no")

    monkeypatch.setattr(cpp_loop, "HEAD", "// a text that nobody has compiled\n")
    monkeypatch.setattr(cpp_loop, "library", refuse)
    x = randn(7, 9)
    group = in_cpp(group_of(chain, x, x))
    assert runs_in(group, x, x) == [NumpyLoop]
    assert runs_in(group, x[:4], x[:4]) == [NumpyLoop]
    assert len(calls) == 1


@pytest.mark.parametrize("damage", ["", "no library", "int other;"])
def test_a_damaged_file_is_made_again(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path))
    monkeypatch.setattr(cpp_loop, "load", cpp_loop.load.__wrapped__)  # forgets, as another process would
    x = randn(3, 5)
    group = in_cpp(group_of(chain, x, x))
    source = cpp_loop.write(*written(group, x))
    good = cpp_compiler.library(source, cpp_loop.options(), "fuser")
    good.unlink()
    if damage == "int other;":  # a library without the function
        cpp_compiler.library(damage, cpp_loop.options(), "fuser").rename(good)
    else:
        good.write_text(damage)
    assert runs_in(group, x, x) == [CppLoop]
    (found,), (wanted,) = group(x, x), group.interpret(x, x)
    assert np.allclose(found.numpy(), wanted.numpy(), rtol=1e-5)


def written(group: FusedGroup, x: Any) -> tuple[Loop, Any, Any]:
    """What the text of a group of inputs like x is written of."""
    program = lower(group.subgraph, (x, x))
    (loop,) = program.loops
    return loop, program.dtypes, plan_walk((x.numel(),), [(1,)] * (len(loop.reads) + len(loop.writes)))


def test_what_cannot_be_loaded_is_left_to_numpy_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.so"
    broken.write_text("broken")
    monkeypatch.setattr(cpp_loop, "library", lambda *arguments, **options: broken)
    monkeypatch.setattr(cpp_loop, "load", cpp_loop.load.__wrapped__)
    x = randn(5)
    told: list[str] = []
    with fuser("cpp"):
        group = FusedGroup(group_of(chain, x, x).subgraph, told.append)
    assert runs_in(group, x, x) == [NumpyLoop]
    assert told[0].startswith("in NumPy: what the compiler made cannot be loaded: ")
