"""How does an annotation say what sizes a tensor has?

Mirrors: torch/fx/tensor_type.py
Differs: there are no type variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """The type of tensors of certain sizes, written `TensorType((1, 2, Dyn))` or `TensorType[1, 2, Dyn]`."""

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self) -> Sequence[Any]:
        """The size of each dimension; `Dyn` where it is not known."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.dims}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.dims) == list(other.dims)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        return TensorType(tuple(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args))


class _DynType:
    """The type of what is not known."""

    __name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    def __hash__(self) -> int:
        return hash(_DynType)

    def __repr__(self) -> str:
        return "Dyn"


Dyn: Final = _DynType()


def is_consistent(t1: object, t2: object) -> bool:
    """Whether two types can be those of one value.

    >>> is_consistent(TensorType((1, Dyn, 3)), TensorType((1, 2, 3))), is_consistent(Dyn, int)
    (True, True)
    """
    if t1 == t2 or isinstance(t1, _DynType) or isinstance(t2, _DynType):
        return True
    return _each(t1, t2, is_consistent)


def is_more_precise(t1: object, t2: object) -> bool:
    """Whether the first type says at least as much as the second one, and nothing else.

    >>> is_more_precise(TensorType((1, 2, 3)), TensorType((1, Dyn, 3))), is_more_precise(Dyn, int)
    (True, False)
    """
    if t1 == t2 or isinstance(t2, _DynType):
        return True
    return _each(t1, t2, is_more_precise)


def _each(t1: object, t2: object, holds: Any) -> bool:
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        return False
    return len(t1.dims) == len(t2.dims) and all(map(holds, t1.dims, t2.dims))
