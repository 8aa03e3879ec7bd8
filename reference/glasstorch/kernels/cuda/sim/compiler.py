"""How does C++ text become a shared library, and when was that done before?

Mirrors: torch/utils/cpp_extension.py (load_inline) in what it does; NVRTC and its cache in CuPy
Differs: the library's file is named after all that went into it: text, headers, options, compiler and CPU. A file that
    is there is right; it is put there in one step.

The files are kept below the user's cache folder, or below `GLASSTORCH_CACHE`. `CXX` names another compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from glasstorch.kernels.cuda.sim.errors import CompileError

FOLDER = Path(__file__).parent
SOURCES = ("runtime.cpp", "checks.cpp", "counts.cpp")
RUNTIME = (*SOURCES, "launch.h", "runtime.h")  # what the simulator's own library is made of
HEADERS = ("runtime.h", "device.h", "halves.h", "include/cuda_fp16.h", "include/cuda_bf16.h")  # what a kernel reads
INCLUDES = (f"-I{FOLDER}", f"-I{FOLDER / 'include'}")
# By this name a kernel's library asks for the simulator's, which is loaded before it.
NAME = "libglasstorch-simulator.so"
# Kernels read memory as what it is not (float4 for four floats), and count on integers that wrap, as on a card.
COMMON = ("-std=c++17", "-g1", "-fPIC", "-pthread", "-fvisibility=hidden", "-fno-strict-aliasing", "-fwrapv")
FAST = (*COMMON, "-O2", "-w", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
# What checks.cpp defines is called at each access; the compiler's own runtime for that is not linked.
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
    """Where compiled code is kept; made if it is not there. CompileError where it cannot be."""
    if named := os.environ.get("GLASSTORCH_CACHE"):
        folder = Path(named)
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches" / "glasstorch"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glasstorch"
    folder = folder / "simulator"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    return folder


def _workplace(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder for one compilation, inside the one where its result is kept."""
    try:
        return tempfile.TemporaryDirectory(dir=folder)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> CompileError:
    return CompileError(
        f"compiled kernels are kept in {folder}, which cannot be written ({error.strerror}); "
        "let GLASSTORCH_CACHE name a folder that can"
    )


@cache
def compiler() -> str:
    """The C++ compiler's path. CompileError where there is none, with what to install."""
    for name in filter(None, (os.environ.get("CXX"), "g++", "clang++")):
        if found := shutil.which(name):
            return found
    raise CompileError(
        "the simulated CUDA device compiles kernels with a C++ compiler, and none was found (g++, clang++, or what CXX "
        "names). Install one: `apt install g++`, `brew install gcc`, `xcode-select --install`, or "
        "`conda install gxx_linux-64`"
    )


@cache
def fingerprint(files: tuple[str, ...]) -> str:
    """What besides text and options decides how compiled code looks: our files, the compiler and the CPU."""
    digest = hashlib.sha256()
    for name in files:
        digest.update((FOLDER / name).read_bytes())
    command = compiler()
    about = os.stat(command)
    digest.update(f"{command} {about.st_size} {about.st_mtime_ns} {platform.machine()}".encode())
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            digest.update(next((line for line in lines if line.startswith(("flags", "Features"))), "").encode())
    return digest.hexdigest()


@cache
def native() -> tuple[str, ...]:
    """The option that lets the compiler use all that this CPU has."""
    return ("-mcpu=native",) if platform.machine() in ("arm64", "aarch64") else ("-march=native",)


@cache
def runtime_library() -> ctypes.CDLL:
    """The simulator's own library, which every kernel's library is linked to; compiled once."""
    path = cache_folder() / f"{_key('', RUNTIME, COMMON)}.so"
    if not path.exists():
        named = f"-Wl,-install_name,@rpath/{NAME}" if sys.platform == "darwin" else f"-Wl,-soname,{NAME}"
        with _workplace(path.parent) as folder:
            made = Path(folder, NAME)
            sources = [str(FOLDER / name) for name in SOURCES]
            _run([compiler(), *COMMON, "-O2", "-shared", named, *sources, "-o", str(made)])
            made.replace(path)
    return ctypes.CDLL(str(path))


def library(text: str, options: Sequence[str], check: bool) -> Path:
    """The shared library of a kernel's text; compiled unless it was before. CompileError with the compiler's words."""
    flags = (*(CHECKED if check else FAST), *native(), *options)
    runtime = runtime_library()._name
    with_headers = _preprocessed(text, flags) if any(option.startswith("-I") for option in options) else text
    path = cache_folder() / f"{_key(with_headers, HEADERS, flags)}.so"
    if path.exists():
        return path
    with _workplace(path.parent) as folder:
        source, unit, made = (Path(folder, name) for name in ("kernel.cpp", "kernel.o", "kernel.so"))
        source.write_text(text, encoding="utf-8")
        _run([compiler(), *flags, *INCLUDES, "-c", str(source), "-o", str(unit)])
        _run([compiler(), "-shared", str(unit), runtime, "-o", str(made), "-lm"])
        made.replace(path)  # in one step: who finds the file finds all of it
    return path


def _preprocessed(text: str, flags: Sequence[str]) -> str:
    """The text with all that it includes: headers of the user may change while it stays the same."""
    with _workplace(cache_folder()) as folder:
        source, made = Path(folder, "kernel.cpp"), Path(folder, "kernel.ii")
        source.write_text(text, encoding="utf-8")
        _run([compiler(), *flags, *INCLUDES, "-E", "-P", str(source), "-o", str(made)])
        return made.read_text(encoding="utf-8")


def _key(text: str, files: tuple[str, ...], flags: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((text, fingerprint(files), *flags)).encode()).hexdigest()[:40]


def _run(command: list[str]) -> None:
    environment = {**os.environ, "LC_ALL": "C"}  # messages in English and ASCII, whatever the user's language
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
    if done.returncode:
        raise CompileError(done.stderr.strip() or f"{command[0]} ended with code {done.returncode}")
