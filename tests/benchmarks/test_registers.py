"""Does the report say what the compiler said?"""

from __future__ import annotations

import json
from types import ModuleType

from benchmarks import registers
from tests.devices.compiler import compiler as compiler

TAKEN = {
    "copy.cu": {"copy": {"sm_80": {"registers": 20}, "sm_90": {"registers": 24, "shared": 64}}},
    "sum.cu -DN=1": {"rows": {"sm_80": {"registers": 30, "spilled": 8}, "sm_90": {"registers": 31}}},
    "sum.cu -DN=2": {"rows": {"sm_80": {"registers": 40}, "sm_90": {"registers": 10}}},
}


def test_a_program_is_named_after_file_and_defines() -> None:
    assert str(registers.Program("sum.cu", ("N=1", "T=float"), ("rows",))) == "sum.cu -DN=1 -DT=float"


def test_kernels_with_the_same_defines_make_one_program() -> None:
    programs = registers.programs()
    assert len({(program.file, program.defines) for program in programs}) == len(programs)
    kernels = {(p.file, expression, p.defines) for p in programs for expression in p.expressions}
    assert kernels == registers.declared()


def test_the_table_has_the_most_of_each_file(compiler: ModuleType) -> None:
    lines = registers.table(TAKEN).splitlines()
    assert lines[2:4] == ["| copy.cu | 1 | 24 | 64 | 0 | 0 |", "| sum.cu | 2 | 40 | 0 | 0 | 8 |"]
    assert lines[-1].endswith("NVRTC 13.0, sm_80 and sm_90.")


def test_the_report_has_a_line_for_each_kernel(compiler: ModuleType) -> None:
    text = registers.as_json(TAKEN)
    assert json.loads(text) == {"where": registers.where(), "programs": TAKEN}
    assert '   "copy": {"sm_80": {"registers": 20}, "sm_90": {"registers": 24, "shared": 64}}\n' in text


def test_the_report_leaves_out_what_is_zero(compiler: ModuleType) -> None:
    (program,) = [program for program in registers.programs() if program.file == "joining.cu"]
    for taken in registers.report(registers.compile_all([program]))["joining.cu"].values():
        assert list(taken) == ["sm_80", "sm_90"]
        assert all(value > 0 for row in taken.values() for value in row.values())
        assert all("registers" in row for row in taken.values())
