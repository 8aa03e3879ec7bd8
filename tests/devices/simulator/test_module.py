"""Does a compiled module say which kernels it has, and what they take?"""

from __future__ import annotations

import pytest

from glasstorch.core.errors import ArgumentValueError
from glasstorch.devices.driver import Parameter
from glasstorch.devices.simulator.errors import CompileError, SimFault
from glasstorch.devices.simulator.module import SimModule, limit

SOURCE = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct Wide { double a; char b[5]; };
extern "C" __global__ void f(const float* a, double* __restrict__ b, void* c, const Wide d, bool e, unsigned char g,
                             const long long h, __half i, const __nv_bfloat16* j, float4* k, size_t l, signed char m) {}
template <class T, int N> __global__ void g(const T* x) {}
"""


def test_a_signature_is_what_the_source_says() -> None:
    kernel = SimModule(SOURCE, "f.cu").kernel("f")
    assert kernel.signature == (
        Parameter(True, True, "f", 4),
        Parameter(True, False, "f", 8),
        Parameter(True, False, "V", 0),
        Parameter(False, False, "V", 16),
        Parameter(False, False, "b", 1),
        Parameter(False, False, "u", 1),
        Parameter(False, False, "i", 8),
        Parameter(False, False, "f", 2),
        Parameter(True, True, "V", 2),
        Parameter(True, False, "V", 16),
        Parameter(False, False, "u", 8),
        Parameter(False, False, "i", 1),
    )


def test_instances_of_templates_have_the_names_that_asked_for_them() -> None:
    module = SimModule(SOURCE, "f.cu", ["g<int, 3>", "g<double,4>"])
    assert module.kernel("g<int, 3>").signature == (Parameter(True, True, "i", 4),)
    assert module.kernel("g<double,4>").signature == (Parameter(True, True, "f", 8),)


def test_a_kernel_that_is_not_there_is_cudas_error_500() -> None:
    with pytest.raises(SimFault, match=r"f\.cu has no kernel 'h'; it has f") as error:
        SimModule(SOURCE, "f.cu").kernel("h")
    assert error.value.code == 500


def test_a_header_of_the_host_is_refused_with_its_line() -> None:
    source = '#include <cuda_fp16.h>\n%s\n#include <stdio.h>\n%s\nextern "C" __global__ void f() {}'
    with pytest.raises(
        CompileError, match=r"f\.cu:3:\d+: error: #error cannot open stdio\.h: a kernel has no host"
    ) as error:
        SimModule(source % ("", ""), "f.cu")
    assert str(error.value).count("error:") == 1
    assert SimModule(source % ("#ifndef __CUDA_ARCH__", "#endif"), "f.cu").kernel("f")


@pytest.mark.parametrize("option", ["--use_fast_math", "-lineinfo", "-O3", "DN=1"])
def test_options_that_mean_nothing_here_are_refused_by_name(option: str) -> None:
    words = rf"f\.cu: the option '{option}' means nothing here; .* takes -DNAME=VALUE and -IFOLDER"
    with pytest.raises(CompileError, match=words):
        SimModule(SOURCE, "f.cu", options=["-DN=1", option])


@pytest.mark.parametrize("name", ["f; x", "g<int, 3>; x", "f x", "", "g<int, 3", "f{}"])
def test_what_is_no_kernels_name_is_refused(name: str) -> None:
    with pytest.raises(CompileError, match=rf"f\.cu: '{name}' is no kernel's name; expected a name, or an instance"):
        SimModule(SOURCE, "f.cu", [name])


def test_the_time_a_kernel_may_run_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSTORCH_KERNEL_LIMIT", "2.5")
    assert limit.__wrapped__() == 2.5
    for text in ("soon", "0", "-1", "nan"):
        monkeypatch.setenv("GLASSTORCH_KERNEL_LIMIT", text)
        with pytest.raises(ArgumentValueError, match=f"GLASSTORCH_KERNEL_LIMIT='{text}': expected a number of seconds"):
            limit.__wrapped__()
