"""Which types do programs annotate with?

Mirrors: torch/types.py
Differs: sizes are ints, so `SymInt` and its like, which PyTorch has for sizes that a compiler does not know yet, are
    those of Python.
"""

from __future__ import annotations

import os
from builtins import bool as _bool
from builtins import bytes as _bytes
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from typing import IO, TypeAlias

from glasstorch._tensor import Tensor as Tensor
from glasstorch.core.device import device as _device
from glasstorch.core.geometry import Size
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = _int | _float | _bool
Device: TypeAlias = _device | _str | _int | None
FileLike: TypeAlias = _str | os.PathLike[_str] | IO[_bytes]
Storage: TypeAlias = UntypedStorage | TypedStorage

IntLikeType: TypeAlias = _int
FloatLikeType: TypeAlias = _float
BoolLikeType: TypeAlias = _bool
PySymType: TypeAlias = _int | _float | _bool
py_sym_types = (_int, _float, _bool)

_size: TypeAlias = Size | list[_int] | tuple[_int, ...]  # noqa: PYI042, PYI047  (PyTorch's name, which programs use)

__getattr__ = refuse_unknown_names(__name__)
