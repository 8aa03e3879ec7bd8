"""Are kernels found in their files, compiled once, and read with the headers they include?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from glasstorch.core.errors import AcceleratorError
from glasstorch.devices import modules, runtime
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.simulator.errors import CompileError

# Kernels of the library: what a test launches, NVRTC must have seen.
FILL, ARANGE = ("fill.cu", "fill_elements"), ("fill.cu", "arange_whole")
FLIP, FLIP_BYTES = ("transformations.cu", "flip<unsigned int>"), ("transformations.cu", "flip<unsigned char>")
SUM = ("ELEMENT=float", "OPERATION=Sum")


class Recording(SimDriver):
    """A driver that notes what it is asked to compile."""

    def __init__(self) -> None:
        super().__init__(memory=1 << 20)
        self.asked: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []

    def load(self, source: str, file: str, expressions: Sequence[str] = (), options: Sequence[str] = ()) -> Any:
        self.asked.append((file, tuple(expressions), tuple(options)))
        return super().load(source, file, expressions, options)


@pytest.fixture
def driver() -> Iterator[Recording]:
    recording = Recording()
    runtime.use_driver(recording)
    yield recording
    runtime.use_driver(None)


TEXTS = {
    "one.cu": '#include "a.cuh"\n#include <cuda_fp16.h>\n#include "b.cuh"\nint last;\n',
    "a.cuh": '#pragma once\n#include "b.cuh"\nint a;\n',
    "b.cuh": "#pragma once\nint b;\n",
}


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Files of the tests in the place of the library's."""
    there = dict(TEXTS)
    monkeypatch.setattr(modules, "_read", lambda file: there[file])
    return there


# Sources --------------------------------------------------------------------------------------------------------


def test_headers_of_ours_stand_where_they_were_included_and_only_once(texts: dict[str, str]) -> None:
    lines = modules.source.__wrapped__("one.cu").splitlines()
    assert [line for line in lines if line] == [
        '#line 1 "a.cuh"',
        '#line 1 "b.cuh"',
        "int b;",
        '#line 3 "a.cuh"',
        "int a;",
        '#line 2 "one.cu"',
        "#include <cuda_fp16.h>",
        "int last;",
    ]


def test_lines_are_those_of_the_files(texts: dict[str, str]) -> None:
    places, file, number = {}, "one.cu", 1
    for line in modules.source.__wrapped__("one.cu").splitlines():
        if line.startswith("#line"):
            _, start, name = line.split()
            file, number = name.strip('"'), int(start)
            continue
        if line.startswith("int"):
            places[line] = (file, number)
        number += 1
    assert places == {"int b;": ("b.cuh", 2), "int a;": ("a.cuh", 3), "int last;": ("one.cu", 4)}


def test_a_mistake_in_a_header_has_the_headers_line(texts: dict[str, str]) -> None:
    texts["b.cuh"] = "#pragma once\n\nint b = unknown;\n"
    texts["one.cu"] += 'extern "C" __global__ void f() {}\n'
    with pytest.raises(CompileError, match=r"b\.cuh:3:\d+: error"):
        SimDriver(memory=1 << 20).load(modules.source.__wrapped__("one.cu"), "one.cu").kernel("f")


def test_every_file_of_the_library_can_be_read() -> None:
    for file in ("fill.cu", "transformations.cu", "reductions.cu"):
        assert '#include "' not in modules.source(file)


def test_a_file_that_is_not_there_is_named(driver: Recording) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no missing\.cu among the CUDA kernels"):
        modules.source("missing.cu")


# Kernels --------------------------------------------------------------------------------------------------------


def test_a_kernel_is_made_once(driver: Recording) -> None:
    assert modules.kernel(*FILL) is modules.kernel(*FILL)
    assert len(driver.asked) == 1


def test_kernels_in_c_linkage_share_a_compilation(driver: Recording) -> None:
    assert modules.kernel(*FILL).name == "fill_elements"
    assert modules.kernel(*ARANGE).name == "arange_whole"
    assert driver.asked == [("fill.cu", (), ())]


def test_instances_of_templates_are_compiled_one_by_one(driver: Recording) -> None:
    modules.kernel(*FLIP)
    modules.kernel(*FLIP_BYTES)
    modules.kernel(*FLIP)
    assert driver.asked == [(file, (instance,), ()) for file, instance in (FLIP, FLIP_BYTES)]


def test_defines_reach_the_compiler(driver: Recording) -> None:
    kernel = modules.kernel("reductions.cu", "reduce_rows", SUM)
    assert modules.kernel("reductions.cu", "reduce_columns", SUM) is not kernel
    assert driver.asked == [("reductions.cu", (), ("-DELEMENT=float", "-DOPERATION=Sum"))]


def test_another_driver_begins_anew(driver: Recording) -> None:
    first = modules.kernel(*FILL)
    second = Recording()
    runtime.use_driver(second)
    assert modules.kernel(*FILL) is not first
    assert len(second.asked) == len(driver.asked) == 1


def test_a_kernel_that_the_file_has_not_is_cudas_error_500(driver: Recording) -> None:
    loaded = driver.load(modules.source("fill.cu"), "fill.cu")
    with pytest.raises(AcceleratorError, match=r"fill\.cu has no kernel 'missing'") as error:
        loaded.kernel("missing")
    assert error.value.code == 500
