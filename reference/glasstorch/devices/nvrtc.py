"""How does NVRTC compile CUDA C++, and what does it report?

It can compile for a GPU on a machine without one, and reports the resources that each kernel will use: registers,
shared memory, spilled bytes. The CuPy driver loads the result.

Mirrors: torch/cuda/_utils.py (_get_nvrtc_library, _nvrtc_compile), aten/src/ATen/cuda/detail/LazyNVRTC.cpp
Differs: NVRTC comes from an installed toolkit or from pip's nvidia-cuda-nvrtc; the compiler's report is parsed.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from glasstorch.devices.cubin import max_threads
from glasstorch.devices.simulator.compiler import cache_folder

STANDARD = "-std=c++17"
REPORT = "--ptxas-options=-v"
# What ptxas reports about one kernel with `-v`. The line omits the shared memory if there is none.
ENTRY = re.compile(
    r"Compiling entry function '(?P<symbol>\w+)'"
    r".*?(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
    r".*?Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)
SHARED = re.compile(r"(\d+) bytes smem")

_loading = threading.Lock()


class Usage(NamedTuple):
    """The resources that one kernel uses on a GPU. All except registers and threads are in bytes."""

    registers: int  # for each thread
    shared: int  # for each block, without the dynamic part
    stack: int  # for each thread: arrays that could not stay in registers
    spilled: int  # stored and reloaded because there were too few registers
    max_threads: int  # for each block, from `__launch_bounds__`; 0 without it


class Compiled(NamedTuple):
    """Code for one architecture."""

    cubin: bytes
    symbols: Mapping[str, str]  # name expression -> the name in the cubin
    usage: Mapping[str, Usage]  # of each kernel, by its name expression, or by its name in `extern "C"`
    log: str  # the compiler's messages, including warnings


@cache
def library() -> ctypes.CDLL:
    """NVRTC, loaded once.

    Raises RuntimeError, which says what to install, if it is missing.
    """
    try:
        from cuda import pathfinder

        with _loading:  # otherwise a second thread could find NVRTC loaded, but not yet its dependencies
            found = pathfinder.load_nvidia_dynamic_lib("nvrtc")
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"CUDA C++ cannot be compiled for a GPU: NVRTC was not found ({first_line(error)}); "
            "install it with: pip install 'glasstorch[nvrtc]'"
        ) from error
    return ctypes.CDLL(found.abs_path)


def first_line(error: Exception) -> str:
    """The first line of an error's text, or its type where it has none."""
    return next(iter(str(error).splitlines()), type(error).__name__)


@cache
def headers() -> str | None:
    """The folder with `cuda_fp16.h` and similar headers, or None if they are not installed."""
    from cuda import pathfinder

    folder: str | None = pathfinder.find_nvidia_header_directory("cudart")
    return folder


def version() -> tuple[int, int]:
    """NVRTC's version: (13, 0)."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    check(library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return major.value, minor.value


def compile(
    source: str,
    file: str,
    architecture: str,
    expressions: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Compiled:
    """Compile CUDA C++ for one architecture, such as "sm_90".

    Raises RuntimeError with the compiler's messages, in which the source is called `file`.
    """
    nvrtc = library()
    folder = headers()
    arguments = [STANDARD, f"-arch={architecture}", REPORT, *([f"-I{folder}"] if folder else []), *options]
    encoded = (ctypes.c_char_p * len(arguments))(*(argument.encode() for argument in arguments))
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), file.encode(), 0, None, None))
    try:
        for expression in expressions:
            check(nvrtc.nvrtcAddNameExpression(program, expression.encode()))
        code = nvrtc.nvrtcCompileProgram(program, len(arguments), encoded)
        log = output(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
        if code != 0:
            raise RuntimeError(f"Kernel compilation failed for {architecture}:\n{log}")
        cubin = output(program, "CUBIN")
        symbols = {expression: lowered(program, expression) for expression in expressions}
    finally:
        check(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
    return Compiled(cubin, symbols, usages(log, cubin, symbols), log)


def compiled(
    source: str,
    file: str,
    architecture: str,
    expressions: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Compiled:
    """The result of `compile`, read from the user's cache folder if it is there."""
    facts = (version(), headers(), source, file, architecture, *expressions, "", *options)
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:40]
    path = cache_folder().with_name("nvrtc") / f"{key}.cubin"
    if path.exists():
        head, _, cubin = path.read_bytes().partition(b"\n")
        symbols, log = json.loads(head)
        return Compiled(cubin, symbols, usages(log, cubin, symbols), log)
    made = compile(source, file, architecture, expressions, options)
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    unfinished.write_bytes(json.dumps((made.symbols, made.log)).encode() + b"\n" + made.cubin)
    unfinished.replace(path)  # atomic: a file that exists is complete
    return made


def check(code: int) -> None:
    """Raise RuntimeError with NVRTC's message for a code other than success."""
    if code != 0:
        text = library().nvrtcGetErrorString
        text.restype = ctypes.c_char_p
        raise RuntimeError(f"CUDA error: {text(code).decode()}")


def output(program: ctypes.c_void_p, what: str) -> bytes:
    """One output of a compiled program: "ProgramLog" or "CUBIN"."""
    nvrtc = library()
    size = ctypes.c_size_t()
    check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{what}")(program, text))
    return text.raw


def lowered(program: ctypes.c_void_p, expression: str) -> str:
    """The name that the compiled code gives to a name expression."""
    name = ctypes.c_char_p()
    check(library().nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(name)))
    assert name.value is not None, expression
    return name.value.decode()


def usages(log: str, cubin: bytes, symbols: Mapping[str, str]) -> dict[str, Usage]:
    """The resources that each kernel uses, according to the log and the code."""
    names = {symbol: expression for expression, symbol in symbols.items()}
    bounds = max_threads(cubin)
    found = {}
    for entry in ENTRY.finditer(log):
        symbol = entry["symbol"]
        shared = SHARED.search(entry["rest"])
        found[names.get(symbol, symbol)] = Usage(
            registers=int(entry["registers"]),
            shared=int(shared[1]) if shared else 0,
            stack=int(entry["stack"]),
            spilled=int(entry["stores"]) + int(entry["loads"]),
            max_threads=bounds.get(symbol, 0),
        )
    return found
