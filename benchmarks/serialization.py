"""What does it cost to save and load: a large tensor, a mapped one, many small ones?

Files are on a disk, whose cache holds them. Ours are checked as they are loaded, torch's are not. Those of 100 MB are
measured in seconds that the processor was at work, so that other programs and the disk matter less.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.fusion import busy
from benchmarks.harness import Contest, Run, repeat

LARGE = 25_000_000  # floats: 100 MB
SMALL = 1_000  # tensors of 16 floats


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    with tempfile.TemporaryDirectory() as folder:
        large = {name: (module, module.ones(LARGE), Path(folder, f"{name}.pt")) for name, module in modules.items()}
        yield Contest("`save`, 100 MB", _runs(large, _save, busy), 1, rounds=15, budget=1.5)
        yield Contest("`load`, 100 MB", _runs(large, _load, busy), 1, rounds=15, budget=1.5)
        yield Contest("`load`, 100 MB, `mmap=True`", _runs(large, _map), 20, rounds=9, budget=1.5)
    small = {
        name: (module, {f"layer.{number}.weight": module.ones(4, 4) for number in range(SMALL)}, io.BytesIO())
        for name, module in modules.items()
    }
    yield Contest("`save`, 1,000 small tensors", _runs(small, _save), 1, rounds=20)
    yield Contest("`load`, 1,000 small tensors", _runs(small, _load), 1, rounds=20)


def _runs(
    given: dict[str, tuple[Any, Any, Any]],
    use: Callable[[Any, Any, Any], object],
    measured: Callable[[Callable[[], object]], Run] = repeat,
) -> dict[str, Run]:
    return {name: measured(_bound(use, *arguments)) for name, arguments in given.items()}


def _bound(use: Callable[..., object], *arguments: Any) -> Callable[[], object]:
    return lambda: use(*arguments)


def _save(library: Any, value: Any, file: Any) -> None:
    if isinstance(file, io.BytesIO):
        file.seek(0)
    library.save(value, file)


def _load(library: Any, value: Any, file: Any) -> object:
    if isinstance(file, io.BytesIO):
        file.seek(0)
    return library.load(file)


def _map(library: Any, value: Any, file: Any) -> object:
    return library.load(file, mmap=True)
