"""How is C++ source compiled at run time, and where is the result cached?

Mirrors: torch/utils/cpp_extension.py (load_inline, get_cxx_compiler), torch/csrc/jit/codegen/fuser/cpu/fused_kernel.cpp
    (CompilerConfig, runCompiler)
Differs: compiled code is cached for later processes, in a file whose name is a hash of everything that determines it:
    source, options, compiler and CPU. The file is created atomically, so that an existing one is always complete.

The files are kept below the user's cache folder, or below `GLASSTORCH_CACHE`. `CXX` names another compiler.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from subprocess import Popen
    from tempfile import TemporaryDirectory  # imported where it is used: most programs compile nothing

Seal = Callable[[bytes], bytes]
OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class CompileError(RuntimeError):
    """The C++ source does not compile, or there is no compiler or no folder for the result; the message says which."""


def cache_folder(part: str) -> Path:
    """The cache folder of one part of the library, created if necessary. CompileError if that is impossible.

    A new one is the user's alone: what is compiled is executed. One in which others can put files is refused, and so is
    one below a folder in which they can put another one in its place.
    """
    folder = _users_cache() / part
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    if hasattr(os, "geteuid"):
        _refuse_what_others_can_change(folder.resolve())
    return folder


def _refuse_what_others_can_change(folder: Path) -> None:
    about = folder.stat()
    if about.st_uid != os.geteuid():
        raise CompileError(f"compiled kernels are kept in {folder}, which belongs to another user")
    if about.st_mode & OTHERS_MAY_WRITE:
        raise CompileError(
            f"compiled kernels are kept in {folder}, to which others can write; `chmod 700` it, or let "
            "GLASSTORCH_CACHE name another folder"
        )
    for above in folder.parents:
        about = above.stat()
        # A group that is the user's own may write. In /tmp, which has the bit, only an owner renames.
        writers = 0o002 if about.st_gid == os.getegid() else OTHERS_MAY_WRITE
        if about.st_uid not in (0, os.geteuid()) or (about.st_mode & writers and not about.st_mode & stat.S_ISVTX):
            raise CompileError(
                f"compiled kernels are kept below {above}, in which others can put another folder in the place of "
                "yours; let GLASSTORCH_CACHE name a folder below your own"
            )


def is_ours(path: Path) -> bool:
    """Whether a file is there, belongs to the user, and can be written by nobody else."""
    try:
        about = path.lstat()
    except OSError:
        return False
    return not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & OTHERS_MAY_WRITE)


def _users_cache() -> Path:
    """The folder that GLASSTORCH_CACHE names, or the library's folder below the user's cache folder."""
    if named := os.environ.get("GLASSTORCH_CACHE"):
        return Path(named)
    if sys.platform != "darwin" and (caches := os.environ.get("XDG_CACHE_HOME")):
        return Path(caches) / "glasstorch"
    try:
        home = Path.home()
    except RuntimeError:
        raise CompileError(
            "compiled kernels are kept below the user's home, and this user has none; "
            "let GLASSTORCH_CACHE name a folder for them"
        ) from None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "glasstorch"


def workplace(folder: Path) -> TemporaryDirectory[str]:
    """A temporary folder for one compilation, inside the cache folder."""
    from tempfile import TemporaryDirectory

    try:
        return TemporaryDirectory(dir=folder)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> CompileError:
    return CompileError(
        f"compiled kernels are kept in {folder}, which cannot be written ({error.strerror}); "
        "let GLASSTORCH_CACHE name a folder that can"
    )


@cache
def compiler() -> str:
    """The path of the C++ compiler. CompileError, which says what to install, if there is none."""
    import shutil

    for name in filter(None, (os.environ.get("CXX"), "g++", "clang++")):
        if found := shutil.which(name):
            return found
    raise CompileError(
        "kernels are compiled with a C++ compiler, and none was found (g++, clang++, or what CXX names). Install one: "
        "`apt install g++`, `brew install gcc`, `xcode-select --install`, or `conda install gxx_linux-64`"
    )


@cache
def machine(command: str) -> bytes:
    """What determines compiled code besides source and options: the compiler and the CPU."""
    import platform

    about = os.stat(command)
    facts = f"{command} {about.st_size} {about.st_mtime_ns} {platform.machine()}".encode()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            facts += next((line for line in lines if line.startswith(("flags", "Features"))), "").encode()
    return facts


@cache
def native() -> tuple[str, ...]:
    """The option that lets the compiler use all instructions of this CPU."""
    import platform

    return ("-mcpu=native",) if platform.machine() in ("arm64", "aarch64") else ("-march=native",)


def run(command: list[str], timeout: float | None = None) -> None:
    """Run a compiler or a linker. CompileError with its messages if it fails, or takes longer than so many seconds."""
    import subprocess

    environment = {**os.environ, "LC_ALL": "C"}  # messages in English and ASCII, whatever the user's language
    pipe: Any = subprocess.PIPE
    try:
        process = subprocess.Popen(
            command, stdout=pipe, stderr=pipe, text=True, errors="replace", env=environment, start_new_session=True
        )
    except OSError as error:
        raise CompileError(f"{command[0]} cannot be run: {error.strerror}") from None
    with process:
        try:
            messages = process.communicate(timeout=timeout)[1]
        except subprocess.TimeoutExpired:
            _end(process)
            raise CompileError(f"{command[0]} took longer than {timeout} seconds, and was ended") from None
        except BaseException:
            _end(process)
            raise
    if process.returncode:
        raise CompileError(messages.strip() or f"{command[0]} ended with code {process.returncode}")


def _end(process: Popen[str]) -> None:
    """End a process and those that it has started, such as the compiler proper."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def library(text: str, options: Sequence[str], part: str, anew: bool = False) -> Path:
    """The shared library of a source, compiled unless it is cached. CompileError with the compiler's messages.

    With `anew` it is compiled even if it is cached, because the file may be damaged.
    """
    path = cache_folder(part) / f"{name_of(text, options)}.so"
    if is_ours(path) and not anew:
        return path
    build(text, options, path)
    return path


def name_of(text: str, options: Sequence[str]) -> str:
    """The name of what a source becomes: a hash of everything that determines it."""
    import hashlib

    digest = hashlib.sha256(machine(compiler()))
    digest.update("\0".join((text, *options)).encode())
    return digest.hexdigest()[:40]


def build(
    text: str, options: Sequence[str], path: Path, seal: Seal | None = None, timeout: float | None = None
) -> None:
    """Compile a source to a shared library. What `seal` returns for its bytes is written after them."""
    with workplace(path.parent) as folder:
        source, made = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
        source.write_text(text, encoding="utf-8")
        run([compiler(), *options, "-shared", str(source), "-o", str(made), "-lm"], timeout)
        if seal is not None:
            content = made.read_bytes()
            made.write_bytes(content + seal(content))
        made.replace(path)  # atomic: a file that exists is complete
