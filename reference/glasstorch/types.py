"""Which types do programs annotate with?

Mirrors: torch/types.py
Differs: there is no class of quantization schemes. Only the ragged size of a nested tensor is a `SymInt`.
"""

from __future__ import annotations

import os
from builtins import bool as _bool
from builtins import bytes as _bytes
from builtins import complex as _complex  # noqa: F401  (PyTorch has it here)
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import IO, Any, Self, TypeAlias

from glasstorch._symbolic import SymBool, SymFloat, SymInt
from glasstorch._tensor import Tensor as Tensor
from glasstorch.autograd.graph import GradientEdge as _GradientEdge
from glasstorch.core.device import device as _device
from glasstorch.core.dtype import dtype as _dtype
from glasstorch.core.geometry import Size
from glasstorch.core.keys import DispatchKey
from glasstorch.core.layout import layout as _layout  # noqa: F401
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = _int | _float | _bool
Device: TypeAlias = _device | _str | _int | None
FileLike: TypeAlias = _str | os.PathLike[_str] | IO[_bytes]
IntLikeType: TypeAlias = _int | SymInt
FloatLikeType: TypeAlias = _float | SymFloat
BoolLikeType: TypeAlias = _bool | SymBool
PySymType: TypeAlias = SymInt | SymFloat | SymBool
py_sym_types = (SymInt, SymFloat, SymBool)

# PyTorch's names, which programs use
_Number = (_int, _float, _bool)
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]  # noqa: PYI047
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]  # noqa: PYI047
_TensorOrTensorsOrGradEdge: TypeAlias = Tensor | Sequence[Tensor] | _GradientEdge | Sequence[_GradientEdge]  # noqa: PYI047
_symsize: TypeAlias = Size | Sequence[_int | SymInt]  # noqa: PYI042, PYI047
_dispatchkey: TypeAlias = _str | DispatchKey  # noqa: PYI042, PYI047
_size: TypeAlias = Size | list[_int] | tuple[_int, ...]  # noqa: PYI042, PYI047


class Storage:
    """What programs may ask of any storage, for annotations: no storage is an instance of this class."""

    _cdata: _int
    device: _device
    dtype: _dtype
    _torch_load_uninitialized: _bool

    def __deepcopy__(self, memo: dict[_int, Any]) -> Self:
        raise NotImplementedError

    def _new_shared(self, size: _int) -> Self:
        raise NotImplementedError

    def _write_file(self, f: Any, is_real_file: _bool, save_size: _bool, element_size: _int) -> None:
        raise NotImplementedError

    def element_size(self) -> _int:
        raise NotImplementedError

    def is_shared(self) -> _bool:
        raise NotImplementedError

    def share_memory_(self) -> Self:
        raise NotImplementedError

    def nbytes(self) -> _int:
        raise NotImplementedError

    def cpu(self) -> Self:
        raise NotImplementedError

    def data_ptr(self) -> _int:
        raise NotImplementedError

    def from_file(self, filename: _str, shared: _bool = False, nbytes: _int = 0) -> Self:
        raise NotImplementedError

    def _new_with_file(self, f: Any, element_size: _int) -> Self:
        raise NotImplementedError


__getattr__ = refuse_unknown_names(__name__)
