"""Is the text of CUDA C++ changed only where C++ has no word for it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from glasstorch.devices.simulator.errors import CompileError
from glasstorch.devices.simulator.source import blanked, kernel_names, rewritten, without_host_headers


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ("__shared__ int n;", "auto& n = sim::shared<int, 0>(SIM_HERE);"),
        ("__shared__ unsigned long long n;", "auto& n = sim::shared<unsigned long long, 0>(SIM_HERE);"),
        ("__shared__ float a[4][N + 1];", "auto& a = sim::shared<float [4][N + 1], 0>(SIM_HERE);"),
        (
            "__shared__ float a[f(1, 2)], b;",
            "auto& a = sim::shared<float [f(1, 2)], 0>(SIM_HERE); auto& b = sim::shared<float, 1>(SIM_HERE);",
        ),
        ("__shared__ Pair<int, float> p[3];", "auto& p = sim::shared<Pair<int, float> [3], 0>(SIM_HERE);"),
        ("__shared__ __align__(16) char a[64];", "auto& a = sim::shared<char [64], 0, 16>(SIM_HERE);"),
        ("__shared__ alignas(8) char a[64];", "auto& a = sim::shared<char [64], 0, 8>(SIM_HERE);"),
        (
            "__shared__ float a[2], *p;",
            "auto& a = sim::shared<float [2], 0>(SIM_HERE); auto& p = sim::shared<float *, 1>(SIM_HERE);",
        ),
        ("__shared__ const T* row;", "auto& row = sim::shared<const T *, 0>(SIM_HERE);"),
        ("__shared__ volatile int n;", "auto& n = sim::shared<int, 0>(SIM_HERE);"),
        ("extern __shared__ float row[];", "auto* row = sim::dynamic<float>();"),
        ("extern __shared__ __align__(16) unsigned char row[];", "auto* row = sim::dynamic<unsigned char>();"),
    ],
)
def test_a_shared_declaration_becomes_a_reference(declaration: str, text: str) -> None:
    assert rewritten(declaration) == text


def test_two_declarations_have_two_numbers() -> None:
    text = rewritten("__shared__ int a; __shared__ int b;")
    assert "sim::shared<int, 0>" in text
    assert "sim::shared<int, 100>" in text


def test_lines_stay_where_they_are() -> None:
    text = rewritten("int a;\n__shared__ float\n  b[2];  // why\nint c;")
    assert text.splitlines()[3] == "int c;"
    assert "// why" in text


@pytest.mark.parametrize("text", ["// __shared__ int n;\n", "/* __shared__ int n; */", '"__shared__ int n;"'])
def test_comments_and_strings_are_left_alone(text: str) -> None:
    assert rewritten(text) == text


def test_an_unreadable_declaration_is_refused_with_its_text() -> None:
    with pytest.raises(CompileError, match=r"cannot read the declaration `__shared__ n;`"):
        rewritten("__shared__ n;")


def test_the_kernels_in_c_linkage_are_found_in_order() -> None:
    source = """
    // extern "C" __global__ void not_me() {}
    extern "C" __global__ void one(int n) {}
    extern "C" __global__ __launch_bounds__(256, 2) void two() {}
    extern "C" __global__ void __launch_bounds__(256) three() {}
    extern "C" __device__ void helper() {}
    template <class T> __global__ void four(T x) {}
    extern "C" {
    __device__ int help(int x) { return x; }
    __global__ void five(int n) {}
    }
    """
    assert kernel_names(source) == ["one", "two", "three", "five"]


@pytest.mark.parametrize(
    ("include", "error"),
    [
        ("#include <stdio.h>", "#error cannot open stdio.h: a kernel has no host headers; "),
        ('  # include "stdio.h"  // for printf', "  # error cannot open stdio.h: a kernel has no host headers; "),
        ("#include <mine/users.h>", "#error cannot open mine/users.h: a kernel has no host headers; "),
    ],
)
def test_the_include_of_a_header_that_a_kernel_cannot_have_becomes_an_error(include: str, error: str) -> None:
    text = without_host_headers(f"int a;\n{include}\nint b;")
    assert text == f"int a;\n{error}printf and the math functions are there without\nint b;"


def test_headers_of_cuda_and_of_given_folders_stay(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "users.h").touch()
    text = '#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include "inner/users.h"\n// #include <stdio.h>\n'
    assert without_host_headers(text, [str(tmp_path)]) == text
    assert without_host_headers(text) != text


def test_blanking_keeps_places_and_lines() -> None:
    text = 'a /* b\nc */ "d // e" // f\ng'
    assert blanked(text) == f"a {' ' * 4}\n{' ' * 18}\ng"
    assert blanked(text, strings=False) == f'a {" " * 4}\n{" " * 5}"d // e"{" " * 5}\ng'
