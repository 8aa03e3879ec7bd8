"""How fast is the library on a card, beside torch and beside what the card can do?

    python -m benchmarks.gpu                 on the first card; the numbers are kept in `results/`
    python -m benchmarks.gpu --simulator     the same program at a tiny size on the simulated device: it shows that the
                                             program runs, and its times say nothing about a card

Events measure on the device, the fastest of several rounds counts. torch runs beside where it is installed and sees
the card. Inputs are random and far larger than the card's cache.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import operator
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import glasstorch
from benchmarks.harness import Contest, Row, Run
from glasstorch.backends.cuda import preferred_blas_library
from glasstorch.devices import launch, nvrtc, runtime
from glasstorch.devices.driver import Copy, Driver

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    rows: int
    columns: int
    matrices: tuple[int, ...]  # of n by n elements
    launches: int
    repetitions: int
    rounds: int


CARD = Size(
    rows=1 << 18, columns=1 << 10, matrices=(512, 1024, 2048, 4096, 8192), launches=10_000, repetitions=5, rounds=5
)
TINY = Size(rows=37, columns=33, matrices=(24,), launches=20, repetitions=1, rounds=1)


def timed(module: ModuleType, use: Callable[[], object]) -> Run:
    """A run that the device's own events measure, in seconds."""
    start, end = (module.cuda.Event(enable_timing=True) for _ in range(2))

    def run(number: int) -> float:
        start.record()
        for _ in range(number):
            use()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3

    return run


# What moves memory ------------------------------------------------------------------------------------------------


class Inputs:
    """The same random tensors for each library."""

    def __init__(self, module: ModuleType, size: Size) -> None:
        random = np.random.default_rng(0)
        shape = (size.rows, size.columns)

        def tensor(array: Any) -> Any:
            return module.from_numpy(array).to("cuda")

        self.x = tensor(random.standard_normal(shape, dtype=np.float32))
        self.y = tensor(random.standard_normal(shape, dtype=np.float32))
        self.row = tensor(random.standard_normal(size.columns, dtype=np.float32))
        self.order = tensor(random.permutation(size.rows))
        self.h, self.g = self.x.to(module.float16), self.y.to(module.float16)
        side = int((size.rows * size.columns) ** 0.5)
        self.square = self.x.reshape(-1)[: side * side].reshape(side, side)


# What is done, and how many bytes it has to read and write for each element of x.
KERNELS: list[tuple[str, Callable[[Any, Inputs], object], int]] = [
    ("x.clone()", lambda t, i: i.x.clone(), 8),
    ("x.t().contiguous()", lambda t, i: i.x.t().contiguous(), 8),
    ("zeros_like(x)", lambda t, i: t.zeros_like(i.x), 4),
    ("x.to(float16)", lambda t, i: i.x.to(t.float16), 6),
    ("x.exp()", lambda t, i: i.x.exp(), 8),
    ("x.relu()", lambda t, i: i.x.relu(), 8),
    ("x + y", lambda t, i: i.x + i.y, 12),
    ("h + g, float16", lambda t, i: i.h + i.g, 6),
    ("x + row, broadcast", lambda t, i: i.x + i.row, 8),
    ("s.t() + s, square", lambda t, i: i.square.t() + i.square, 8),
    ("cat((x, y))", lambda t, i: t.cat((i.x, i.y)), 16),
    ("x.index_select(0, order)", lambda t, i: i.x.index_select(0, i.order), 8),
    ("x.sum()", lambda t, i: i.x.sum(), 4),
    ("x.sum(0)", lambda t, i: i.x.sum(0), 4),
    ("x.sum(1)", lambda t, i: i.x.sum(1), 4),
    ("x.log_softmax(1)", lambda t, i: i.x.log_softmax(1), 8),
]


def ceiling(driver: Driver, size: Size) -> float:
    """Bytes a second that the device's own copy reads and writes."""
    nbytes = size.rows * size.columns * 4
    source, target = driver.malloc(nbytes), driver.malloc(nbytes)
    driver.memset_async(source, 1, nbytes, 0)

    def copy() -> None:
        driver.memcpy_async(target, source, nbytes, Copy.DEVICE_TO_DEVICE, 0)

    row = Contest("copy", {"driver": timed(glasstorch, copy)}, size.repetitions, size.rounds).measure()
    driver.free(source)
    driver.free(target)
    return 2 * nbytes / row.seconds["driver"]


def kernels(modules: Mapping[str, ModuleType], size: Size) -> Iterator[Row]:
    """Seconds for each kernel."""
    inputs = {name: Inputs(module, size) for name, module in modules.items()}
    for what, use, _ in KERNELS:
        runs = {name: timed(module, partial(use, module, inputs[name])) for name, module in modules.items()}
        yield Contest(what, runs, size.repetitions, size.rounds).measure()


# What a launch costs ----------------------------------------------------------------------------------------------

NOTHING = 'extern "C" __global__ void nothing(float* p) {}'


def host_timed(use: Callable[[], object]) -> Run:
    """A run that the host's clock measures, until the device is done: many small launches keep the host busy."""

    def run(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            use()
        runtime.driver().synchronize()
        return time.perf_counter() - start

    return run


def launches(modules: Mapping[str, ModuleType], driver: Driver, size: Size) -> Row:
    """Seconds for one launch of nothing, or of an operator on 8 floats, by the way it goes."""
    nothing = driver.load(NOTHING, "nothing.cu").kernel("nothing")
    x = glasstorch.ones(8, device="cuda")
    address = x.data_ptr()
    paths: dict[str, Callable[[], object]] = {
        "our driver's launch": lambda: nothing.launch((1, 1, 1), (32, 1, 1), (address,)),
        "launch() with a tensor": lambda: launch.launch(nothing, 1, 32, (x,)),
    }
    if not driver.simulated:
        paths |= cupy_paths()
    for name, module in modules.items():
        y = module.ones(8, device="cuda")
        paths[f"{name}: y + y"] = partial(operator.add, y, y)
    runs = {name: host_timed(use) for name, use in paths.items()}
    return Contest("one launch", runs, size.launches, size.rounds).measure()


def cupy_paths() -> dict[str, Callable[[], object]]:
    """CuPy's own ways to launch."""
    import cupy

    array = cupy.ones(8, cupy.float32)
    raw = cupy.RawKernel(NOTHING, "nothing")
    elementwise = cupy.ElementwiseKernel("float32 x", "float32 z", "z = x + x", "double_it")
    return {
        "cupy.RawKernel": lambda: raw((1,), (32,), (array,)),
        "cupy.ElementwiseKernel": lambda: elementwise(array),
        "cupy: y + y": lambda: array + array,
    }


# Products of matrices ---------------------------------------------------------------------------------------------

DTYPES = ("float32", "float16", "bfloat16")


def products(modules: Mapping[str, ModuleType], size: Size) -> Iterator[Row]:
    """Seconds for the product of two square matrices: by cuBLAS where it is there, by our kernels, and by torch."""
    random = np.random.default_rng(0)
    for side in size.matrices:
        arrays = [random.standard_normal((side, side), dtype=np.float32) for _ in range(2)]
        for dtype in DTYPES:
            runs = {}
            for name, module in modules.items():
                pair = [module.from_numpy(array).to("cuda").to(getattr(module, dtype)) for array in arrays]
                runs[name] = timed(module, partial(operator.matmul, *pair))
                if module is glasstorch:
                    runs["our kernels"] = timed(module, partial(without_blas, *pair))
            yield Contest(f"{side} x {side}, {dtype}", runs, size.repetitions, size.rounds).measure()


def without_blas(a: Any, b: Any) -> Any:
    """The product by the kernels of matmul.cu."""
    preferred = preferred_blas_library()
    preferred_blas_library("glasstorch")
    try:
        return a @ b
    finally:
        preferred_blas_library(preferred)


# The report -------------------------------------------------------------------------------------------------------


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as Markdown, numbers to the right."""
    lines = [f"| {' | '.join(heading)} |", f"|---{'|--:' * (len(heading) - 1)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])


def shares(rows: Iterable[Row], names: Sequence[str], elements: int, most: float) -> str:
    """How many gigabytes a second each kernel moves, and which share of the copy's that is."""
    moved = {what: nbytes * elements for what, _, nbytes in KERNELS}
    lines = []
    for row in rows:
        rates = [moved[row.name] / row.seconds[name] for name in names]
        lines.append([f"`{row.name}`", *(text for r in rates for text in (f"{r / 1e9:.1f}", f"{r / most:.0%}"))])
    return table(["", *(heading for name in names for heading in (f"{name}, GB/s", "of the copy"))], lines)


def where(driver: Driver, modules: Mapping[str, ModuleType]) -> str:
    """What was measured, on which device and when."""
    versions = [f"{name} {module.__version__}" for name, module in modules.items()]
    if not driver.simulated:
        versions += ["NVRTC {}.{}".format(*nvrtc.version())]
    device = driver.properties(0).name
    return f"{date.today().isoformat()}, {device}, {', '.join(versions)}, Python {platform.python_version()}"


def rates(rows: Iterable[Row], names: Sequence[str]) -> str:
    """How many operations a second each product does, in millions of millions: 2 n for each of its n x n elements."""
    lines = []
    for row in rows:
        operations = 2 * int(row.name.partition(" ")[0]) ** 3
        lines.append([row.name, *(f"{operations / row.seconds[name] / 1e12:.2f}" for name in names)])
    return table(["", *(f"{name}, TFLOP/s" for name in names)], lines)


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables, and keep the numbers of a card."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    parser.add_argument("--simulator", action="store_true", help="a tiny run on the simulated device")
    if parser.parse_args(arguments).simulator:
        glasstorch.cuda.use_simulator()
    elif not glasstorch.cuda.is_available():
        print("benchmarks.gpu: there is no card that CuPy can reach; --simulator shows the program", file=sys.stderr)
        return 1
    driver = runtime.driver()
    size = TINY if driver.simulated else CARD
    modules: dict[str, ModuleType] = {"glasstorch": glasstorch}
    if not driver.simulated and importlib.util.find_spec("torch"):
        torch = importlib.import_module("torch")
        modules |= {"torch": torch} if torch.cuda.is_available() else {}
    most = ceiling(driver, size)
    moved = list(kernels(modules, size))
    launched = launches(modules, driver, size)
    multiplied = list(products(modules, size))
    print(f"Copy on the device: {most / 1e9:.1f} GB/s, reads and writes together.\n")
    print(shares(moved, list(modules), size.rows * size.columns, most))
    print(table(["one launch", "us"], [(name, f"{seconds * 1e6:.2f}") for name, seconds in launched.seconds.items()]))
    print(rates(multiplied, [*modules, "our kernels"]))
    print(f"The fastest of {size.rounds} counts: {where(driver, modules)}.")
    if driver.simulated:
        print("The device is simulated: these times are not those of a card, and are not kept.")
    else:
        save(driver, where(driver, modules), most, [*moved, launched, *multiplied])
    return 0


def save(driver: Driver, text: str, most: float, rows: Sequence[Row]) -> None:
    """Keep the numbers, dated and named after the card."""
    card = re.sub(r"\W+", "-", driver.properties(0).name.lower())
    record = {"where": text, "copy": most, "rows": [{"name": row.name, "seconds": row.seconds} for row in rows]}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{date.today().isoformat()}-{card}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
