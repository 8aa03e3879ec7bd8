"""What do a node and its kernels look like with another formula?

Nothing is written to files: the text can be executed in the module that holds the generated kernels, and replaces
them there. Only names and formulas are needed for it, so the library may be loaded or not.

Mirrors: what a change of one row of tools/autograd/derivatives.yaml does
Differs: one operator at a time, while the program runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from glasstorch.core.errors import SchemaError
from glasstorch.operators.gen.emit_autograd import emit_operators, node_names
from glasstorch.operators.gen.formulas import helper_names
from glasstorch.operators.gen.model import Derivative, NativeFunction, load_derivatives, load_functions, result_names

NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """One formula of derivatives.yaml, and the declarations that it belongs to."""

    functions: list[NativeFunction]
    derivatives: dict[str, Derivative]
    derivative: Derivative
    argument: str

    @property
    def op(self) -> str:
        """The operator that the row is about."""
        return self.derivative.op

    @property
    def function(self) -> NativeFunction:
        """Its declaration."""
        return next(f for f in self.functions if f.name == self.op)

    @property
    def formula(self) -> str:
        """The formula as it stands in the file."""
        return dict(self.derivative.formulas)[self.argument]

    @property
    def node(self) -> str:
        """The name of the operator's node: `TanhBackward0`."""
        return node_names(self.functions, self.derivatives)[self.op]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that a formula may name."""
        return tuple(a.name for a in self.function.schema.arguments)

    @property
    def tensors(self) -> tuple[str, ...]:
        """Those of them that are one tensor."""
        arguments = self.function.schema.arguments
        return tuple(a.name for a in arguments if a.type.is_tensor_like and not a.type.is_list)

    @property
    def results(self) -> tuple[str, ...]:
        """The results that a formula may name."""
        return result_names(self.function.schema)


def load_row(op: str, argument: str) -> Row:
    """The row of an operator such as `tanh`, and its formula for an argument such as `self`; refuses unknown ones."""
    functions = load_functions()
    derivatives = load_derivatives(functions)
    derivative = derivatives.get(op)
    if derivative is None:
        raise SchemaError(f"derivatives.yaml has no row for {op!r}")
    arguments = [names for names, _ in derivative.formulas]
    if argument not in arguments:
        raise SchemaError(
            f"{derivative.where}: {op} has no formula for {argument!r}; it has one for each of: {', '.join(arguments)}"
        )
    return Row(functions, derivatives, derivative, argument)


def regenerate(row: Row, formula: str, *helpers: str, others: Mapping[str, str] = NONE) -> str:
    """The source of the operator's node and all its kernels, with this formula for the row's argument.

    `others` are formulas that take the place of those for other arguments. `helpers` are names that these and the
    formula may use besides those of autograd/formulas/.
    """
    new = {**others, row.argument: formula}
    formulas = tuple((names, new.get(names, old)) for names, old in row.derivative.formulas)
    derivatives = {**row.derivatives, row.op: replace(row.derivative, formulas=formulas)}
    return "".join(
        text for text, _ in emit_operators(row.functions, derivatives, helper_names() | set(helpers), only=row.op)
    )
