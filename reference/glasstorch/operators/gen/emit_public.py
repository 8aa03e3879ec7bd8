"""Emits `operators/generated/public.py`: the functions that torch offers under its own name.

Mirrors: torch/__init__.py, the loop over torch._C._VariableFunctions; SKIP_PYTHON_BINDINGS in gen_python_functions.py
Differs: explicit re-exports, so that editors and type checkers see them.
"""

from __future__ import annotations

from glasstorch.operators.gen.emit_functions import group, takes_list_after_tensor
from glasstorch.operators.gen.model import NativeFunction, python_name

# Operators that PyTorch binds as methods only, by hand (operators/nonzero.py) or not at all, though their schemas say
# function.
SKIPPED = frozenset(
    [
        "alias",
        "contiguous",
        "index",
        "lift_fresh",
        "mH",
        "mT",
        "matrix_H",
        "numpy_T",
        "slice",
        "to",
        "new_empty",
        "nonzero",
        "nonzero_numpy",
        "unfold",
        "unique_dim",
        "unique_dim_consecutive",
    ]
)
# Operators whose public function is written in Python; most take a list where that takes any number of tensors
# (torch/functional.py).
VARIADIC = frozenset(
    [
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "block_diag",
        "broadcast_tensors",
        "cartesian_prod",
        "cdist",
        "chain_matmul",
        "einsum",
        "meshgrid",
        "norm",
        "range",
        "split",
        "stft",
        "tensordot",
        "unique_consecutive",
    ]
)

HEADER = '''"""The operators that are functions of the library by name: `glasstorch.add`. {mark}

Mirrors: torch/__init__.py (the names of torch._C._VariableFunctions)
Differs: explicit re-exports.
"""

from glasstorch.operators.generated import functions as _functions
from glasstorch.operators.listed import listed as _listed

# fmt: off
from glasstorch.operators.generated.functions import (  # isort: skip
{names}
)
# fmt: on

'''
WIDTH = 120


def emit(functions: list[NativeFunction], mark: str) -> str:
    names, listed = [], []
    for name in group(functions):
        hidden = name.name.startswith("_") or name.name.endswith("_backward") or name.name in SKIPPED | VARIADIC
        if name.is_function and not hidden and name.primary.python_module is None:
            shown = python_name(name.name)
            if takes_list_after_tensor(name):
                listed.append(f"{shown} = _listed(_functions.{shown}, {name.primary.schema.positional[1].name!r})\n")
            else:
                names.append(f"{shown} as {shown},")
    lines, line = [], ""
    for exported in sorted(names):  # a new letter starts a line, so that a new name moves few others
        if len(line) + len(exported) >= WIDTH or line.strip()[:1] != exported[0]:
            lines.append(line)
            line = "   "
        line += f" {exported}"
    return HEADER.format(mark=mark, names="\n".join([*lines[1:], line])) + "".join(listed)
