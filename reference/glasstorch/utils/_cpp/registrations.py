"""How do TORCH_LIBRARY and TORCH_LIBRARY_IMPL reach the dispatcher?

Mirrors: aten/src/ATen/core/library.cpp
Differs: what C++ registers stays as long as the process. If a block is refused, what its library had registered before
    is taken back.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.core.errors import RegistrationError
from glasstorch.dispatch.library import Library, place
from glasstorch.dispatch.operator import Boxed, fallthrough_kernel, registry
from glasstorch.utils._cpp.calls import CppLibrary, service


class _Block(Library):
    """A block of C++ code: registered where its macro stands."""

    def __init__(self, owner: CppLibrary, kind: str, ns: str, key: str, where: str) -> None:
        self.owner = owner
        self.where = where
        super().__init__(ns, kind, key)

    def _place(self) -> str:
        return self.where


_blocks: Final[dict[int, _Block]] = {}


def take_back(owner: CppLibrary) -> None:
    """Remove what a library registered."""
    for number in [number for number, block in _blocks.items() if block.owner is owner]:
        _blocks.pop(number).close()


@service
def library(owner: CppLibrary, kind: str, ns: str, key: str, file: str, line: int) -> list[Any]:
    """Begin a block."""
    number = len(_blocks) + 1
    _blocks[number] = _Block(owner, kind, ns, key, place(file, line))
    return [number]


@service
def define(owner: CppLibrary, number: int, schema: str) -> None:
    """Declare an operator."""
    _blocks[number].define(schema)


@service
def implement(owner: CppLibrary, number: int, name: str, key: str, closure: int) -> None:
    """Register a kernel; none is a fallthrough."""
    block = _blocks[number]
    block.impl(name, _kernel(owner, block.ns, name, closure) if closure else fallthrough_kernel, key)


@service
def fall_through(owner: CppLibrary, number: int, key: str) -> None:
    """Let every operator without a kernel for a key go on to the next one."""
    _blocks[number].fallback(fallthrough_kernel, key)


def _kernel(owner: CppLibrary, ns: str, name: str, closure: int) -> Boxed:
    """A closure as a kernel: called with all arguments of the schema, in order."""
    operator = registry.find(name if "::" in name else f"{ns}::{name}")
    parameters = operator.schema.arguments
    floats = [i for i, a in enumerate(parameters) if a.type.is_list and a.type.base == "float"]
    results = len(operator.schema.returns)

    def kernel(*args: Any, **named: Any) -> Any:
        values = operator.bind(args, named) if named or len(args) < len(parameters) else list(args)
        for i in floats:
            values[i] = None if values[i] is None else [float(each) for each in values[i]]
        found = owner.run(closure, values)
        if len(found) != results:
            raise RegistrationError(
                f"{operator.name}: its kernel in {owner.path} returned {len(found)} results; the schema says {results}"
            )
        return tuple(found) if results > 1 else found[0] if found else None

    kernel.__name__ = kernel.__qualname__ = f"{operator.name} in C++"
    return kernel
