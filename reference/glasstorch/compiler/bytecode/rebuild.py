"""How does what a capture returns become objects again, when its graph has run?

Mirrors: torch/_dynamo/codegen.py (PyCodegen)
Differs: closures instead of bytecode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Known, Mapping, TensorValue, Value, describe
from glasstorch.compiler.bytecode.values import Sequence as Items
from glasstorch.fx.proxy import Proxy

Build = Callable[[Sequence[Any], Callable[[str], Any]], Any]  # of the graph's results, and of what a source fetches


def rebuilding(value: Value, results: list[Proxy]) -> Build:
    """A function that makes the object which a value stands for; the tensors that it needs are added to `results`.

    What came from outside and was not changed is the very object that came.
    """
    if isinstance(value, TensorValue):
        return _tensor(value, results)
    if isinstance(value, Constant | Known):
        obj = value.value
        return lambda found, fetch: obj
    if value.source is not None and isinstance(value, Items | Mapping):
        expression = value.source.expression
        return lambda found, fetch: fetch(expression)
    if isinstance(value, Items):
        parts, kind = [rebuilding(item, results) for item in value.items], value.kind
        if hasattr(kind, "_fields"):
            return lambda found, fetch: kind(*(part(found, fetch) for part in parts))
        return lambda found, fetch: kind([part(found, fetch) for part in parts])
    if isinstance(value, Mapping):
        named = {key: rebuilding(item, results) for key, item in value.items.items()}
        return lambda found, fetch: {key: part(found, fetch) for key, part in named.items()}
    raise Unsupported(f"{describe(value)} as a result")


def _tensor(value: TensorValue, results: list[Proxy]) -> Build:
    if value.source is not None:
        expression = value.source.expression
        return lambda found, fetch: fetch(expression)
    nodes = [proxy.node for proxy in results]
    if value.proxy.node not in nodes:
        results.append(value.proxy)
        nodes.append(value.proxy.node)
    number = nodes.index(value.proxy.node)
    return lambda found, fetch: found[number]
