"""What does a kernel cost on the simulated CUDA device: to compile, to load, to launch, to run?

    python -m benchmarks.simulator

It prints a table with the project's own limits. The numbers are the CPU's: they say nothing about a card.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from os import environ
from unittest.mock import patch

import numpy as np

import glasstorch
from benchmarks.harness import repeat
from glasstorch._tensor import Tensor
from glasstorch.devices import modules, runtime
from glasstorch.devices.driver import Kernel
from glasstorch.devices.launch import grid_for, launch
from glasstorch.devices.simulator.compiler import cache_folder
from glasstorch.devices.simulator.module import SimModule

SOURCE = """
extern "C" __global__ void add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void sum(const float* x, float* out, int n) {
  __shared__ float of_warp[32];
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  for (int step = 16; step; step >>= 1) value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int warp = 0; warp < blockDim.x / 32; warp++) atomicAdd(out, of_warp[warp]);
}
"""
FILE = "measured.cu"
LIBRARY = ("matmul.cu", "matmul<float, float, 1>")  # the largest kernel of the library


def compile_seconds(check: bool) -> float:
    """Seconds to compile and load the library's largest kernel where nothing is in the cache but the runtime."""
    SimModule(SOURCE, FILE, check=check)  # makes and loads the runtime
    with tempfile.TemporaryDirectory() as folder, patch.dict(environ, GLASSTORCH_CACHE=folder):
        start = time.perf_counter()
        SimModule(modules.source(LIBRARY[0]), LIBRARY[0], [LIBRARY[1]], check=check)
        return time.perf_counter() - start


def load_seconds() -> float:
    """Seconds to load the library's largest kernel, compiled before, in a process that has not loaded it.

    A library that is open is not loaded again; so the cache holds a copy of it, which is another file.
    """
    file, expression = LIBRARY
    source = modules.source(file)
    compiled = SimModule(source, file, [expression]).path
    with tempfile.TemporaryDirectory() as folder, patch.dict(environ, GLASSTORCH_CACHE=folder):
        shutil.copy(compiled, cache_folder())
        start = time.perf_counter()
        SimModule(source, file, [expression])
        return time.perf_counter() - start


def fastest(function: Callable[[], object], number: int, rounds: int = 7) -> float:
    """Seconds of one call in the fastest of several batches."""
    run = repeat(function)
    run(max(1, number // 10))
    return min(run(number) for _ in range(rounds)) / number


def rows(elements: int, launches: int) -> list[tuple[str, str, str]]:
    """What is measured, the figure, and the project's limit."""
    found = []
    for name, check in (("fast", False), ("checked", True)):
        found.append((f"compile the largest kernel, {name}", f"{compile_seconds(check):.2f} s", "1 s"))
    seconds = sorted(load_seconds() for _ in range(9))[4]
    found.append(("load the largest kernel, median of 9", f"{seconds * 1e3:.1f} ms", "5 ms"))
    for name, check in (("fast", False), ("checked", True)):
        driver = runtime.use_simulator(check=check)
        x = glasstorch.ones(elements, device="cuda")
        y, one = glasstorch.empty_like(x), x[:1]
        module = driver.load(SOURCE, FILE)
        add, total = module.kernel("add"), module.kernel("sum")

        def launched(kernel: Kernel, blocks: int, *arguments: Tensor | np.generic) -> None:
            launch(kernel, blocks, 256, arguments)
            driver.synchronize()  # noqa: B023

        seconds = fastest(lambda: launched(add, 1, one, one, y, np.int32(0)), launches)  # noqa: B023
        found.append((f"launch and synchronise, {name}", f"{seconds * 1e6:.0f} us", "50 us" if not check else ""))
        count = np.int32(elements)
        for what, run in (
            ("add", lambda: launched(add, grid_for(elements, 256), x, x, y, count)),  # noqa: B023
            ("sum", lambda: launched(total, 32, x, y, count)),  # noqa: B023
        ):
            rate = elements / fastest(run, 1)
            found.append((f"{what} float32, {name}", f"{rate / 1e6:.0f} million elements a second", ""))
    return found


def main(elements: int = 1 << 20, launches: int = 1000) -> int:
    """Print the table; always 0."""
    print("| | measured | limit |\n|---|---|---|")
    for row in rows(elements, launches):
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
