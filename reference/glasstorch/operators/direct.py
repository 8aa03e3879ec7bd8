"""How does the library call an operator directly, without parsing a Python call?

Mirrors: aten/src/ATen/Operators.cpp (at::_ops::view::call)
Differs: a closure for each operator that composite kernels use; in C++ there is one for every operator.

The functions in `generated/functions.py` must resolve the overload of a Python call. A composite kernel knows it, and
passes every argument of the schema, in order and converted. What remains is the dispatch: the masked key set, then
the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import keys_of
from glasstorch.operators.generated.registry import table as table_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from glasstorch._tensor import Tensor

    Result = TypeVar("Result", default=Tensor)  # what the schema returns; one tensor by default


def on_tensor(name: str) -> Callable[..., Result]:
    """Calls an operator whose first argument is its only tensor."""
    table = table_of(name)

    def call(self: TensorImpl, *rest: Any) -> Any:
        included, allowed = active_keys.get()
        keys = (self.key_set | included) & allowed
        return table[keys](keys, self, *rest)

    return call


def on_pair(name: str) -> Callable[..., Result]:
    """Calls an operator whose first two arguments are its only tensors."""
    table = table_of(name)

    def call(self: TensorImpl, other: TensorImpl, *rest: Any) -> Any:
        included, allowed = active_keys.get()
        keys = (self.key_set | other.key_set | included) & allowed
        return table[keys](keys, self, other, *rest)

    return call


def factory(name: str) -> Callable[..., Result]:
    """Calls an operator that takes no tensors."""
    table = table_of(name)

    def call(*arguments: Any) -> Any:
        included, allowed = active_keys.get()
        keys = included & allowed
        return table[keys](keys, *arguments)

    return call


def on_tensors(name: str) -> Callable[..., Result]:
    """Calls an operator whose tensors may stand anywhere in its arguments, also in lists."""
    table = table_of(name)

    def call(*arguments: Any) -> Any:
        included, allowed = active_keys.get()
        keys = (keys_of(arguments) | included) & allowed
        return table[keys](keys, *arguments)

    return call
