"""How is a kernel's C++ source compiled to a shared library, and cached?

Mirrors: torch/utils/cpp_extension.py (load_inline) in what it does; NVRTC and its cache in CuPy
Differs: the hash in a file's name includes our own headers, besides source and compiler; see devices/cpp_compiler.py.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from glasstorch.devices import cpp_compiler
from glasstorch.devices.cpp_compiler import compiler as compiler
from glasstorch.devices.cpp_compiler import machine, native, run, workplace

FOLDER = Path(__file__).parent
SOURCES = ("runtime.cpp", "checks.cpp", "counts.cpp")
RUNTIME = (*SOURCES, "launch.h", "runtime.h")  # what the simulator's own library is made of
HEADERS = ("runtime.h", "device.h", "halves.h", "include/cuda_fp16.h", "include/cuda_bf16.h")  # what a kernel reads
INCLUDES = (f"-I{FOLDER}", f"-I{FOLDER / 'include'}")
# The name under which a kernel's library finds the simulator's library, which is loaded before it.
NAME = "libglasstorch-simulator.so"
# Kernels read memory as another type (float4 for four floats), and rely on integers that wrap around, as on a GPU.
COMMON = ("-std=c++17", "-g1", "-fPIC", "-pthread", "-fvisibility=hidden", "-fno-strict-aliasing", "-fwrapv")
# Most kernels run for less time than they compile: -O2 compiles a fifth longer, and saves a third of the run.
FAST = (*COMMON, "-O1", "-w", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
# Each access calls a function that checks.cpp defines; the sanitizer's own runtime is not linked.
CHECKED = (
    *COMMON,
    "-O1",
    "-fno-tree-sra",
    "-w",
    "-ffp-contract=off",
    "-DSIM_CHECK",
    "-fsanitize=thread",
    "-fsanitize=alignment",
)


def cache_folder() -> Path:
    """The cache folder of the simulator's compiled code."""
    return cpp_compiler.cache_folder("simulator")


@cache
def fingerprint(files: tuple[str, ...]) -> str:
    """What determines compiled code besides source and options: our files, the compiler and the CPU."""
    digest = hashlib.sha256()
    for name in files:
        digest.update((FOLDER / name).read_bytes())
    digest.update(machine(compiler()))
    return digest.hexdigest()


@cache
def runtime_library() -> ctypes.CDLL:
    """The simulator's own library, against which every kernel's library is linked; compiled once."""
    path = cache_folder() / f"{_key('', RUNTIME, COMMON)}.so"
    if not path.exists():
        named = f"-Wl,-install_name,@rpath/{NAME}" if sys.platform == "darwin" else f"-Wl,-soname,{NAME}"
        with workplace(path.parent) as folder:
            made = Path(folder, NAME)
            sources = [str(FOLDER / name) for name in SOURCES]
            run([compiler(), *COMMON, "-O2", "-shared", named, *sources, "-o", str(made)])
            made.replace(path)
    return ctypes.CDLL(str(path))


def library(text: str, options: Sequence[str], check: bool) -> Path:
    """The shared library of a kernel's source, compiled unless cached. CompileError with the compiler's messages."""
    flags = (*(CHECKED if check else FAST), *native(), *options)
    runtime = runtime_library()._name
    with_headers = _preprocessed(text, flags) if any(option.startswith("-I") for option in options) else text
    path = cache_folder() / f"{_key(with_headers, HEADERS, flags)}.so"
    if path.exists():
        return path
    with workplace(path.parent) as folder:
        source, unit, made = (Path(folder, name) for name in ("kernel.cpp", "kernel.o", "kernel.so"))
        source.write_text(text, encoding="utf-8")
        run([compiler(), *flags, *INCLUDES, "-c", str(source), "-o", str(unit)])
        run([compiler(), "-shared", str(unit), runtime, "-o", str(made), "-lm"])
        made.replace(path)  # atomic: a file that exists is complete
    return path


def _preprocessed(text: str, flags: Sequence[str]) -> str:
    """The source with all its includes, because a user's headers may change while the source stays the same."""
    with workplace(cache_folder()) as folder:
        source, made = Path(folder, "kernel.cpp"), Path(folder, "kernel.ii")
        source.write_text(text, encoding="utf-8")
        run([compiler(), *flags, *INCLUDES, "-E", "-P", str(source), "-o", str(made)])
        return made.read_text(encoding="utf-8")


def _key(text: str, files: tuple[str, ...], flags: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((text, fingerprint(files), *flags)).encode()).hexdigest()[:40]
