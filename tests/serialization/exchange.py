"""How do tests save with one library and load with the other?"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import glasstorch

Make = Callable[[Any], Any]  # makes an object of the library it is given


def saved(library: Any, value: Any, **options: Any) -> io.BytesIO:
    """A file in memory with a saved object, ready to be loaded."""
    file = io.BytesIO()
    library.save(value, file, **options)
    file.seek(0)
    return file


def exchanged(torch: Any, make: Make, weights_only: bool = True, **options: Any) -> dict[str, tuple[Any, Any]]:
    """An object saved by each library and loaded by the other, and by ours itself: what was loaded and is expected."""
    ways = {"ours in torch": (glasstorch, torch), "torch's in ours": (torch, glasstorch), "ours": (glasstorch,) * 2}
    return {
        way: (reader.load(saved(writer, make(writer), **options), weights_only=weights_only), make(reader))
        for way, (writer, reader) in ways.items()
    }


def facts(value: Any) -> Any:
    """What two objects of the two libraries have in common if they are the same: types by name, tensors by content."""
    kind = type(value)
    if hasattr(value, "untyped_storage"):
        own = {name: facts(held) for name, held in vars(value).items()}
        about = (str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset(), str(value.device))
        bits = (value.requires_grad, value.is_leaf, value.is_conj(), value.is_neg())
        return kind.__name__, about, bits, None if value.is_meta else content(value), own
    if isinstance(value, dict):
        held = vars(value) if hasattr(value, "__dict__") else {}
        return kind.__name__, [(facts(key), facts(item)) for key, item in value.items()], facts(held) if held else None
    if isinstance(value, list | tuple):
        return kind.__name__, [facts(item) for item in value]
    if isinstance(value, set | frozenset):
        return kind.__name__, sorted(repr(facts(item)) for item in value)
    if hasattr(value, "nbytes") and hasattr(value, "untyped"):
        return kind.__name__, list(value.untyped())
    return kind.__name__, repr(value)


def content(tensor: Any) -> bytes:
    """The bytes of a tensor's storage."""
    return bytes(list(tensor.untyped_storage()))


def sharing(value: Any) -> list[int]:
    """Which tensors of a tree share their storage: for each, the number of the first that has it."""
    seen: dict[int, int] = {}
    return [
        seen.setdefault(tensor.untyped_storage().data_ptr(), number) for number, tensor in enumerate(tensors(value))
    ]


def tensors(value: Any) -> list[Any]:
    """The tensors of a tree that have bytes, in order."""
    if hasattr(value, "untyped_storage"):
        return [value] if value.untyped_storage().data_ptr() else []
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in tensors(item)] if isinstance(value, list | tuple) else []
