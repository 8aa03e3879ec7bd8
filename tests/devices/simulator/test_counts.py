"""Are the accesses of a kernel counted as a card would make them?"""

from __future__ import annotations

import numpy as np
import pytest

from glasstorch.devices.simulator.module import Counts
from tests.devices.simulator.simulated import run

COPY = """extern "C" __global__ void f(const float* x, float* y, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * step];
}"""


def floats(count: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """So many floats that begin where a sector begins."""
    memory = np.zeros(count + 8, np.float32)
    return memory[-memory.ctypes.data % 32 // 4 :][:count]


def counts(source: str, *arguments: object, grid: int = 1, block: int = 32) -> Counts:
    counted = run(source, arguments, grid, block, count=True)
    assert counted is not None
    return counted


def test_a_fast_kernel_counts_nothing() -> None:
    assert run(COPY, [floats(32), floats(32), np.int32(1)]) is None


@pytest.mark.parametrize(("step", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32), (16, 32)])
def test_a_warp_that_strides_moves_more_sectors(step: int, sectors: int) -> None:
    found = counts(COPY, floats(64 * step), floats(64), np.int32(step), grid=2)
    assert (found.global_loads, found.global_loaded) == (64, 256)
    assert (found.global_stores, found.global_stored) == (64, 256)
    assert (found.load_requests, found.load_sectors) == (2, 2 * sectors)
    assert (found.store_requests, found.store_sectors) == (2, 8)


def test_one_place_for_all_lanes_is_one_sector() -> None:
    found = counts(COPY, floats(1), floats(32), np.int32(0))
    assert (found.load_requests, found.load_sectors) == (1, 1)


def test_a_loop_makes_a_request_each_time() -> None:
    source = """extern "C" __global__ void f(const float* x, float* y) {
      float sum = 0;
      for (int i = threadIdx.x; i < 128; i += 32) sum += x[i];
      y[threadIdx.x] = sum;
    }"""
    found = counts(source, floats(128), floats(32))
    assert (found.global_loads, found.load_requests, found.load_sectors) == (128, 4, 16)


def test_each_warp_makes_its_own_requests() -> None:
    found = counts(COPY, floats(64), floats(64), np.int32(1), block=64)
    assert (found.load_requests, found.load_sectors) == (2, 8)


def test_lanes_that_loop_longer_in_one_block_do_not_shift_the_next() -> None:
    source = """extern "C" __global__ void f(volatile float* y, int n) {
      int times = blockIdx.x == 0 && threadIdx.x < 16 ? n : 1;
      for (int i = 0; i < times; i++) y[threadIdx.x] = i;
    }"""
    found = counts(source, floats(32), np.int32(5), grid=2)
    assert (found.store_requests, found.store_sectors) == (5 + 1, 4 + 4 * 2 + 4)


def test_a_structure_lies_in_several_sectors() -> None:
    source = """struct Wide { double a[5]; };
    extern "C" __global__ void f(const Wide* x, Wide* y) { y[threadIdx.x] = x[threadIdx.x]; }"""
    found = counts(source, floats(320), floats(320))
    assert (found.global_loaded, found.load_requests, found.load_sectors) == (1280, 1, 40)


def test_a_vector_is_one_load() -> None:
    source = """extern "C" __global__ void f(const float4* x, float4* y) {
      float4 v = x[threadIdx.x];
      v.y += 1;
      y[threadIdx.x] = v;
    }"""
    found = counts(source, floats(128), floats(128))
    assert (found.global_loads, found.global_loaded) == (32, 512)
    assert (found.global_stores, found.global_stored) == (32, 512)
    assert (found.load_requests, found.load_sectors) == (1, 16)


def test_shared_memory_and_waiting_are_counted_apart() -> None:
    source = """extern "C" __global__ void f(float* y) {
      __shared__ float shared[64];
      shared[threadIdx.x] = 1;
      __syncthreads();
      float v = shared[threadIdx.x ^ 1] + shared[threadIdx.x];
      v = __shfl_xor_sync(0xffffffffu, v, 1);
      __syncwarp();
      if (__any_sync(0xffffffffu, v > 5)) atomicAdd(y, v);
      atomicAdd(y, 1.0f);
    }"""
    found = counts(source, floats(1), block=64)
    assert (found.shared_stores, found.shared_stored, found.shared_loads, found.shared_loaded) == (64, 256, 128, 512)
    assert (found.global_loads, found.global_stores, found.atomics) == (0, 0, 64)
    assert (found.barriers, found.warp_barriers, found.shuffles, found.votes) == (64, 64, 64, 64)


def test_tables_of_the_module_are_not_counted() -> None:
    source = """__constant__ float table[32] = {1};
    extern "C" __global__ void f(float* y) { y[threadIdx.x] = table[threadIdx.x]; }"""
    assert counts(source, floats(32)).global_loads == 0
