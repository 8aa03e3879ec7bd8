"""How does machine code that was compiled go with a program to another machine of the same kind?

Mirrors: torch/compiler/_cache.py (CacheArtifactManager, CacheInfo)
Differs: the artifacts are the shared libraries of kernels. As in PyTorch, what is loaded is executed later: load only
    what you have saved.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from glasstorch.compiler.loops.cache import folder, is_whole, used
from glasstorch.devices.cpp_compiler import workplace

KIND: Final = "machine_code"
NAME: Final = re.compile(r"[\w.-]+\.so")
MOST: Final = 1 << 28  # bytes of all artifacts


@dataclass
class CacheInfo:
    """The artifacts that were saved or loaded, by kind."""

    artifacts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def machine_code_artifacts(self) -> list[str]:
        """The names of shared libraries."""
        return self.artifacts.get(KIND, [])

    def empty(self) -> bool:
        """Whether there are none."""
        return not self.artifacts

    def clear(self) -> None:
        """Forget them."""
        self.artifacts.clear()


def save_cache_artifacts() -> tuple[bytes, CacheInfo] | None:
    """The machine code that this process has used, as bytes; None if there is none."""
    found = {path.name: path for path in used if is_whole(path)}  # the same code may lie in two folders
    paths = [found[name] for name in sorted(found)]
    if not paths:
        return None
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for path in paths:
            file.writestr(path.name, path.read_bytes())
    return made.getvalue(), CacheInfo({KIND: [path.name for path in paths]})


def load_cache_artifacts(serialized_artifacts: bytes) -> CacheInfo | None:
    """Keep machine code that `save_cache_artifacts` has given, so that it need not be compiled; what was kept.

    None, and nothing is kept, if the bytes are not whole.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(serialized_artifacts)) as file:
            if sum(info.file_size for info in file.infolist()) > MOST:
                return None
            found = {info.filename: file.read(info) for info in file.infolist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError):
        return None
    if not all(NAME.fullmatch(name) and _is_sealed(content) for name, content in found.items()):
        return None
    place = folder()
    for name, content in found.items():
        if not is_whole(place / name):
            with workplace(place) as part:
                made = Path(part, name)
                made.write_bytes(content)
                made.chmod(0o700)
                made.replace(place / name)
    return CacheInfo({KIND: sorted(found)}) if found else None


def _is_sealed(content: bytes) -> bool:
    size = sha256().digest_size
    return len(content) > size and sha256(content[:-size]).digest() == content[-size:]
