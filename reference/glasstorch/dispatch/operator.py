"""What is an operator, and how does a call find its kernel?

Mirrors: aten/src/ATen/core/dispatch/OperatorEntry.h, Dispatcher.h (Dispatcher::call, redispatch)
Differs: the table is a dict from whole masked key sets to kernels, filled when a set is first seen; PyTorch keeps an
    array with a slot for every runtime key. See Note [The table].

# Note [The table]
`table[keys]` is the kernel for a call whose masked key set is `keys`. A miss runs the resolver (`resolve.py`) once and
stores the answer. Any registration raises the global generation and clears tables; a resolver that started under an
older generation returns its answer but may not store it, so no table ever keeps a kernel that has been replaced.
A kernel in the table is called as `kernel(keys, *arguments)`, with every argument of the schema, in order.

# Note [A user's kernel]
What a `Library` registers is called as user code would call it: keyword-only arguments by name, and arguments that
equal their defaults left out, so that `def f(x): ...` can implement `f(Tensor x, int n=1)`. What it calls is recorded,
and gives it its gradient, unless an autograd kernel of the library, or one that switches recording off, ran above it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from glasstorch.core import hooks, symbols
from glasstorch.core.errors import ArgumentError, RegistrationError
from glasstorch.core.keys import DUAL, RECORDED, DispatchKey
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch import runtime_schema
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.schema import Argument, FunctionSchema
from glasstorch.dispatch.schema_reader import parse_schema
from glasstorch.dispatch.tags import Tag

Boxed = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function registered for an operator under a key, and how it is to be called."""

    function: Boxed
    key: DispatchKey
    where: str  # file:line of the registration
    takes_keys: bool = False  # called as f(keys, *arguments) instead of f(*arguments)
    calls_operators: bool = True  # must run with autograd excluded where it stands below autograd
    by_user: bool = False  # called with keyword arguments, defaults left out; see Note [A user's kernel]
    table: object = None  # the library's KernelTable by which it was registered
    boxed: bool = False  # called with the operator in front: one function for several operators
    fast: Boxed | None = None  # runs in front of `function`: Note [Plain and fast] (dispatch/fast.py)


class _Fallthrough:
    """Registered instead of a kernel: skip this key and go on with the next."""

    def __call__(self, *args: object) -> None:
        raise NotImplementedError("fallthrough_kernel() should never be called: the resolver skips it")

    def __repr__(self) -> str:
        return "fallthrough_kernel"


fallthrough_kernel = _Fallthrough()


class Resolution(Protocol):
    """The part of the resolver's answer that a table keeps."""

    @property
    def entry(self) -> Boxed: ...


class Registry:
    """All operators and fallbacks, and the generation of the registrations."""

    def __init__(self) -> None:
        self.operators: dict[str, Operator] = {}
        self.fallbacks: dict[DispatchKey, Kernel] = {}
        self.generation = 0
        self._by_name: dict[str, list[Operator]] = {}  # see `overloads`
        self._indexed = -1, -1  # the generation and the number of operators that it was made of
        self.lock = threading.RLock()
        self.resolve: Callable[[Operator, int], Resolution]  # set by resolve.py, which reads operators
        # Set while a trace is on: makes the table entries that record (dispatch/trace.py).
        self.wrap: Callable[[Operator, Any], Boxed] | None = None
        # Otherwise makes them, once autograd is loaded; see Note [Hops taken at once] (autograd/shortcuts.py).
        self.shorten: Callable[[Operator, int, Any], Boxed] | None = None
        # Makes the entries of calls that are to be recorded (dispatch/record.py).
        self.record: Callable[[Operator, int], Boxed]
        # Makes the entries of calls whose arguments may have tangents (autograd/forward.py).
        self.forward: Callable[[Operator, int], Boxed]

    def changed(self, operator: Operator | None = None) -> None:
        """Make every table (or one operator's) forget what it resolved."""
        with self.lock:
            self.generation += 1
            for changed in (operator, *operator.relied_on_by) if operator is not None else [*self.operators.values()]:
                changed.table.clear()

    def find(self, name: str) -> Operator:
        """The operator of that full name, `aten::add.Tensor`."""
        try:
            return self.operators[name]
        except KeyError:
            raise RegistrationError(
                f"there is no operator {name!r}; expected namespace::name or namespace::name.overload, such as "
                f"'aten::add.Tensor'. overloads({name.partition('::')[2].partition('.')[0]!r}) lists what a name has"
            ) from None

    def overloads(self, namespace: str, name: str) -> list[Operator]:
        """All operators of one name, in the order of declaration."""
        with self.lock:
            if self._indexed != (self.generation, len(self.operators)):
                self._by_name.clear()
                for full, operator in self.operators.items():
                    self._by_name.setdefault(full.partition(".")[0], []).append(operator)
                self._indexed = self.generation, len(self.operators)
            return self._by_name.get(f"{namespace}::{name}", []).copy()


registry = Registry()


class DispatchTable(dict[int, Boxed]):
    """Masked key set -> kernel, filled on demand; see Note [The table]."""

    __slots__ = ("operator",)

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator = operator

    def __missing__(self, keys: int) -> Boxed:
        """The kernel for a set that the table does not hold; kept, unless a registration came in between."""
        generation = registry.generation
        if keys & RECORDED:
            entry = registry.record(self.operator, keys)
        else:
            entry = registry.forward(self.operator, keys) if keys & DUAL else self.resolved(keys)
        with registry.lock:
            if registry.generation == generation:
                self[keys] = entry
        return entry

    def resolved(self, keys: int) -> Boxed:
        """The entry for a set, whether or not the table holds it."""
        resolution = registry.resolve(self.operator, keys)
        if registry.wrap is not None:
            return registry.wrap(self.operator, resolution)
        if registry.shorten is not None:
            return registry.shorten(self.operator, keys, resolution)
        return resolution.entry


class Operator:
    """One overload of one operator: its schema, the kernels registered for it, and its table."""

    __slots__ = (
        *("__dict__", "alias", "defined_at", "family", "kernels", "name", "relied_on_by", "table", "text", "words"),
    )

    def __init__(
        self,
        name: str,
        text: str,
        defined_at: str,
        words: Sequence[str] = (),
        alias: str | None = None,
        family: str = "",
    ) -> None:
        self.name = name  # aten::add.Tensor
        self.text = text  # the schema as written; parsed on first use
        self.defined_at = defined_at
        self.words = words  # the names of the tags
        self.alias = alias  # the operator that this one is another name of, without its namespace
        self.family = family  # of operators/families.py; a user's operator has none
        # For each key the registered kernels; the last one is active.
        self.kernels: dict[DispatchKey, list[Kernel]] = {}
        self.table = DispatchTable(self)
        # Operators whose shortcuts bypass this one: their tables are cleared together with this one's.
        self.relied_on_by: set[Operator] = set()

    @cached_property
    def schema(self) -> FunctionSchema:
        return FunctionSchema.parse(self.text)

    @cached_property
    def parameters(self) -> tuple[list[tuple[str, bool, Any]], int]:
        """Of each parameter the name, whether it has a default, and which; and how many may be given by position."""
        found = [
            (a.name, a.default is not None, None if a.default is None else a.default_value)
            for a in self.schema.arguments
        ]
        return found, len(self.schema.positional)

    @cached_property
    def tags(self) -> list[Tag]:
        """The operator's tags; see dispatch/tags.py."""
        said = [Tag[word] for word in self.words]
        return sorted((*said, Tag.pt2_compliant_tag), key=int) if self.family else said

    @property
    def alias_of(self) -> Operator | None:
        """The operator of which this one is another name."""
        return None if self.alias is None else registry.find(f"{self.namespace}::{self.alias}")

    @cached_property
    def _schema(self) -> runtime_schema.FunctionSchema:
        """The schema as a running program sees and prints it; the name is PyTorch's."""
        return parse_schema(self.text)

    @property
    def namespace(self) -> str:
        return self.name.partition("::")[0]

    @property
    def overload_name(self) -> str:
        return self.name.partition(".")[2]

    @cached_property
    def qualified_overload(self) -> str:
        """`add.Tensor`: the name without the namespace."""
        return self.name.partition("::")[2]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the operator: the plain twin of the generated functions, for any schema."""
        arguments = self.bind(args, kwargs)
        keys = compute_keys(keys_of(arguments))
        result = self.table[keys](keys, *arguments)
        if isinstance(result, tuple):  # names of results are the Python functions' business
            return [*result] if self.schema.returns[0].type.is_list else tuple(result)
        return result

    def redispatch(self, keys: int, *arguments: Any) -> Any:
        """Call the kernel for a key set that the caller has masked; the arguments are complete and in schema order."""
        return self.table[keys](keys, *arguments)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments of one call in the order of the schema, defaults filled in.

        A Python number may stand for a tensor, and an integer for a list of them that has a length (`int[2]`). Other
        types are not checked.
        """
        called = self.name.partition(".")[0]
        parameters = self.schema.arguments
        positional = len(self.schema.positional)
        if (count := len(args) + len(kwargs)) > len(parameters):
            raise ArgumentError(
                f"{called}() expected at most {len(parameters)} argument(s) but received {count} argument(s). "
                f"Declaration: {self.schema}"
            )
        if len(args) > positional:
            raise ArgumentError(
                f"{called}() takes {positional} positional argument(s) but {len(args)} was/were given.  Declaration: "
                f"{self._schema}"
            )
        rest = dict(kwargs)
        bound: list[Any] = []
        for i, parameter in enumerate(parameters):
            if i < len(args):
                if parameter.name in rest:
                    raise ArgumentError(
                        f"Argument '{parameter.name}' specified both as positional and keyword argument. Schema: "
                        f"{self._schema}"
                    )
                bound.append(self._converted(parameter, args[i], i))
            elif parameter.name in rest:
                bound.append(self._converted(parameter, rest.pop(parameter.name), None))
            elif parameter.default is not None:
                bound.append(parameter.default_value)
            else:
                raise ArgumentError(
                    f"{called}() is missing value for argument '{parameter.name}'. Declaration: {self._schema}"
                )
        if rest:
            raise ArgumentError(
                f"Unknown keyword argument '{next(iter(rest))}' for operator '{called}'. Schema: {self._schema}"
            )
        return bound

    def _converted(self, parameter: Argument, value: Any, position: int | None) -> Any:
        kind = parameter.type
        if kind.is_list:
            if kind.base not in ("int", "SymInt") or type(value) is not int:
                return value
            if kind.list_size is not None:
                return [value] * kind.list_size
            wanted = "List[int]"
        elif not kind.is_tensor_like or isinstance(value, TensorImpl) or (value is None and kind.is_optional):
            return value
        elif isinstance(value, symbols.NUMBERS) and self.family:  # a user's takes tensors only
            return hooks.tensor_hooks.wrapped_number(value)
        else:
            wanted = str(kind)
        where = "" if position is None else f"Position: {position}\n"
        raise ArgumentError(
            f"{self.name.partition('.')[0]}() Expected a value of type '{wanted}' for argument '{parameter.name}' but "
            f"instead found type '{type(value).__name__}'.\n{where}Value: {value!r}\nDeclaration: {self._schema}"
        )

    def has_kernel_for(self, key: DispatchKey | str) -> bool:
        return bool(self.kernels.get(DispatchKey[key] if isinstance(key, str) else key))

    def __repr__(self) -> str:
        name, _, overload = str(self).rpartition(".")
        return f"<OpOverload(op='{name}', overload='{overload}')>"

    def __str__(self) -> str:
        dotted = self.name.replace("::", ".")
        return dotted if self.overload_name else dotted + ".default"


def keys_of(arguments: Sequence[Any]) -> int:
    """The union of the key sets of all tensors among the arguments, in lists too."""
    keys = 0
    for argument in arguments:
        if isinstance(argument, TensorImpl):
            keys |= argument.key_set
        elif isinstance(argument, (list, tuple)):
            keys |= keys_of(argument)
    return keys


def tensors_of(arguments: Sequence[Any]) -> Iterator[TensorImpl]:
    """The tensors among the arguments, in lists too."""
    for argument in arguments:
        if isinstance(argument, TensorImpl):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from tensors_of(argument)
