"""Emits `operators/generated/registry.py`: every operator's name, schema, and what else its row says.

Mirrors: RegisterSchema.cpp (aten/src/ATen/templates/RegisterSchema.cpp)
Differs: rows of data; schemas are parsed on first use.
"""

from __future__ import annotations

from glasstorch.operators.gen.model import NativeFunction
from glasstorch.operators.operator_row import OperatorRow

HEADER = '''"""The table of all operators: schema, shape function, composite kernel, tags and family of each. {mark}

Mirrors: build/aten/src/ATen/RegisterSchema.cpp
Differs: data, defined by a loop at the end of this file.
"""

from __future__ import annotations

from glasstorch.dispatch.library import define
from glasstorch.dispatch.operator import DispatchTable, registry
from glasstorch.operators.operator_row import OperatorRow as Row

# fmt: off
OPERATORS: tuple[Row, ...] = (
'''

FOOTER = """)
# fmt: on


def table(name: str) -> DispatchTable:
    \"\"\"The dispatch table of an operator: `table("add.Tensor")[keys]` is its kernel.\"\"\"
    return registry.find("aten::" + name).table


for _row in OPERATORS:
    define(
        "aten::" + _row.name,
        "aten::" + _row.schema,
        f"native_functions.yaml:{_row.line}",
        _row.tags,
        _row.alias_of,
        _row.family,
    )
"""


def emit(functions: list[NativeFunction], not_implemented: dict[str, str], mark: str) -> str:
    rows = []
    for f in functions:
        row = OperatorRow(
            str(f.schema),
            int(f.where.rpartition(":")[2]),
            f.shape,
            f.composite,
            f.functional,
            f.alias_of,
            tuple(tag.name for tag in f.tags),
            None if f.out == "own kernel" or f.alias_of is not None else f.out,
            not_implemented.get(f.name),
            f.family,
            f.autocast,
            f.vmap,
            f.inverse,
        )
        rows.append(f"    {_text(row)},\n")
    return HEADER.format(mark=mark) + "".join(rows) + FOOTER


def _text(row: OperatorRow) -> str:
    """The row as Python writes it, without the fields that say nothing."""
    said = {name: value for name, value in row._asdict().items() if value != OperatorRow._field_defaults.get(name)}
    schema, line = said.pop("schema"), said.pop("line")
    return f"Row({', '.join([repr(schema), str(line), *(f'{name}={value!r}' for name, value in said.items())])})"
