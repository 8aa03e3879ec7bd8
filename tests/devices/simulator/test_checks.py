"""Are wrong accesses of kernels found where they are, and right ones left alone?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.devices.simulator.simulated import FILE, fault, run

ORDERS = ["forward", "reverse", "random"]
orders = pytest.mark.parametrize("order", ORDERS)

REVERSED = """extern "C" __global__ void f(const float* x, float* y) {
  __shared__ float shared[64];
  int t = threadIdx.x;
  shared[t] = x[t];
  %s
  y[t] = shared[63 - t];
}"""


def floats(count: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.arange(count, dtype=np.float32)


# Planted faults -------------------------------------------------------------------------------------------------


@orders
def test_a_race_in_shared_memory_is_found(order: str) -> None:
    found = fault(REVERSED % "", [floats(64), floats(64)], 1, 64, check=True, order=order)
    assert (found.code, found.file, found.line) == (719, FILE, 4)
    assert re.search(
        r"race on shared memory: written here, and read in line 6 by thread \(\d+, 0, 0\) of the same block, "
        r"without synchronization between them \(byte \d+ of its variable\)",
        found.what,
    )


@orders
def test_the_same_with_a_barrier_is_right(order: str) -> None:
    x, y = floats(64), floats(64)
    run(REVERSED % "__syncthreads();", [x, y], 1, 64, check=True, order=order)
    np.testing.assert_array_equal(y, x[::-1])


@orders
def test_a_race_in_global_memory_across_blocks_is_found(order: str) -> None:
    source = """extern "C" __global__ void f(float* y) {
      if (threadIdx.x == 0)
        y[0] += 1;
    }"""
    found = fault(source, [floats(1)], 3, 32, check=True, order=order)
    assert (found.code, found.line, found.thread) == (719, 3, (0, 0, 0))
    assert "race on global memory: read here, and written in line 3 by thread (0, 0, 0) of another block" in found.what
    assert "(byte 0 of a buffer of 4)" in found.what


@orders
@pytest.mark.parametrize(("place", "byte"), [("i", 400), ("i - 100", -400), ("4 * i", 400)])
def test_a_write_out_of_bounds_is_found(order: str, place: str, byte: int) -> None:
    source = f"""extern "C" __global__ void f(float* y) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      y[{place}] = i;
    }}"""
    if byte < 0:
        order = "forward"
    found = fault(source, [floats(100)], 2, 64, check=True, order=order)
    assert (found.code, found.line) == (700, 3)
    at = re.fullmatch(r"write of 4 bytes out of bounds: at byte (-?\d+) of a buffer of 400 bytes", found.what)
    assert at is not None
    assert int(at[1]) == byte if order == "forward" else int(at[1]) >= 400
    assert found.thread is not None


@orders
def test_an_uninitialised_read_is_found(order: str) -> None:
    source = """extern "C" __global__ void f(const float* x, float* y) {
      y[threadIdx.x] =
          x[threadIdx.x];
    }"""
    x, y = floats(32), floats(32)
    found = fault(source, [x, y], fresh=[x], check=True, order=order)
    assert (found.code, found.line) == (719, 3)
    assert re.fullmatch(r"read of global memory that has not been written \(byte \d+ of a buffer of 128\)", found.what)
    run(source, [x, y], fresh=[y], check=True, order=order)


@orders
def test_a_divergent_barrier_is_found(order: str) -> None:
    source = """extern "C" __global__ void f(float* y, int n) {
      if (threadIdx.x < n) {
        y[threadIdx.x] = 1;
        __syncthreads();
      }
    }"""
    found = fault(source, [floats(64), np.int32(40)], 1, 64, check=True, order=order)
    assert (found.code, found.line) == (719, 4)
    assert "reached by 40 threads of 64" in found.what


@orders
def test_a_misaligned_access_is_found(order: str) -> None:
    source = """extern "C" __global__ void f(float* y) {
      float4 v = reinterpret_cast<float4*>(y + 2)[threadIdx.x];
      y[0] = v.x;
    }"""
    memory = np.zeros(64 + 4, np.float32)
    y = memory[(-memory.ctypes.data % 16) // 4 :][:64]
    found = fault(source, [y], 1, 1, check=True, order=order)
    assert (found.code, found.line, found.thread) == (716, 2, (0, 0, 0))
    assert "misaligned access to a float4: its address must be a multiple of 16 bytes" in found.what
    assert "(byte 8 of a buffer of 256)" in found.what
    run(source.replace("y + 2", "y + 4"), [y], 1, 1, check=True, order=order)


@orders
def test_a_missing_syncwarp_is_found(order: str) -> None:
    source = """extern "C" __global__ void f(float* y) {
      __shared__ float shared[32];
      int t = threadIdx.x;
      shared[t] = 1;
      __syncwarp();
      for (int step = 16; step; step >>= 1) {
        if (t < step)
          shared[t] += shared[t + step];
        %s
      }
      if (t == 0) y[0] = shared[0];
    }"""
    y = floats(1)
    found = fault(source % "", [y], check=True, order=order)
    assert (found.code, found.line) == (719, 8)
    assert "race on shared memory" in found.what
    assert "in line 8 by thread" in found.what
    run(source % "__syncwarp();", [y], check=True, order=order)
    assert y[0] == 32


# More of each kind ----------------------------------------------------------------------------------------------


def test_shared_memory_out_of_bounds_does_not_reach_the_next_variable() -> None:
    source = """extern "C" __global__ void f(float* y) {
      __shared__ float a[16];
      __shared__ float b[16];
      if (threadIdx.x == 0) b[0] = 0;
      a[threadIdx.x] = 1;
      y[threadIdx.x] = a[threadIdx.x];
    }"""
    found = fault(source, [floats(17)], 1, 17, check=True)
    assert (found.code, found.line, found.thread) == (700, 5, (16, 0, 0))
    assert found.what == "write of 4 bytes out of bounds: at byte 64 of a shared variable of 64 bytes"


def test_dynamic_shared_memory_out_of_bounds() -> None:
    source = """extern "C" __global__ void f() {
      extern __shared__ double row[];
      row[threadIdx.x] = 1;
    }"""
    run(source, [], 1, 10, shared_memory=80, check=True)
    found = fault(source, [], 1, 11, shared_memory=80, check=True)
    assert (found.code, found.line, found.thread) == (700, 3, (10, 0, 0))
    assert found.what == "write of 8 bytes out of bounds: at byte 80 of dynamic shared memory of 80 bytes"


def test_shared_memory_that_nobody_wrote() -> None:
    source = """extern "C" __global__ void f(float* y) {
      __shared__ float shared[64];
      if (threadIdx.x < 32) shared[threadIdx.x] = 1;
      __syncthreads();
      y[threadIdx.x] = shared[threadIdx.x];
    }"""
    found = fault(source, [floats(64)], 1, 64, check=True)
    assert (found.code, found.line, found.thread) == (719, 5, (32, 0, 0))
    assert found.what == "read of shared memory that has not been written (byte 128 of its variable)"


def test_what_one_block_wrote_to_shared_memory_is_not_there_in_the_next() -> None:
    source = """extern "C" __global__ void f(float* y) {
      __shared__ float shared;
      if (blockIdx.x == 0) shared = 1;
      y[blockIdx.x] = shared;
    }"""
    found = fault(source, [floats(2)], 2, 1, check=True)
    assert (found.line, found.block) == (4, (1, 0, 0))


def test_a_read_only_buffer_cannot_be_written() -> None:
    x = floats(8)
    found = fault('extern "C" __global__ void f(float* x) {\n  x[3] = 1;\n}', [x], 1, 1, constant=[x], check=True)
    assert (found.code, found.line) == (700, 2)
    assert found.what == "write to memory that is read-only (byte 12 of a buffer of 32)"


def test_an_address_in_no_buffer() -> None:
    source = 'extern "C" __global__ void f(float* x, long long i) {\n  x[i] = x[0];\n}'
    found = fault(source, [floats(8), np.int64(1 << 40)], 1, 1, check=True)
    assert (found.code, found.line) == (700, 2)
    assert re.fullmatch(r"write of 4 bytes at 0x[0-9a-f]+, which lies outside all buffers", found.what)


def test_an_access_beyond_a_buffer_that_lies_in_another_passes() -> None:
    source = 'extern "C" __global__ void f(float* x, const float* y) {\n  x[%s] = y[0];\n}'
    memory = np.zeros(128 + 1, np.float32)
    x, y = memory[:4], memory[128:]
    run(source % "128", [x, y], 1, 1, check=True)
    assert fault(source % "127", [x, y], 1, 1, check=True).code == 700


def test_an_access_that_begins_inside_and_ends_outside() -> None:
    source = 'extern "C" __global__ void f(char* x) {\n  *(float4*)(x + 16) = make_float4(1, 2, 3, 4);\n}'
    memory = np.zeros(64, np.int8)
    x = memory[-memory.ctypes.data % 16 :][:24]
    found = fault(source, [x], 1, 1, check=True)
    assert (found.code, found.line) == (700, 2)
    assert found.what == "write of 16 bytes out of bounds: at byte 16 of a buffer of 24 bytes"


def test_a_line_inside_a_function_is_that_of_the_function() -> None:
    source = """__device__ __forceinline__ void put(float* y, int i) {
      y[i] = 1;
    }
    extern "C" __global__ void f(float* y) {
      put(y, threadIdx.x);
    }"""
    assert fault(source, [floats(31)], check=True).line == 2


def test_a_line_inside_the_simulators_headers_is_that_of_the_kernel() -> None:
    source = """extern "C" __global__ void f(const float* x, float* y) {
      y[threadIdx.x] =
          __ldg(x + threadIdx.x);
    }"""
    assert fault(source, [floats(31), floats(32)], check=True).line == 3


@orders
def test_neighbouring_bytes_do_not_race(order: str) -> None:
    source = """#include <cuda_fp16.h>
    extern "C" __global__ void f(__half* h, unsigned char* b, float* wide) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      h[i] = (float)h[i] * 2;
      b[i] += 1;
      if (i < 16) wide[i] = 1;
    }"""
    h, b = np.ones(64, np.float16), np.zeros(64, np.uint8)
    run(source, [h, b, floats(16)], 2, 32, check=True, order=order)
    assert (h == 2).all()
    assert (b == 1).all()


def test_a_narrow_access_races_with_a_wide_one() -> None:
    source = """extern "C" __global__ void f(int* y) {
      if (threadIdx.x) ((char*)y)[2] = 1;
      else
        y[0] = 7;
    }"""
    found = fault(source, [np.zeros(1, np.int32)], 1, 2, check=True)
    assert (found.line, found.code) == (2, 719)
    assert "written in line 4" in found.what
    assert fault(source, [np.zeros(1, np.int32)], 1, 2, check=True, order="reverse").line == 4


@orders
def test_atomics_do_not_race_with_each_other(order: str) -> None:
    y = np.zeros(1, np.float32)
    run('extern "C" __global__ void f(float* y) { atomicAdd(y, 1.0f); }', [y], 4, 64, check=True, order=order)
    assert y[0] == 256


@orders
def test_an_atomic_reads_what_it_updates(order: str) -> None:
    source = """extern "C" __global__ void f(float* y) {
      %s
      atomicAdd(y, 1.0f);
    }"""
    y = floats(2)
    found = fault(source % "", [y], fresh=[y], check=True, order=order)
    assert (found.code, found.line) == (719, 3)
    assert found.what == "read of global memory that has not been written (byte 0 of a buffer of 8)"
    run(source % "if (threadIdx.x == 0) y[0] = 0; __syncthreads();", [y], fresh=[y], check=True, order=order)


@orders
def test_an_atomic_races_with_a_plain_write(order: str) -> None:
    source = """extern "C" __global__ void f(float* y) {
      atomicAdd(y, 1.0f);
      if (threadIdx.x == 3)
        y[0] = 3;
    }"""
    found = fault(source, [floats(1)], 1, 64, check=True, order=order)
    assert found.code == 719
    assert {found.line, int(found.what.split(" in line ")[1].split()[0])} == {2, 4}


def test_a_plain_access_races_with_an_atomic_before_it() -> None:
    source = """extern "C" __global__ void f(float* y) {
      if (threadIdx.x < 31) atomicAdd(y, 1.0f);
      else
        y[0] %s;
    }"""
    for access in ("= 3", "+= 3"):
        found = fault(source % access, [floats(1)], check=True)
        assert (found.code, found.line) == (719, 4)
        assert "updated in line 2 by thread (30, 0, 0)" in found.what


LAST_BLOCK = """extern "C" __global__ void f(float* parts, unsigned* done, float* sum) {
  __shared__ bool last;
  parts[blockIdx.x] = 1;
  %s
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    sum[0] = 0;
    for (int i = 0; i < gridDim.x; i++)
      sum[0] += parts[i];
  }
}"""


@orders
def test_a_fence_and_an_atomic_order_blocks(order: str) -> None:
    arrays = [floats(5), np.zeros(1, np.uint32), floats(1)]
    run(LAST_BLOCK % "__threadfence();", arrays, 5, 1, check=True, order=order)
    assert arrays[2][0] == 5


@orders
def test_an_atomic_without_a_fence_orders_nothing(order: str) -> None:
    found = fault(LAST_BLOCK % "", [floats(5), np.zeros(1, np.uint32), floats(1)], 5, 1, check=True, order=order)
    assert (found.code, found.line) == (719, 10)
    assert "written in line 3 by thread (0, 0, 0) of another block" in found.what


def test_blocks_are_ordered_through_others() -> None:
    source = """extern "C" __global__ void f(float* x, unsigned* flags, float* y) {
      if (blockIdx.x == 0) x[0] = 5;
      __threadfence();
      if (blockIdx.x == 0) atomicAdd(flags, 1u);
      if (blockIdx.x == 1) { %s atomicAdd(flags + 1, 1u); }
      if (blockIdx.x == 2) {
        atomicAdd(flags + 1, 0u);
        y[0] = x[0];
      }
    }"""
    x, flags, y = floats(1), np.zeros(2, np.uint32), floats(1)
    run(source % "atomicAdd(flags, 0u);", [x, flags, y], 3, 1, check=True)
    assert y[0] == 5
    found = fault(source % "", [x, flags, y], 3, 1, check=True)
    assert (found.code, found.line, found.block) == (719, 8, (2, 0, 0))
    assert "written in line 2 by thread (0, 0, 0) of another block" in found.what


def test_a_shuffle_does_not_order_memory() -> None:
    source = """extern "C" __global__ void f(int* y) {
      __shared__ int shared[32];
      int t = threadIdx.x;
      shared[t] = t;
      %s
      y[t] = shared[t ^ 1];
    }"""
    found = fault(source % "__shfl_sync(0xffffffffu, t, 0);", [np.zeros(32, np.int32)], check=True)
    assert (found.code, found.line) == (719, 6)
    run(source % "__syncwarp();", [np.zeros(32, np.int32)], check=True)


def test_lanes_are_ordered_through_others() -> None:
    source = """extern "C" __global__ void f(int* y) {
      __shared__ int shared;
      int t = threadIdx.x;
      if (t == 0) shared = 5;
      if (t == 0 || t == 1) __syncwarp(3u);
      if (t == 1 || t == 2) %s
      if (t == 2) y[0] = shared;
    }"""
    y = np.zeros(1, np.int32)
    run(source % "__syncwarp(6u);", [y], 1, 3, check=True)
    assert y[0] == 5
    assert fault(source % ";", [y], 1, 3, check=True).line == 7


def test_a_write_is_compared_with_readers_of_two_warps() -> None:
    source = """extern "C" __global__ void f(int* y) {
      __shared__ int shared;
      int t = threadIdx.x;
      if (t == 0) shared = 5;
      __syncthreads();
      y[t] = shared;
      __syncwarp();
      if (t == 0)
        shared = 6;
    }"""
    run(source, [np.zeros(32, np.int32)], 1, 32, check=True)
    found = fault(source, [np.zeros(64, np.int32)], 1, 64, check=True, order="reverse")
    assert found.line == 9
    assert "read in line 6 by thread (63, 0, 0)" in found.what or "read in line 6 by thread (32, 0, 0)" in found.what


def test_a_write_is_compared_with_readers_of_earlier_blocks() -> None:
    source = """extern "C" __global__ void f(int* x, int* y) {
      y[blockIdx.x * 2 + threadIdx.x] = x[0];
      __syncthreads();
      if (blockIdx.x == 2 && threadIdx.x == 0)
        x[0] = 1;
    }"""
    found = fault(source, [np.zeros(1, np.int32), np.zeros(6, np.int32)], 3, 2, check=True)
    assert (found.line, found.block) == (5, (2, 0, 0))
    assert "read in line 2" in found.what
    assert "of another block" in found.what


def test_readers_of_an_earlier_block_are_not_forgotten_for_those_of_another_warp() -> None:
    source = """extern "C" __global__ void f(int* x, int* y) {
      y[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
      __syncthreads();
      if (blockIdx.x == 1 && threadIdx.x == 0)
        x[0] = 1;
    }"""
    found = fault(source, [np.zeros(1, np.int32), np.zeros(128, np.int32)], 2, 64, check=True)
    assert (found.line, found.block) == (5, (1, 0, 0))
    assert "read in line 2" in found.what
    assert "of another block" in found.what


def test_launches_are_ordered() -> None:
    y = np.zeros(4, np.float32)
    source = 'extern "C" __global__ void f(float* y) { y[(threadIdx.x + 1) % 4] = threadIdx.x; }'
    for _ in range(2):
        run(source, [y], 1, 4, check=True)


def test_tables_and_variables_of_the_module_are_no_fault() -> None:
    source = """__constant__ float table[4] = {1, 2, 3, 4};
    __device__ float weight = 2;
    __device__ float pick(const float* from, int i) { return from[i]; }
    extern "C" __global__ void f(float* y) {
      float local[4];
      for (int i = 0; i < 4; i++) local[i] = table[i] * weight;
      y[threadIdx.x] = pick(local, threadIdx.x & 3) + pick(table, threadIdx.x & 3);
    }"""
    y = floats(32)
    run(source, [y], check=True)
    np.testing.assert_array_equal(y, np.tile([3, 6, 9, 12], 8))


def test_an_atomic_on_a_variable_of_the_module_is_no_fault() -> None:
    source = """__device__ unsigned calls;
    extern "C" __global__ void f(unsigned* y) { y[threadIdx.x] = atomicAdd(&calls, 1u); }"""
    y = np.zeros(4, np.uint32)
    run(source, [y], 1, 4, check=True)
    np.testing.assert_array_equal(y - y[0], range(4))


def test_an_atomic_is_aligned_and_within_its_buffer() -> None:
    source = """extern "C" __global__ void f(char* y, int place) {
      atomicAdd((int*)(y + place), 1);
    }"""
    y = np.zeros(2, np.int32).view(np.int8)
    run(source, [y, np.int32(4)], check=True)
    found = fault(source, [y, np.int32(2)], check=True)
    assert (found.code, found.line) == (716, 2)
    assert (
        "misaligned access to a value that is updated atomically: its address must be a multiple of 4 bytes"
        in found.what
    )
    found = fault(source, [y, np.int32(8)], check=True)
    assert (found.code, found.line) == (700, 2)
    assert found.what == "write of 4 bytes out of bounds: at byte 8 of a buffer of 8 bytes"


def test_what_the_kernel_has_written_may_be_read() -> None:
    source = """extern "C" __global__ void f(float* y) {
      y[threadIdx.x] = 1;
      y[threadIdx.x] += %s;
    }"""
    y = floats(64)
    run(source % "y[threadIdx.x]", [y], 1, 32, fresh=[y], check=True)
    found = fault(source % "y[threadIdx.x + 32]", [y], 1, 32, fresh=[y], check=True)
    assert (found.line, found.what) == (
        3,
        "read of global memory that has not been written (byte 128 of a buffer of 256)",
    )


def test_structures_are_checked_as_a_whole() -> None:
    source = """struct Wide { double a[5]; };
    extern "C" __global__ void f(const Wide* x, Wide* y) {
      y[threadIdx.x] = x[threadIdx.x];
    }"""
    x, y = np.ones(20), np.zeros(19)
    found = fault(source, [x, y], 1, 4, check=True)
    assert (found.code, found.line, found.thread) == (700, 3, (3, 0, 0))
