"""Which function of simpler operators may take an operator's place, and how does a program add one?

Mirrors: torch/_decomp/__init__.py
Differs: a decomposition is registered under the operator's name in the table of operators. In-place and out= forms are
    those of the operator that is decomposed, which they copy. A table is a plain dict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from glasstorch.calls.ops import OpOverloadPacket
from glasstorch.core.keys import DispatchKey
from glasstorch.core.pytree import tree_leaves
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.overload import OpOverload
from glasstorch.operators.generated.registry import OPERATORS

Decomposition = Callable[..., Any]
Table = dict[Any, Decomposition]
D = TypeVar("D", bound=Callable[..., Any])

global_decomposition_table: Final[dict[str, Table]] = defaultdict(dict)
decomposition_table: Final = global_decomposition_table["post_autograd"]
pre_autograd_decomposition_table: Final = global_decomposition_table["pre_autograd"]
meta_table: Final = global_decomposition_table["meta"]

# The names of operators of the library that the core table decomposes.
CORE: Final[set[str]] = set()
# The names of those whose decompositions would run as several kernels where theirs is one.
APART: Final[set[str]] = set()


def operator_named(name: str) -> Any:
    """The operator of a name in the table of operators, as `native_layer_norm` or `lerp.Tensor`."""
    return registry.operators[f"aten::{name}"]


def decomposes(*names: str, core: bool = True, fuses: bool = True) -> Callable[[D], D]:
    """A decorator: the function below computes what these operators of the library do, of simpler ones.

    Unless `core` is false, `core_aten_decompositions` has it: it leaves none but core operators. `fuses` is false where
    the simpler ones do not become one loop, as they gather by indices, multiply matrices, or have no loops at all.
    """

    def keep(function: D) -> D:
        for name in names:
            _add(decomposition_table, operator_named(name), function)
            if core:
                CORE.add(name)
            if not fuses:
                APART.add(name)
        return function

    return keep


def by_kernel(*names: str) -> None:
    """The kernel of these operators, which is one for every backend and composed of others, is their decomposition."""
    for name in names:
        operator = operator_named(name)
        function = operator.kernels[DispatchKey.CompositeExplicitAutograd][-1].function
        decomposes(name)(lambda *args, _=(operator, function), **kwargs: _[1](*_[0].bind(args, kwargs)))


def register_decomposition(
    aten_op: Any, registry: Table | None = None, *, type: str = "post_autograd", unsafe: bool = False
) -> Callable[[D], D]:
    """A decorator: the function below decomposes an operator, all overloads of one, or several operators.

    It is kept in `registry`, or else in the table of this type: "post_autograd", "pre_autograd" or "meta". An operator
    that the table decomposes already raises RuntimeError.
    """
    if type not in ("post_autograd", "pre_autograd", "meta"):
        raise AssertionError(f"type must be one of post_autograd, pre_autograd, or meta, got {type}")
    table = global_decomposition_table[type] if registry is None else registry

    def keep(function: D) -> D:
        for operator in tree_leaves(aten_op):
            for overload in _overloads(operator):
                _add(table, overload, function)
        return function

    return keep


def _overloads(operator: Any) -> Iterable[Any]:
    if isinstance(operator, OpOverloadPacket):
        return operator.op_overloads()
    if not isinstance(operator, OpOverload):
        raise AssertionError(f"expected OpOverloadPacket, got {operator.__class__}")
    return (operator,)


def _add(table: Table, operator: Any, function: Decomposition) -> None:
    if operator in table:
        raise RuntimeError(f"duplicate registrations for {operator}")
    table[operator] = function


def get_decompositions(aten_ops: Sequence[Any], type: str = "post_autograd") -> Table:
    """The part of the table that decomposes these operators; of a packet, all its overloads.

    Operators that are not decomposed are left out.
    """
    if type not in ("post_autograd", "pre_autograd", "meta"):
        raise AssertionError(f"type must be one of post_autograd, pre_autograd, or meta, got {type}")
    table = global_decomposition_table[type]
    asked = {overload for operator in aten_ops for overload in _overloads_or_itself(operator)}
    return {operator: function for operator, function in table.items() if operator in asked}


def _overloads_or_itself(operator: Any) -> Iterable[Any]:
    return operator.op_overloads() if isinstance(operator, OpOverloadPacket) else (operator,)


def remove_decompositions(decompositions: Table, aten_ops: Sequence[Any]) -> None:
    """Take the decompositions of these operators, or of all overloads of a packet, out of a table."""
    for operator in aten_ops:
        for overload in _overloads_or_itself(operator):
            decompositions.pop(overload, None)


def core_aten_decompositions() -> Table:
    """A table that leaves only operators with the tag `core`, and those that nothing decomposes.

    The operators that are composed of others in any case are in it too.
    """
    return {**_composed(), **_core_aten_decompositions_post_autograd()}


def fusing_decompositions() -> Table:
    """The core table without what fuses not: it leaves those operators whole whose own kernel is faster."""
    return {op: function for op, function in core_aten_decompositions().items() if _functional_name(op) not in APART}


def _core_aten_decompositions_post_autograd() -> Table:
    return {op: function for op, function in decomposition_table.items() if _functional_name(op) in CORE}


def _functional_name(operator: Operator) -> str:
    """The name of an operator, or of the one that it is a form of, in the table of operators."""
    name: str = operator.name.removeprefix("aten::")
    return FORM_OF.get(name, name)


def _composed() -> Table:
    found: Table = {}
    for row in OPERATORS:
        if row.composite is not None and row.composite[0] == "CompositeImplicitAutograd":
            operator: Any = operator_named(row.name)
            if not any(argument.type.is_write for argument in operator.schema.arguments):
                found[operator] = operator.decompose
    return found


# In-place and out= forms --------------------------------------------------------------------------------------------

FORM_OF: Final[dict[str, str]] = {row.name: row.functional for row in OPERATORS if row.functional is not None}


def register_forms() -> None:
    """Register the in-place and out= forms of all operators that are decomposed so far."""
    for form, functional in FORM_OF.items():
        function, operator = decomposition_table.get(operator_named(functional)), operator_named(form)
        if function is not None and operator not in decomposition_table:
            decomposition_table[operator] = _writing(operator, function)


def _writing(operator: Any, function: Decomposition) -> Decomposition:
    """The decomposition of a form: the results are copied into what the form writes to."""
    schema = operator.schema
    names = [argument.name for argument in schema.positional]
    written = [argument.name for argument in schema.arguments if argument.type.is_write]

    def form(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        targets = [given[name] for name in written]
        found = function(*args, **{name: value for name, value in kwargs.items() if name not in written})
        for target, result in zip(targets, found if isinstance(found, tuple) else (found,), strict=True):
            if schema.is_out and target.shape != result.shape:
                target.resize_(result.shape)
            target.copy_(result)
        return targets[0] if len(targets) == 1 else tuple(targets)

    return form
