"""Does NVIDIA's compiler say what it found, where, and what a kernel takes?"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from glasstorch.devices import nvrtc
from tests.devices.compiler import compiler as compiler

TILE = """
#include <cuda_fp16.h>

template <typename T>
__global__ void __launch_bounds__(128) reverse(const T* from, T* to) {
    __shared__ T tile[64];
    tile[threadIdx.x % 64] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x % 64];
}
"""
# All of the array is wanted at once, and it has more elements than a thread has registers.
GREEDY = """
extern "C" __global__ void greedy(float* p) {
    float all[400];
    for (int i = 0; i < 400; i++) all[i] = p[i * 7];
    __syncthreads();
    for (int i = 0; i < 400; i++)
        for (int j = 0; j < 400; j++) p[i] += all[i] * all[j];
}
"""


def test_it_is_the_version_that_is_pinned(compiler: ModuleType) -> None:
    assert compiler.version() == (13, 0)


def test_name_expressions_instantiate_templates(compiler: ModuleType) -> None:
    compiled = compiler.compile(TILE, "tile.cu", "sm_90", ("reverse<float>", "reverse<__half>"))
    assert set(compiled.symbols) == set(compiled.usage) == {"reverse<float>", "reverse<__half>"}
    assert compiled.symbols["reverse<float>"].startswith("_Z7reverseIf")
    assert compiled.cubin.startswith(b"\x7fELF")


def test_the_report_tells_what_a_kernel_takes(compiler: ModuleType) -> None:
    usage = compiler.compile(TILE, "tile.cu", "sm_80", ("reverse<float>", "reverse<double>")).usage
    assert usage["reverse<float>"].shared == 64 * 4
    assert usage["reverse<double>"].shared == 64 * 8
    assert usage["reverse<float>"].max_threads == 128
    assert 4 <= usage["reverse<float>"].registers <= 32
    assert usage["reverse<float>"].spilled == usage["reverse<float>"].stack == 0


def test_a_spill_is_reported(compiler: ModuleType) -> None:
    usage = compiler.compile(GREEDY, "greedy.cu", "sm_90").usage["greedy"]
    assert usage.registers == 255
    assert usage.spilled > 0
    assert usage.max_threads == 0


def test_a_define_is_handed_on(compiler: ModuleType) -> None:
    source = 'extern "C" __global__ void fill(float* p) { p[0] = VALUE(1.0f); }'
    assert "fill" in compiler.compile(source, "fill.cu", "sm_90", options=("-DVALUE(x)=exp( x ) + 1",)).usage


def test_an_error_names_file_and_line(compiler: ModuleType) -> None:
    with pytest.raises(RuntimeError, match=r"Kernel compilation failed for sm_90:\nbad\.cu\(2\): error: .*missing"):
        compiler.compile('extern "C" __global__ void bad(int* p) {\n    *p = missing;\n}', "bad.cu", "sm_90")


def test_there_are_no_host_headers(compiler: ModuleType) -> None:
    with pytest.raises(RuntimeError, match='cannot open source file "cstdint"'):
        compiler.compile("#include <cstdint>\n", "host.cu", "sm_90")


def test_an_unknown_architecture_is_refused(compiler: ModuleType) -> None:
    with pytest.raises(RuntimeError, match="for sm_79:\nnvrtc: error: invalid value for --gpu-architecture"):
        compiler.compile(TILE, "tile.cu", "sm_79")


def test_what_was_compiled_before_is_read(
    compiler: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path))
    made = compiler.compiled(TILE, "tile.cu", "sm_90", ("reverse<float>",))

    def again(*arguments: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(compiler, "compile", again)
    assert compiler.compiled(TILE, "tile.cu", "sm_90", ("reverse<float>",)) == made
    for other in ((TILE, "tile.cu", "sm_80"), (TILE + "\n", "tile.cu", "sm_90"), (TILE, "other.cu", "sm_90")):
        with pytest.raises(AssertionError, match="compiled again"):
            compiler.compiled(*other, ("reverse<float>",))


def test_where_the_library_is_missing_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda", None)
    nvrtc.library.cache_clear()
    with pytest.raises(RuntimeError, match=r"NVRTC was not found .*pip install 'glasstorch\[nvrtc\]'"):
        nvrtc.library()
