"""How is an operator called by its own name, as `ops.aten.add.Tensor`?

Mirrors: torch/_ops.py (_Ops, _OpNamespace, OpOverloadPacket, OpOverload)
Differs: an overload is the Operator itself.

`ops.aten.add` is a packet of overloads and resolves calls; `ops.aten.add.Tensor` is one operator. Operators of a user's
Library appear here as soon as they are defined.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.calls.parser import PythonFunction
from glasstorch.core.plain_types import SILENT
from glasstorch.core.unknown_names import nearest
from glasstorch.dispatch.operator import Operator, registry


class OpOverloadPacket:
    """All overloads of one name."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = name
        self._function: PythonFunction | None = None
        self._generation = -1

    def overloads(self) -> list[str]:
        """The overloads' names; the one without a name is `default`."""
        return [o.overload_name or "default" for o in registry.overloads(self._namespace, self.__name__)]

    def __getattr__(self, overload: str) -> Operator:
        for operator in registry.overloads(self._namespace, self.__name__):
            if (operator.overload_name or "default") == overload:
                return operator
        raise AttributeError(
            f"The underlying op of '{self}' has no overload name '{overload}'; it has {', '.join(self.overloads())}"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is None or self._generation != registry.generation:
            operators = registry.overloads(self._namespace, self.__name__)
            plain = [o.qualified_overload for o in operators if not o.schema.is_out]
            outs = [o.qualified_overload for o in operators if o.schema.is_out]
            self._function = PythonFunction(self.__name__, plain, outs, self._namespace)
            self._generation = registry.generation
        if not SILENT.issuperset(map(type, args)):
            answer = ask(self, f"torch.ops.{self}", args, kwargs)
            if answer is not UNASKED:
                return answer
        return self._function(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class _OpNamespace:
    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._packets: dict[str, OpOverloadPacket] = {}

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if not registry.overloads(self._namespace, name):
            raise AttributeError(
                f"'_OpNamespace' '{self._namespace}' object has no attribute '{name}': {self._advice(name)}", name=name
            )
        return self._packets.setdefault(name, OpOverloadPacket(self._namespace, name))

    def _advice(self, name: str) -> str:
        known = dir(self)
        if not known:
            return "no operator is defined in this namespace; dir(torch.ops) lists those that have one"
        match = nearest(name, known)
        suggestion = f"the nearest name is '{match}'; " if match else ""
        return f"{suggestion}dir(torch.ops.{self._namespace}) lists what there is"

    def __dir__(self) -> list[str]:
        start = self._namespace + "::"
        return sorted({n.removeprefix(start).partition(".")[0] for n in registry.operators if n.startswith(start)})


class _Ops:
    """The namespaces of operators, as attributes: `ops.aten`."""

    def __init__(self) -> None:
        self._namespaces: dict[str, _OpNamespace] = {}
        self.loaded_libraries: set[str] = set()

    def load_library(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refused: a library of operators is compiled against PyTorch's C++ library."""
        raise OSError(
            f"Could not load this library: {os.fspath(path)}: its operators need PyTorch's C++ library, which "
            "glasstorch does not have; define them in Python with torch.library"
        )

    def __getattr__(self, namespace: str) -> _OpNamespace:
        if namespace.startswith("__"):
            raise AttributeError(namespace)
        return self._namespaces.setdefault(namespace, _OpNamespace(namespace))

    def __dir__(self) -> list[str]:
        return sorted({name.partition("::")[0] for name in registry.operators})


ops = _Ops()
