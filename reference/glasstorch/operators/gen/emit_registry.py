"""Emits `operators/generated/registry.py`: every operator's name, schema, shape function and composite kernel.

Mirrors: RegisterSchema.cpp (aten/src/ATen/templates/RegisterSchema.cpp)
Differs: rows of data; schemas are parsed when somebody asks for one.
"""

from __future__ import annotations

from glasstorch.operators.gen.model import NativeFunction

HEADER = '''"""All operators: name, schema, shape function, composite kernel. {mark}

Mirrors: build/aten/src/ATen/RegisterSchema.cpp
Differs: data, defined by a loop at the end of this file.
"""

from __future__ import annotations

from glasstorch.dispatch.library import define
from glasstorch.dispatch.operator import DispatchTable, registry

# (schema, line of native_functions.yaml, shape function, (composite key, composite kernel), functional form)
OPERATORS: tuple[tuple[str, int, str | None, tuple[str, str] | None, str | None], ...] = (
'''

FOOTER = """)


def name_of(schema: str) -> str:
    \"\"\"`aten::add.Tensor` of `add.Tensor(Tensor self, ...) -> Tensor`.\"\"\"
    return "aten::" + schema.partition("(")[0]


def table(name: str) -> DispatchTable:
    \"\"\"The dispatch table of an operator: `table("add.Tensor")[keys]` is its kernel.\"\"\"
    return registry.find("aten::" + name).table


for _row in OPERATORS:
    define(name_of(_row[0]), "aten::" + _row[0], f"native_functions.yaml:{_row[1]}")
"""


def emit(functions: list[NativeFunction], mark: str) -> str:
    rows = []
    for f in functions:
        line = int(f.where.rpartition(":")[2])
        rows.append(f"    ({str(f.schema)!r}, {line}, {f.shape!r}, {f.composite!r}, {f.functional!r}),\n")
    return HEADER.format(mark=mark) + "".join(rows) + FOOTER
