"""What is a compiled CUDA module on the simulator, and how is one of its kernels run?

Mirrors: cuModuleLoadData, cuModuleGetFunction, cuLaunchKernel
Differs: `run` returns when the kernel is done; with `check`, invalid memory accesses are found.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from glasstorch.core.errors import ArgumentValueError
from glasstorch.devices.arguments import Packed
from glasstorch.devices.driver import Dim, Parameter
from glasstorch.devices.simulator.compiler import library, runtime_library
from glasstorch.devices.simulator.errors import CompileError, SimFault
from glasstorch.devices.simulator.source import kernel_names, rewritten, without_host_headers

ORDERS = {"forward": 0, "reverse": 1, "random": 2}
MAX_THREADS = 1024
MAX_BLOCK: Dim = (1024, 1024, 64)
MAX_GRID: Dim = (2**31 - 1, 65535, 65535)
MAX_SHARED = 227 * 1024  # bytes
LINE = re.compile(r'^[ \t]*#[ \t]*line[ \t]+\d+[ \t]+"([^"\n]+)"', re.MULTILINE)
NAME = re.compile(r"(?:\w+::)*\w+\s*(?:<[^;{}\n]*>)?\s*")
LIMIT = 20.0  # seconds that a kernel may run, unless GLASSTORCH_KERNEL_LIMIT says otherwise

Buffers = np.ndarray[tuple[int, int], np.dtype[np.uint64]]  # rows: low, high, address of the init bytes or 0, flags


@dataclass(frozen=True, slots=True)
class Counts:
    """What the threads of a launch executed. Sizes are in bytes; a vector load counts once.

    A request is one instruction of a warp; it moves as many 32-byte sectors as its lanes access.
    """

    global_loads: int
    global_stores: int
    shared_loads: int
    shared_stores: int
    global_loaded: int
    global_stored: int
    shared_loaded: int
    shared_stored: int
    load_requests: int
    load_sectors: int
    store_requests: int
    store_sectors: int
    barriers: int
    warp_barriers: int
    shuffles: int
    votes: int
    atomics: int


class _Entry(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("call", ctypes.c_void_p), ("signature", ctypes.CFUNCTYPE(ctypes.c_char_p)))


class _Fault(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_int),
        ("line", ctypes.c_int),
        ("file", ctypes.c_char_p),
        ("address", ctypes.c_uint64),
        ("earlier", ctypes.c_uint64),
        ("has_thread", ctypes.c_int),
        ("thread", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("what", ctypes.c_char * 1000),
    )


class _Counts(ctypes.Structure):
    _fields_ = tuple((field.name, ctypes.c_uint64) for field in fields(Counts))


class _Launch(ctypes.Structure):
    """sim::Launch of launch.h."""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("values", ctypes.c_char_p),
        ("offsets", ctypes.c_void_p),
        ("argument_count", ctypes.c_uint32),
        *((f"{of}_{axis}", ctypes.c_uint32) for of in ("grid", "block") for axis in "xyz"),
        ("dynamic_shared", ctypes.c_uint32),
        ("order", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("limit", ctypes.c_double),
        ("buffers", ctypes.c_void_p),
        ("buffer_count", ctypes.c_uint32),
        ("instrumented", ctypes.c_int32),
        ("check", ctypes.c_int32),
        ("count_sectors", ctypes.c_int32),
        ("static_shared", ctypes.c_uint32),
        ("printed", ctypes.c_uint32),
        ("text", ctypes.c_void_p),
        ("lost", ctypes.c_uint64),
        ("counts", _Counts),
        ("fault", _Fault),
    )


# The runtime runs one launch at a time. Reentrant: a collection just before it may free memory, and so run kernels.
_lock = threading.RLock()


class SimKernel:
    """A compiled `__global__` function."""

    __slots__ = ("_entry", "module", "name", "signature")

    def __init__(self, module: SimModule, name: str, entry: int, signature: tuple[Parameter, ...]) -> None:
        self.module = module
        self.name = name
        self.signature = signature
        self._entry = entry

    def check_launch(self, grid: Dim, block: Dim, shared_memory: int) -> None:  # hot path: benchmarks/simulator.py
        """SimFault 9 or 1 if a GPU would refuse the sizes of a launch."""
        (columns, rows, layers), (x, y, z) = grid, block
        if (
            (0 < x <= MAX_BLOCK[0] and 0 < y <= MAX_BLOCK[1] and 0 < z <= MAX_BLOCK[2])
            and (0 < columns <= MAX_GRID[0] and 0 < rows <= MAX_GRID[1] and 0 < layers <= MAX_GRID[2])
            and (x * y * z <= MAX_THREADS and 0 <= shared_memory <= MAX_SHARED)
        ):
            return
        if x * y * z > MAX_THREADS:
            raise SimFault(9, f"block {block} has {x * y * z} threads; a block has at most {MAX_THREADS}")
        for what, sizes, most in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
            if not all(1 <= size <= limit for size, limit in zip(sizes, most, strict=True)):
                raise SimFault(9, f"{what} {sizes}: each size must be at least 1, and at most {most}")
        raise SimFault(1, f"{shared_memory} bytes of dynamic shared memory; a block has {MAX_SHARED}")

    def run(  # hot path: benchmarks/simulator.py
        self,
        grid: Dim,
        block: Dim,
        packed: Packed,
        shared_memory: int = 0,
        order: str = "forward",
        seed: int = 0,
        buffers: Buffers | None = None,
    ) -> Counts | None:
        """Run the kernel now; returns its counts if its module counts. SimFault if it fails.

        `packed` are the arguments, from `arguments.pack`. `order` is that of blocks and threads: "forward", "reverse"
        or "random", which `seed` determines. `buffers` are the ranges of memory that it may access, sorted by address.
        """
        self.check_launch(grid, block, shared_memory)
        module = self.module
        checked = module.check and buffers is not None
        launch = _Launch(  # by position, and with numbers only, which ctypes does quickly
            self._entry,
            packed.values,
            packed.offsets,
            len(self.signature),
            *grid,
            *block,
            shared_memory,
            ORDERS[order],
            seed & 0xFFFF_FFFF_FFFF_FFFF,
            limit(),
            buffers.ctypes.data if buffers is not None else None,
            len(buffers) if buffers is not None else 0,
            module.check,
            checked,
            module.check and not checked,
        )
        with _lock:
            code = module.run(ctypes.byref(launch))
            text = ctypes.string_at(launch.text, launch.printed) if launch.printed else b""
        if text:
            _show(text, launch.lost)
        if code:
            raise _fault(module, launch.fault)
        return _counts(launch.counts) if module.check else None


class SimModule:
    """CUDA C++, compiled for this CPU.

    `file` is the source's name in messages; `expressions` name the instances of templates, such as `sum<float>`;
    `options` are `-DNAME=VALUE` and `-IFOLDER`. With `check` its kernels find invalid accesses and count.
    """

    def __init__(
        self,
        source: str,
        file: str,
        expressions: Sequence[str] = (),
        options: Sequence[str] = (),
        check: bool = False,
    ) -> None:
        for option in options:
            if not option.startswith(("-D", "-I")):
                raise CompileError(
                    f"{file}: the option {option!r} means nothing here; a simulated CUDA device takes -DNAME=VALUE and "
                    "-IFOLDER"
                )
        for name in expressions:
            if not NAME.fullmatch(name):
                raise CompileError(
                    f"{file}: {name!r} is no kernel's name; expected a name, or an instance of a template such as "
                    "scale<float>"
                )
        names = list(dict.fromkeys((*kernel_names(source), *expressions)))
        if not names:
            raise CompileError(f'{file}: no kernel: expected `extern "C" __global__ void name(...)`, or an expression')
        rows = ",".join(f'{{"{name}", sim::Kernel<{name}>::call, sim::Kernel<{name}>::signature}}' for name in names)
        folders = [option.removeprefix("-I") for option in options if option.startswith("-I")]
        code = rewritten(without_host_headers(source, folders))
        text = (
            f'#include "device.h"\n#line 1 "{file}"\n{code}\n#line 1 "table of kernels"\n'
            f'extern "C" SIM_EXPORT sim::Entry glasstorch_kernels[] = {{{rows}}};\n'
        )
        self.file = file
        self.files = {file, *LINE.findall(source)}
        self.check = check
        self.run = _run_function()
        self.path = library(text, options, check)
        self._library = ctypes.CDLL(str(self.path))
        table = (_Entry * len(names)).in_dll(self._library, "glasstorch_kernels")
        self._kernels = {
            name: SimKernel(self, name, ctypes.addressof(row), _signature(row.signature().decode()))
            for name, row in zip(names, table, strict=True)
        }

    def kernel(self, name: str) -> SimKernel:
        """The kernel with a name or name expression. SimFault 500 (named symbol not found) if there is none."""
        if name not in self._kernels:
            raise SimFault(500, f"{self.file} has no kernel {name!r}; it has {', '.join(self._kernels)}")
        return self._kernels[name]


@cache
def _run_function() -> ctypes._NamedFuncPointer:
    function = runtime_library().glasstorch_sim_run
    function.argtypes = [ctypes.c_void_p]
    function.restype = ctypes.c_int
    return function


@cache
def limit() -> float:
    """How many seconds a kernel may run. ArgumentValueError if GLASSTORCH_KERNEL_LIMIT is not a number above 0."""
    text = os.environ.get("GLASSTORCH_KERNEL_LIMIT") or str(LIMIT)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ArgumentValueError(f"GLASSTORCH_KERNEL_LIMIT={text!r}: expected a number of seconds above 0")
    return seconds


def _signature(text: str) -> tuple[Parameter, ...]:
    """The parameters that device.h wrote: `*cf4 i8` is a pointer to const float, and a long long."""
    parameters = []
    for word in text.split():
        pointer = word.startswith("*")
        word = word.removeprefix("*")
        constant = word.startswith("c")
        word = word.removeprefix("c")
        parameters.append(Parameter(pointer, constant, word[0], int(word[1:])))
    return tuple(parameters)


def _counts(counted: _Counts) -> Counts:
    return Counts(*(getattr(counted, field.name) for field in fields(Counts)))


def _show(text: bytes, lost: int) -> None:
    """Print the output of a kernel's printf, each line with a prefix."""
    lines = text.decode(errors="replace").splitlines()
    if lost:
        lines.append(f"({lost} bytes more did not fit into the buffer)")
    sys.stdout.write("".join(f"[kernel] {line}\n" for line in lines))


def _fault(module: SimModule, fault: _Fault) -> SimFault:
    file, line = (fault.file.decode() if fault.file else module.file), fault.line
    what = fault.what.decode(errors="replace")
    if not line and fault.address:
        file, line = _place(module, fault.address)
    if fault.earlier:
        other, earlier = _place(module, fault.earlier)
        there = f"line {earlier}" if other == file else f"{other}:{earlier}"
        what = what.replace("{line}", there if earlier else "a line that is not known")
    thread = block = None
    if fault.has_thread:
        thread = (fault.thread[0], fault.thread[1], fault.thread[2])
        block = (fault.block[0], fault.block[1], fault.block[2])
    return SimFault(fault.code, what, file, line, thread, block)


def _place(module: SimModule, address: int) -> tuple[str, int]:
    """The file and line of an address in the module's library: in the kernel's source, not in our headers."""
    # The call before the address is meant, and of functions that were inlined into each other the innermost of theirs.
    command = ["addr2line", "-i", "-e", str(module.path), hex(address - 1)]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return module.file, 0
    for row in answer.splitlines():
        path, _, line = row.split(" ")[0].rpartition(":")
        if line.isdigit() and int(line) and Path(path).name in module.files:
            return Path(path).name, int(line)
    return module.file, 0
