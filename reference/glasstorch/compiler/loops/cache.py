"""Where is machine code kept, and when may it be used again?

Mirrors: torch/_inductor/codecache.py (CacheBase, FxGraphCache), torch/_inductor/runtime/cache_dir_utils.py
Differs: only machine code is kept, under a hash of source, options, compiler and CPU; a graph is lowered again in each
    process, which takes milliseconds.

A file is used only if it belongs to the user, lies in a folder that no other user can write to or replace,
and ends with the hash of what comes before. Anything else is compiled again. Processes that need the same code wait for
the one that compiles it.
When the files take more than MOST_BYTES, those go first that were not used for longest. What a process that was killed
has left goes after an hour.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Final

from glasstorch.compiler.config import settings as of_all
from glasstorch.compiler.loops.settings import settings
from glasstorch.devices.cpp_compiler import build, cache_folder, is_ours, name_of

PART: Final = "compiled"
MOST_BYTES: Final = 1 << 28
TIMEOUT: Final = 120.0  # seconds that a compilation may take
LEFT_BEHIND: Final = 3600.0  # seconds after which a lock or a temporary folder is taken for abandoned
used: Final[set[Path]] = set()  # by this process


def folder() -> Path:
    """The folder of the machine code. CompileError if others may write to it."""
    return cache_folder(PART)


def machine_code(text: str, options: Sequence[str]) -> Path:
    """The shared library of a source: kept from before, or compiled now. CompileError if that is impossible."""
    place = folder()
    path = place / f"{name_of(text, options)}.so"
    used.add(path)
    is_kept = settings.fx_graph_cache and not (settings.force_disable_caches or of_all.force_disable_caches)
    if is_kept and is_whole(path):
        with suppress(OSError):
            os.utime(path)  # it was used
        return path
    with locked(path.with_suffix(".lock")):
        if not is_kept or not is_whole(path):
            build(text, options, path, seal=lambda content: sha256(content).digest(), timeout=TIMEOUT)
            prune(place, keep=path)
    return path


def is_whole(path: Path) -> bool:
    """Whether a file is ours, and what was written."""
    try:
        if not is_ours(path):
            return False
        content = path.read_bytes()
    except OSError:
        return False
    size = sha256().digest_size
    return len(content) > size and sha256(content[:-size]).digest() == content[-size:]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out, where the system has locks on files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()


def prune(place: Path, keep: Path, most: int = MOST_BYTES) -> None:
    """Remove what was not used for longest until no more than so many bytes are left, and what was left behind."""
    kept = []
    for path in (*place.glob("*.lock"), *place.glob("tmp*")):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFT_BEHIND:
                rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
    for path in place.glob("*.so"):
        with suppress(OSError):  # another process may have removed it
            about = path.stat()
            kept.append((about.st_mtime, about.st_size, path))
    total = sum(size for _, size, _ in kept)
    for _, size, path in sorted(kept):
        if total <= most:
            return
        if path != keep:
            with suppress(OSError):
                path.unlink()
                total -= size
