"""Do the threads of a simulated kernel run, wait and end as those of a card?"""

from __future__ import annotations

import ctypes
import platform
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from glasstorch.devices.simulator import module as sim_module
from tests.devices.simulator.simulated import FILE, fault, run

ROOT = Path(__file__).parents[4]
ORDERS = [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2), ("random", 3)]
orders = pytest.mark.parametrize(("order", "seed"), ORDERS)


# Threads and blocks ---------------------------------------------------------------------------------------------


@orders
def test_every_thread_of_every_block_runs_once(order: str, seed: int) -> None:
    seen = np.zeros((2 * 3 * 4, 3 * 5 * 7), np.int32)
    source = """extern "C" __global__ void f(int* seen) {
      int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      seen[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1 + block + thread;
    }"""
    run(source, [seen], (2, 3, 4), (3, 5, 7), order=order, seed=seed)
    np.testing.assert_array_equal(seen, 1 + np.arange(24)[:, None] + np.arange(105))


def order_of(order: str, seed: int) -> list[int]:
    """The numbers of the threads in the order in which they ran."""
    places = np.zeros(1 + 4 * 64, np.int32)
    source = """extern "C" __global__ void f(int* places) {
      places[1 + atomicAdd(places, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
    }"""
    run(source, [places], 4, 64, order=order, seed=seed)
    assert places[0] == 256
    return list(places[1:])


def test_orders_are_what_their_names_say() -> None:
    assert order_of("forward", 0) == list(range(256))
    assert order_of("reverse", 0) == list(range(255, -1, -1))
    drawn = order_of("random", 1)
    assert sorted(drawn) == list(range(256))
    assert drawn == order_of("random", 1)
    assert drawn != order_of("random", 2)
    warps = [thread // 32 for thread in drawn]
    assert sum(a != b for a, b in pairwise(warps)) > 16, "the threads of warps are mixed"


# Barriers and warps ---------------------------------------------------------------------------------------------


@orders
def test_a_barrier_lets_threads_read_what_others_wrote(order: str, seed: int) -> None:
    x = np.arange(3 * 200, dtype=np.float32)
    y = np.zeros_like(x)
    source = """extern "C" __global__ void f(const float* x, float* y) {
      __shared__ float shared[200];
      int i = blockIdx.x * 200 + threadIdx.x;
      for (int round = 0; round < 3; round++) {
        shared[threadIdx.x] = x[i] + round;
        __syncthreads();
        y[i] += shared[199 - threadIdx.x];
        __syncthreads();
      }
    }"""
    run(source, [x, y], 3, 200, order=order, seed=seed)
    np.testing.assert_array_equal(y, (3 * x + 3).reshape(3, 200)[:, ::-1].ravel())


@orders
def test_a_barrier_counts_votes(order: str, seed: int) -> None:
    votes = np.zeros((70, 3), np.int32)
    source = """extern "C" __global__ void f(int* votes, int n) {
      int t = threadIdx.x;
      votes[3 * t] = __syncthreads_count(t < n);
      votes[3 * t + 1] = __syncthreads_and(t < n);
      votes[3 * t + 2] = __syncthreads_or(t < n);
    }"""
    for n in (0, 41, 70):
        run(source, [votes, np.int32(n)], 1, 70, order=order, seed=seed)
        np.testing.assert_array_equal(votes, np.tile([n, n == 70, n > 0], (70, 1)))


@orders
@pytest.mark.parametrize("width", [32, 8])
def test_shuffles_take_values_from_other_lanes(order: str, seed: int, width: int) -> None:
    out = np.zeros((4, 64), np.float64)
    source = """extern "C" __global__ void f(double* out, int width) {
      int t = threadIdx.x;
      double value = t + 0.5;
      out[t] = __shfl_sync(0xffffffffu, value, t * 3 + 1, width);
      out[64 + t] = __shfl_up_sync(0xffffffffu, value, 3, width);
      out[128 + t] = __shfl_down_sync(0xffffffffu, value, 5, width);
      out[192 + t] = __shfl_xor_sync(0xffffffffu, value, 5, width);
    }"""
    run(source, [out, np.int32(width)], 1, 64, order=order, seed=seed)
    t = np.arange(64)
    first = t // width * width
    expected = np.stack(
        [
            first + (t * 3 + 1) % width,
            np.where(t - 3 < first, t, t - 3),
            np.where(t + 5 >= first + width, t, t + 5),
            t ^ 5,
        ]
    )
    np.testing.assert_array_equal(out, expected + 0.5)


@orders
def test_votes_of_a_warp(order: str, seed: int) -> None:
    out = np.zeros((3, 40), np.uint32)
    source = """extern "C" __global__ void f(unsigned* out) {
      int t = threadIdx.x;
      out[t] = __ballot_sync(0xffffffffu, t % 3 == 0);
      out[40 + t] = __any_sync(0xffffffffu, t == 33);
      out[80 + t] = __all_sync(0xffffffffu, t < 32);
    }"""
    run(source, [out], 1, 40, order=order, seed=seed)
    first = sum(1 << lane for lane in range(32) if lane % 3 == 0)
    second = sum(1 << lane for lane in range(8) if (32 + lane) % 3 == 0)
    np.testing.assert_array_equal(out[0], [first] * 32 + [second] * 8)
    np.testing.assert_array_equal(out[1], [0] * 32 + [1] * 8)
    np.testing.assert_array_equal(out[2], [1] * 32 + [0] * 8)


@orders
def test_the_halves_of_a_warp_may_shuffle_apart(order: str, seed: int) -> None:
    out = np.zeros(32, np.int32)
    source = """extern "C" __global__ void f(int* out) {
      int t = threadIdx.x, v = t;
      if (t < 16) {
        for (int i = 0; i < 3; i++) v = __shfl_xor_sync(0xffffu, v, 1);
      } else {
        v = __shfl_xor_sync(0xffff0000u, v, 2);
        __syncwarp(0xffff0000u);
      }
      out[t] = v;
    }"""
    run(source, [out], order=order, seed=seed)
    t = np.arange(32)
    np.testing.assert_array_equal(out, np.where(t < 16, t ^ 1, t ^ 2))


def test_a_lane_that_is_not_there_gives_a_shuffle_nan() -> None:
    out = np.zeros(20, np.float32)
    source = """extern "C" __global__ void f(float* out) {
      out[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1.0f, 16);
    }"""
    run(source, [out], 1, 20)
    np.testing.assert_array_equal(out, [1] * 4 + [np.nan] * 12 + [1] * 4)


def test_lanes_that_have_returned_are_not_waited_for() -> None:
    out = np.zeros(32, np.int32)
    source = """extern "C" __global__ void f(int* out) {
      if (threadIdx.x >= 24) return;
      out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 1);
    }"""
    run(source, [out])
    np.testing.assert_array_equal(out, [*(np.arange(24) ^ 1), *[0] * 8])


# Shared memory --------------------------------------------------------------------------------------------------


@orders
def test_shared_memory_of_a_template_and_of_the_launch(order: str, seed: int) -> None:
    x = np.arange(64, dtype=np.float64)
    y = np.zeros_like(x)
    source = """template <class T, int N> __global__ void g(const T* x, T* y) {
      extern __shared__ T dynamic[];
      __shared__ __align__(16) T fixed[N];
      int t = threadIdx.x;
      dynamic[t] = x[t];
      fixed[N - 1 - t] = 100 * x[t];
      __syncthreads();
      y[t] = dynamic[t ^ 1] + fixed[t];
    }"""
    run(source, [x, y], 1, 64, "g<double, 64>", 64 * 8, order, seed)
    np.testing.assert_array_equal(y, (np.arange(64) ^ 1) + 100 * x[::-1])


def test_shared_memory_starts_as_nan_in_every_block() -> None:
    y = np.zeros((3, 2, 32), np.float32)
    source = """extern "C" __global__ void f(float* y) {
      extern __shared__ float dynamic[];
      __shared__ float fixed[32];
      int t = threadIdx.x;
      y[blockIdx.x * 64 + t] = fixed[t];
      y[blockIdx.x * 64 + 32 + t] = dynamic[t];
      fixed[t] = dynamic[t] = 1;
    }"""
    run(source, [y], 3, 32, shared_memory=128)
    assert np.isnan(y[1:]).all()
    assert np.isnan(y[0]).all()


# Atomics --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [False, True])
def test_atomics(check: bool) -> None:
    places = np.array([0, 100, -100, 100, -1, 0, 0, 7, 3, 0], np.int32)
    floats = np.zeros(2, np.float64)
    source = """extern "C" __global__ void f(int* p, double* d) {
      int t = threadIdx.x;
      atomicAdd(p + 0, t);
      atomicSub(p + 1, 1);
      atomicMax(p + 2, t);
      atomicMin(p + 3, -t);
      atomicAnd(p + 4, ~(1 << t));
      atomicOr(p + 5, 1 << t);
      atomicXor(p + 6, t);
      atomicExch(p + 7, 9);
      int old = p[0] * 0, seen;
      do { seen = old; old = atomicCAS(p + 9, seen, seen + 2); } while (old != seen);
      atomicInc((unsigned*)p + 8, 10u);
      atomicAdd(d, 0.5);
      atomicAdd(d + 1, t);
    }"""
    source = source.replace("p[0] * 0", "0")
    run(source, [places, floats], 1, 32, check=check)
    assert list(places) == [496, 68, 31, -31, 0, -1, 0, 9, (3 + 32) % 11, 64]
    assert list(floats) == [16, 496]


# Faults ---------------------------------------------------------------------------------------------------------


def test_an_address_that_belongs_to_nobody_is_a_fault_with_its_line_and_the_process_survives() -> None:
    y = np.zeros(4, np.float32)
    source = """extern "C" __global__ void f(float* y, long long place) {
      if (threadIdx.x == 2 && blockIdx.x == 1)
        y[place] = 1;
      else
        y[threadIdx.x] = 1;
    }"""
    found = fault(source, [y, np.int64(1 << 42)], 2, 4)
    assert (found.code, found.file, found.line) == (700, FILE, 3)
    assert (found.thread, found.block) == ((2, 0, 0), (1, 0, 0))
    run(source, [y, np.int64(0)], 1, 4)
    np.testing.assert_array_equal(y, 1)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other CPUs give 0 and go on, as a card")
@pytest.mark.parametrize(("x", "y"), [(7, 0), (-(1 << 31), -1)])
def test_an_integer_division_that_has_no_result_is_a_fault(x: int, y: int) -> None:
    source = """extern "C" __global__ void f(int* z, int x, int y) {
      z[threadIdx.x] =
          x / (y + (int)threadIdx.x);
    }"""
    z = np.zeros(2, np.int32)
    found = fault(source, [z, np.int32(x), np.int32(y)], 1, 2)
    assert (found.code, found.line, found.thread) == (719, 3, (0, 0, 0))
    assert "integer division by 0" in found.what
    run(source, [z, np.int32(x), np.int32(1)], 1, 2)
    assert z[0] == x


def test_a_fault_behind_a_barrier_leaves_nothing_behind() -> None:
    y = np.zeros(1024, np.float32)
    source = """extern "C" __global__ void f(float* y, long long place) {
      __syncthreads();
      if (threadIdx.x == 40) y[place] = 1;
      __syncthreads();
      y[threadIdx.x] += 1;
    }"""
    for _ in range(3):
        assert fault(source, [y, np.int64(1 << 42)], 1, 1024).line == 3
    run(source, [y, np.int64(0)], 1, 1024)
    assert y.sum() == 1025


@orders
def test_a_barrier_that_some_threads_do_not_reach(order: str, seed: int) -> None:
    source = """extern "C" __global__ void f(int n) {
      if (threadIdx.x < n) {
        __syncthreads();
      }
    }"""
    found = fault(source, [np.int32(40)], 1, 64, order=order, seed=seed)
    assert (found.code, found.line) == (719, 3)
    assert "__syncthreads() was reached by 40 threads of 64, the others have returned" in found.what


def test_two_barriers_are_not_one() -> None:
    source = """extern "C" __global__ void f() {
      if (threadIdx.x < 40) {
        __syncthreads();
      } else {
        __syncthreads();
      }
    }"""
    found = fault(source, [], 1, 64)
    assert (found.code, found.line) == (719, 5)
    assert "different barriers: here and in line 3" in found.what


def test_a_place_in_an_included_file_is_named() -> None:
    source = """#line 1 "wait.cuh"
    __device__ void wait_here() {
      __syncthreads();
    }
#line 1 "planted.cu"
    extern "C" __global__ void f(int n) {
      if (threadIdx.x < 4) wait_here();
      if (threadIdx.x == n) assert(false);
      if (threadIdx.x >= 4) __syncthreads();
    }"""
    found = fault(source, [np.int32(-1)], 1, 8)
    assert (found.file, found.line) == ("planted.cu", 4)
    assert "here and in wait.cuh:2" in found.what
    assert fault(source, [np.int32(5)], 1, 8, order="reverse").line == 3


def test_a_warp_and_a_barrier_that_wait_for_each_other() -> None:
    source = """extern "C" __global__ void f() {
      if (threadIdx.x < 16)
        __syncwarp();
      __syncthreads();
    }"""
    found = fault(source, [])
    assert (found.code, found.line) == (719, 3)
    assert "deadlock: lanes wait for others of their warp, which wait at __syncthreads() in line 4" in found.what


def test_lanes_that_wait_with_different_masks() -> None:
    source = """extern "C" __global__ void f() {
      __syncwarp(threadIdx.x < 16 ? 0xffffffffu : 0xffff0001u | 1u << threadIdx.x);
    }"""
    found = fault(source, [])
    assert (found.code, found.line) == (719, 2)
    assert "deadlock: lanes of the warp wait for others that wait somewhere else" in found.what


def test_a_lane_outside_its_own_mask() -> None:
    found = fault('extern "C" __global__ void f() { __syncwarp(0xffu); }', [])
    assert (found.code, found.line, found.thread) == (719, 1, (8, 0, 0))
    assert "lane 8 is not in the mask 0x000000ff" in found.what


def test_lanes_of_one_mask_at_two_places() -> None:
    source = """extern "C" __global__ void f() {
      if (threadIdx.x < 16)
        __syncwarp();
      else
        __syncwarp();
    }"""
    found = fault(source, [])
    assert (found.code, found.line) == (719, 5)
    assert "wait at line 3: all must wait at the same line" in found.what


def test_an_assertion_is_cudas_error_710(capsys: pytest.CaptureFixture[str]) -> None:
    source = """extern "C" __global__ void f(int n) {
      printf("thread %d of %s, %.2f\\n", threadIdx.x, "three", 0.5);
      assert(threadIdx.x < n);
    }"""
    found = fault(source, [np.int32(2)], 1, 3)
    assert (found.code, found.line, found.thread) == (710, 3, (2, 0, 0))
    assert found.what == "Assertion `threadIdx.x < n` failed"
    lines = [f"[kernel] thread {t} of three, 0.50\n" for t in range(3)]
    assert capsys.readouterr().out == "".join(lines)


def test_what_does_not_fit_into_the_buffer_of_printf_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    source = """extern "C" __global__ void f() {
      for (int i = 0; i < 2000; i++) printf("%0128d\\n", i);
    }"""
    run(source, [], 1, 10)
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == (1 << 20) // 129
    assert lines[-1] == f"[kernel] {len(lines) % 2000 - 1:0128d}"
    assert last == f"[kernel] ({20000 * 129 - len(lines) * 129} bytes more did not fit into the buffer)"


def test_a_trap_ends_the_kernel() -> None:
    found = fault('extern "C" __global__ void f() {\n  if (threadIdx.x == 3) __trap();\n}', [])
    assert (found.code, found.line, found.thread) == (719, 2, (3, 0, 0))


@pytest.mark.parametrize("waits", ["", "__syncthreads();"])
def test_an_endless_kernel_is_ended(waits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_module, "limit", lambda: 0.2)
    source = f"""extern "C" __global__ void f(volatile int* y) {{
      {waits}
      while (*y == 0) {{}}
    }}"""
    begin = time.perf_counter()
    found = fault(source, [np.zeros(1, np.int32)])
    assert (found.code, found.what) == (702, "the kernel ran longer than 0.2 s")
    assert found.line == 3
    assert time.perf_counter() - begin < 100  # most of it compiles the kernel
    run(source, [np.ones(1, np.int32)])


def test_a_stack_that_overflows_is_a_fault() -> None:
    source = """__device__ int down(int n, volatile int* from) {
      volatile int here[64];
      here[n % 64] = from[n % 64];
      return n ? down(n - 1, here) + here[0] : here[0];
    }
    extern "C" __global__ void f(int* y, int n) { y[threadIdx.x] = down(n, y); }"""
    y = np.zeros(64, np.int32)
    run(source, [y, np.int32(100)])
    found = fault(source, [y, np.int32(1 << 20)])
    assert found.code == 700
    assert "stack of 131072 bytes overflowed" in found.what


# Limits ---------------------------------------------------------------------------------------------------------

EMPTY = 'extern "C" __global__ void f() {}'


@pytest.mark.parametrize(
    ("grid", "block", "shared", "code", "words"),
    [
        (1, 1025, 0, 9, r"block \(1025, 1, 1\) has 1025 threads; a block has at most 1024"),
        (1, (32, 33), 0, 9, "has 1056 threads"),
        (1, (1, 1, 65), 0, 9, r"block \(1, 1, 65\): each size must be at least 1, and at most \(1024, 1024, 64\)"),
        (1, 0, 0, 9, "each size must be at least 1"),
        (0, 1, 0, 9, r"grid \(0, 1, 1\)"),
        ((1, 65536), 1, 0, 9, r"grid \(1, 65536, 1\): .* at most \(2147483647, 65535, 65535\)"),
        (1, 1, 227 * 1024 + 1, 1, "232449 bytes of dynamic shared memory; a block has 232448"),
    ],
)
def test_sizes_that_a_card_refuses(grid: int, block: int, shared: int, code: int, words: str) -> None:
    found = fault(EMPTY, [], grid, block, shared_memory=shared)
    assert found.code == code
    assert found.thread is None
    with pytest.raises(type(found), match=words):
        raise found


def test_the_largest_sizes_run() -> None:
    run(EMPTY, [], 1, 1024, shared_memory=227 * 1024)
    run(EMPTY, [], (1, 65535), (1, 1, 64))


def test_too_much_shared_memory_is_refused_where_it_is_declared() -> None:
    source = """extern "C" __global__ void f(char* y) {
      __shared__ char a[30000];
      __shared__ char b[%d];
      a[0] = b[0] = 1;
      y[0] = a[0] + b[0];
    }"""
    y = np.zeros(1, np.int8)
    run(source % (48 * 1024 - 30000), [y])
    found = fault(source % (48 * 1024 - 29999), [y])
    assert (found.code, found.line) == (218, 3)
    assert "declares 49153 bytes of shared memory up to here; the maximum is 0xc000 (48 KB)" in found.what
    found = fault(source % 10000, [y], shared_memory=195 * 1024)
    assert (found.code, found.line) == (1, 3)
    assert "40000 bytes of shared memory are declared and 199680 requested at the launch" in found.what


# The process around -----------------------------------------------------------------------------------------------


def test_two_threads_of_the_host_may_launch() -> None:
    source = """extern "C" __global__ void f(int* y) {
      for (int i = 0; i < 50; i++) { __syncthreads(); y[blockIdx.x * 64 + threadIdx.x] += 1; }
    }"""
    arrays = [np.zeros(640, np.int32) for _ in range(4)]

    def launch(array: np.ndarray[tuple[int], np.dtype[np.int32]]) -> None:
        for _ in range(5):
            run(source, [array], 10, 64)

    threads = [threading.Thread(target=launch, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for array in arrays:
        np.testing.assert_array_equal(array, 250)


def test_a_kernels_variables_live_as_long_as_its_module() -> None:
    out = np.zeros(1, np.int32)
    source = """__device__ int calls;
    __constant__ int step[2] = {3, 4};
    extern "C" __global__ void f(int* out) { calls += step[1]; out[0] = calls; }"""
    first = [run(source, [out], 1, 1) or out[0] for _ in range(2)]
    assert first[1] - first[0] == 4


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE])
def test_signal_handlers_are_as_before(number: signal.Signals) -> None:
    library = ctypes.CDLL(None)
    saved, after = ((ctypes.c_void_p * 32)() for _ in range(2))
    library.sigaction(number, None, saved)
    library.signal(number, ctypes.c_void_p(1))  # SIG_IGN: not what the simulator installs
    try:
        run(EMPTY, [])
        library.sigaction(number, None, after)
    finally:
        library.sigaction(number, saved, None)
    assert after[0] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say how much address space a process uses")
def test_a_process_without_room_for_stacks_is_told_so() -> None:
    program = """
import resource
from tests.devices.simulator.simulated import fault
from glasstorch.devices.simulator.module import SimModule
source = 'extern "C" __global__ void f() {}'
SimModule(source, "planted.cu")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
found = fault(source, [])
print(found.code, found.what)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == "2 cannot reserve memory for the stacks of a block's threads\n", done.stderr
