"""What happens when a compiled library of a program is loaded?

Mirrors: torch/_ops.py (_Ops.load_library), torch/utils/cpp_extension.py (_import_module_from_library)
Differs: the library is started by a call, where PyTorch's registers itself while it is loaded. One without the four
    functions of include/glasstorch/abi.h is a plain library: it is loaded, and registers nothing.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
from pathlib import Path
from types import ModuleType
from typing import Final

from glasstorch.utils._cpp import functions as functions  # what they let C++ ask for
from glasstorch.utils._cpp import registrations
from glasstorch.utils._cpp import services as services
from glasstorch.utils._cpp.calls import CppLibrary
from glasstorch.utils._cpp.modules import new_module

_started: Final[dict[int, CppLibrary]] = {}  # by the system's handle, which is the same for the same file
_lock = threading.RLock()


def start(library: ctypes.CDLL, path: str) -> CppLibrary | None:
    """Run what a loaded library registers, the first time; None if it is a plain library."""
    if not hasattr(library, "glasstorch_start"):
        return None
    with _lock:
        found = _started.get(library._handle)
        if found is None:
            found = CppLibrary(library, path)
            try:
                found.start()
            except BaseException:
                registrations.take_back(found)
                raise
            _started[library._handle] = found
        return found


def import_module(name: str, path: Path) -> ModuleType:
    """The module of Python that a library defines."""
    library = ctypes.CDLL(str(path))
    started = start(library, str(path))
    if started is None:
        raise ImportError(f"{path} was not compiled against glasstorch's headers", name=name, path=str(path))
    return new_module(started, name)


@atexit.register
def _stop() -> None:
    """Let tensors in static variables of C++, which end after Python, be."""
    for library in _started.values():
        library.stop()
