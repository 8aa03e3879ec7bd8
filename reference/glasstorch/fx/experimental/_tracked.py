"""Which node of a graph stands for a tensor or a symbol that a program computes with?

Mirrors: torch/fx/experimental/proxy_tensor.py (track_tensor_tree, track_tensor, set_meta, get_proxy_slot)
Differs: a tensor is found by its identity, and forgotten when it dies.

A size gets its node when another node needs it: most are never used by an operator. What is computed of sizes gets a
node at once, and loses it at the end if nothing needs it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, _sizes_are_general
from glasstorch._tensor import Tensor
from glasstorch.core.layout import strided
from glasstorch.core.symbols import SYMBOLS, has_symbols, is_symbol
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


class SymbolTracker:
    """The symbols of one trace. The first node that can stand for one does: later ones would only say the same."""

    def __init__(self) -> None:
        self._of_node: dict[int, tuple[Any, Callable[[], Proxy]]] = {}
        self._of_expression: dict[Any, Callable[[], Proxy]] = {}

    def __setitem__(self, symbol: Any, make: Callable[[], Proxy]) -> None:
        node = symbol.node
        if id(node) not in self._of_node:
            made = cache(make)
            self._of_node[id(node)] = node, made  # the node is kept, so that no other gets its number
            self._of_expression.setdefault(node.expr, made)

    def proxy(self, symbol: Any) -> Any:
        """What stands for a symbol, made now if it has not been needed before; its number, if it is one by now."""
        node = symbol.node
        found = self._of_node.get(id(node))
        if found is not None:
            return found[1]()
        if (number := node.maybe_as_int()) is not None:
            return number
        if (made := self._of_expression.get(node.expr)) is not None:
            return made()
        raise RuntimeError(
            f"{symbol} ({type(symbol).__name__}) is not tracked with proxy: it was computed while nothing was "
            "recorded, and no size of a tensor in the graph is this expression"
        )


class Trackers(NamedTuple):
    """What stands for the tensors of a trace, and for its symbols."""

    tensors: TensorTracker
    symbols: SymbolTracker


def track_tree(result: Any, proxy: Any, constant: Any, trackers: Trackers) -> None:
    """Let a proxy stand for a result; for a container, its items stand for the result's."""
    if isinstance(result, Tensor):
        trackers.tensors[result] = Tracked(proxy, constant)
        set_meta(proxy, result)
        _track_sizes(result, proxy, trackers.symbols)
    elif isinstance(result, SYMBOLS):
        trackers.symbols[result] = lambda: proxy
        proxy.node.meta["val"] = result
    elif isinstance(result, dict):
        for key, value in result.items():
            track_tree(value, proxy[key], None, trackers)
    elif isinstance(result, list | tuple):
        if isinstance(proxy, Proxy):
            set_meta(proxy, result)
        for i, value in enumerate(result):
            track_tree(value, proxy[i], None if constant is None else constant[i], trackers)


def _track_sizes(tensor: Tensor, proxy: Proxy, symbols: SymbolTracker) -> None:
    """Let questions about a tensor stand for the symbols of its geometry."""
    if tensor.layout is not strided or not has_symbols((*tensor._shape, *tensor.strides(), tensor._offset)):
        return

    def note(symbol: Any, question: str, *arguments: int) -> None:
        def make() -> Proxy:
            asked = at(f"ops.aten.{question}")
            made: Proxy = proxy.tracer.create_proxy("call_function", asked, (proxy, *arguments), {})
            made.node.meta["val"] = symbol
            return made

        if is_symbol(symbol):
            symbols[symbol] = make

    for i, size in enumerate(tensor._shape):
        note(size, "sym_size.int", i)
    for i, stride in enumerate(tensor.strides()):
        note(stride, "sym_stride.int", i)
    note(tensor.numel(), "sym_numel.default")
    note(tensor._offset, "sym_storage_offset.default")


def set_meta(proxy: Proxy, value: Any) -> None:
    """Note in a node what its result is: a fake tensor in `meta["val"]`, its facts in `meta["tensor_meta"]`."""
    proxy.node.meta["val"] = extract_val(value)
    if isinstance(value, Tensor) and value.layout is strided:
        with _sizes_are_general(value.fake_mode.shape_env if isinstance(value, FakeTensor) else None):
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
