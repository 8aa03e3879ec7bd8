"""Does every kernel compile for a card, fit on it, and take what the kept report says?"""

from __future__ import annotations

from importlib.resources import files
from types import ModuleType

import pytest

from benchmarks import registers
from glasstorch.devices import nvrtc
from tests.devices.compiler import compiler as compiler

REGISTERS = 65536  # of a multiprocessor; a block has to fit
THREADS = 1024  # of a block, where the kernel does not say
SHARED = 48 * 1024  # bytes that a kernel may have without asking
*OLDER, NEWEST = registers.ARCHITECTURES

Compiled = dict[tuple[registers.Program, str], nvrtc.Compiled]


@pytest.fixture(scope="module", params=[NEWEST, *(pytest.param(one, marks=pytest.mark.slow) for one in OLDER)])
def compiled(compiler: ModuleType, request: pytest.FixtureRequest) -> Compiled:
    """Every program for one architecture; the first that does not compile raises the compiler's words."""
    found = registers.compile_all(registers.programs(), [request.param])
    return {(program, architecture): code for program, architecture, code in found}


def listed(wrong: dict[str, object]) -> str:
    return "\n".join(f"{kernel}: {what}" for kernel, what in wrong.items())


def usages(compiled: Compiled) -> dict[str, nvrtc.Usage]:
    return {
        f"{program} {kernel} for {architecture}": usage
        for (program, architecture), code in compiled.items()
        for kernel, usage in code.usage.items()
    }


def test_every_file_is_launched_by_somebody() -> None:
    folder = files("glasstorch.kernels.cuda")
    there = {place.name for place in folder.iterdir() if place.name.endswith(".cu")}
    assert there == {file for file, _, _ in registers.declared()}


def test_every_declared_kernel_is_compiled(compiled: Compiled) -> None:
    for (program, _), code in compiled.items():
        assert set(program.expressions) <= set(code.usage), program


def test_the_compiler_warns_of_nothing(compiled: Compiled) -> None:
    warned = {f"{program} for {architecture}": code.log for (program, architecture), code in compiled.items()}
    assert not (wrong := {name: log for name, log in warned.items() if "warning" in log}), listed(wrong)


def test_no_kernel_spills(compiled: Compiled) -> None:
    assert not (wrong := {name: usage for name, usage in usages(compiled).items() if usage.spilled}), listed(wrong)


def test_a_full_block_of_every_kernel_fits(compiled: Compiled) -> None:
    wrong = {
        name: usage
        for name, usage in usages(compiled).items()
        if usage.registers * (usage.max_threads or THREADS) > REGISTERS or usage.shared > SHARED
    }
    assert not wrong, listed(wrong)


def test_the_kept_report_is_of_these_kernels(compiled: Compiled) -> None:
    where, kept = registers.kept()
    if not where.endswith(registers.by()):
        pytest.skip(f"the report is by another compiler: {where}; here is {registers.by()}")
    found = registers.report((program, architecture, code) for (program, architecture), code in compiled.items())
    architectures = {architecture for _, architecture in compiled}
    expected = {
        program: {
            kernel: {one: taken[one] for one in architectures if one in taken} for kernel, taken in kernels.items()
        }
        for program, kernels in kept.items()
    }
    assert found.keys() == expected.keys(), "`python -m benchmarks.registers` writes the report again"
    wrong: dict[str, object] = {
        name: f"the report says {expected[name]}, they take {found[name]}"
        for name in found
        if found[name] != expected[name]
    }
    assert not wrong, f"`python -m benchmarks.registers` writes the report again\n{listed(wrong)}"
