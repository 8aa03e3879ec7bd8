"""How does a reader's CUDA C++ take the place of a header of the library's kernels?

The reader's function returns text. It stands where the library reads the header, before anything is compiled, so that
every kernel that includes it is compiled with the reader's. Each request to launch such a kernel counts
as a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from workbook.exercises.catalogue import Piece
from workbook.exercises.graft_refusals import author_error

MODULES = "glasstorch.devices.modules"  # where kernels come from
FOLDER = "glasstorch/kernels/cuda"


def graft_cuda(piece: Piece, module: ModuleType, text: Callable[[], str | None], count: Callable[[], None]) -> str:
    """Replace a header by a text, and count the launches that use it. Returns what was replaced.

    `text()` is the reader's, or None as long as the library's own stands.
    """
    read, kernel = module._read, module.kernel
    try:
        read(piece.target)
    except FileNotFoundError as error:
        raise author_error(piece, str(error)) from None

    def reading(file: str) -> str:
        own = text() if file == piece.target else None
        return read(file) if own is None else own

    @functools.cache
    def included(file: str) -> bool:
        return file == piece.target or f'"{piece.target}"' in module.source(file)

    @functools.wraps(kernel)
    def asked_for(file: str, *arguments: Any, **named: Any) -> Any:
        if text() is not None and included(file):
            count()
        return kernel(file, *arguments, **named)

    module._read, module.kernel = reading, asked_for  # type: ignore[attr-defined]
    return f"{piece.target} of {FOLDER} is yours, in every kernel that includes it"
