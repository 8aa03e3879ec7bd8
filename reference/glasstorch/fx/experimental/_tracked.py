"""Which node of a graph stands for a tensor that a program computes with?

Mirrors: torch/fx/experimental/proxy_tensor.py (track_tensor_tree, set_meta, get_proxy_slot)
Differs: sizes are numbers. A tensor is found by its identity, and forgotten when it dies.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.core.layout import strided
from glasstorch.fx._names import at
from glasstorch.fx.passes.shape_prop import _extract_tensor_metadata
from glasstorch.fx.proxy import Proxy


class Tracked(NamedTuple):
    """What stands for a tensor: a proxy, and the tensor's values if they are those of a constant."""

    proxy: Proxy
    constant: Tensor | None


class TensorTracker:
    """The tensors of one trace, with what stands for each."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Tensor], Tracked]] = {}

    def __setitem__(self, tensor: Tensor, tracked: Tracked) -> None:
        number = id(tensor)
        gone = weakref.ref(tensor, lambda _: self._entries.pop(number, None) and None)
        self._entries[number] = gone, tracked

    def get(self, tensor: Tensor) -> Tracked | None:
        """What stands for a tensor; None for one that the trace has not seen."""
        found = self._entries.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def __contains__(self, tensor: Tensor) -> bool:
        return self.get(tensor) is not None


def track_tree(result: Any, proxy: Any, constant: Any, tracker: TensorTracker) -> None:
    """Let a proxy stand for a result; for a container, its items stand for the result's."""
    if isinstance(result, Tensor):
        tracker[result] = Tracked(proxy, constant)
        set_meta(proxy, result)
    elif isinstance(result, dict):
        for key, value in result.items():
            track_tree(value, proxy[key], None, tracker)
    elif isinstance(result, list | tuple):
        if isinstance(proxy, Proxy):
            set_meta(proxy, result)
        for i, value in enumerate(result):
            track_tree(value, proxy[i], None if constant is None else constant[i], tracker)


def set_meta(proxy: Proxy, value: Any) -> None:
    """Note in a node what its result is: a fake tensor in `meta["val"]`, its facts in `meta["tensor_meta"]`."""
    proxy.node.meta["val"] = extract_val(value)
    if isinstance(value, Tensor) and value.layout is strided:
        proxy.node.meta["tensor_meta"] = _extract_tensor_metadata(value)


def extract_val(value: Any) -> Any:
    """A value with fake tensors, which hold no elements, in place of tensors; None for a sparse one."""
    if isinstance(value, FakeTensor):
        return value.detach()
    if isinstance(value, Tensor):
        return _without_elements(value) if value.layout is strided else None
    if isinstance(value, list | tuple):
        return type(value)(*map(extract_val, value)) if hasattr(value, "_fields") else type(value)(_each(value))
    if isinstance(value, dict):
        return {key: extract_val(item) for key, item in value.items()}
    return value


def _each(values: Any) -> Iterator[Any]:
    return map(extract_val, values)


def _without_elements(value: Tensor) -> Any:
    with FakeTensorMode(allow_fallback_kernels=True):
        return at("empty_strided")(value.shape, value.stride(), device=value.device, dtype=value.dtype)
