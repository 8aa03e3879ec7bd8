"""How is a tensor that wraps others taken apart and put together again?

Mirrors: torch/utils/_python_dispatch.py (is_traceable_wrapper_subclass, transform_subclass)
Differs: sizes and strides are numbers, never symbols.

A class says which of its attributes are tensors in `__tensor_flatten__`, with whatever else it needs to know, and makes
an instance of such parts in `__tensor_unflatten__`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from glasstorch._tensor import Tensor
from glasstorch.dispatch.python_fallback import is_taken_apart


class TraceableWrapperSubclass(Protocol):
    """A tensor that wraps others, and whose class says how it is taken apart and put together."""

    def __tensor_flatten__(self) -> tuple[Sequence[str], object]:
        """The names of the attributes that are tensors, and what else its class must know to make it again."""

    @staticmethod
    def __tensor_unflatten__(
        inner_tensors: Mapping[str, Tensor], metadata: object, outer_size: Sequence[int], outer_stride: Sequence[int]
    ) -> Tensor:
        """The tensor made again: of its parts by name, of what else there is to know, of its sizes and strides."""


TensorWithFlatten = TraceableWrapperSubclass


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether an object is a tensor whose class can take it apart and put it together."""
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a class of tensors can take them apart and put them together."""
    return issubclass(t, Tensor) and t is not Tensor and _has_traceable_wrapper_subclass_protocol(t)


def _has_traceable_wrapper_subclass_protocol(t: object) -> bool:
    return is_taken_apart(t if isinstance(t, type) else type(t))


def transform_subclass(
    t: Any,
    callback: Callable[[str, Any], Any],
    outer_size: Sequence[int] | None = None,
    outer_stride: Sequence[int] | None = None,
) -> Any:
    """A tensor of the class of `t`, each of its inner tensors replaced by `callback(name, inner)`.

    It has no history, and shares no memory with `t` unless its parts do.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(parts, context, size, stride)
    for what, wanted, got in (("shape", size, made.shape), ("stride", stride, made.stride())):
        if got != wanted:
            raise AssertionError(
                f"Expected return value from {type(t)}__tensor_unflatten__() to have {what} equal to {wanted}, but "
                f"got: {got}"
            )
    return made
