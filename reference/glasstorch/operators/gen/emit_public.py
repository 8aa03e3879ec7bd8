"""How are the functions of torch's own namespace in `operators/generated/public.py` emitted?

Mirrors: torch/__init__.py, the loop over torch._C._VariableFunctions; SKIP_PYTHON_BINDINGS in gen_python_functions.py
Differs: explicit re-exports, so that editors and type checkers see them.
"""

from __future__ import annotations

from glasstorch.operators.gen.emit_functions import Name, group, takes_list_after_tensor
from glasstorch.operators.gen.model import NativeFunction, python_name

HEADER = '''"""The operators that are public functions of the library, such as `glasstorch.add`. {mark}

Mirrors: torch/__init__.py (the names of torch._C._VariableFunctions)
Differs: explicit re-exports.
"""

from glasstorch.operators.generated import functions as _functions
from glasstorch.calls.listed import listed as _listed

# fmt: off
from glasstorch.operators.generated.functions import (  # isort: skip
{names}
)
# fmt: on

'''
WIDTH = 120
SHOWN = (  # private names that programs call
    "_amp_",
    "_chunk_cat",
    "_dirichlet_",
    "_foreach_",
    "_fused_",
    "_native_",
    "_nested_",
    "_pack_padded_",
    "_pad_packed_",
    "_safe_",
    "_sample_",
    "_scaled_dot_product_",
    "_sparse_csr_",
    "_standard_",
    "_transformer_encoder_",
    "_unsafe_masked_",
    "_validate_",
    "_weight_norm",
)


def is_public(name: Name) -> bool:
    """Whether a name is one of torch's own namespace."""
    private = name.name.startswith("_") and not name.name.startswith(SHOWN)
    hidden = private or name.name.endswith("_backward")
    generated = name.primary.python_function == "generated"
    return name.is_function and not hidden and generated and name.primary.python_module is None


def emit(functions: list[NativeFunction], mark: str) -> str:
    names, listed = [], []
    for name in group(functions):
        if is_public(name):
            shown = python_name(name.name)
            if takes_list_after_tensor(name):
                listed.append(f"{shown} = _listed(_functions.{shown}, {name.primary.schema.positional[1].name!r})\n")
            else:
                names.append(f"{shown} as {shown},")
    return HEADER.format(mark=mark, names=in_lines(names)) + "".join(listed)


def in_lines(names: list[str]) -> str:
    """Imported names, sorted, in full lines; a new letter starts a line, so that a new name moves few others."""
    lines, line = [], ""
    for exported in sorted(names):
        if len(line) + len(exported) >= WIDTH or line.strip()[:1] != exported[0]:
            lines.append(line)
            line = "   "
        line += f" {exported}"
    return "\n".join([*lines[1:], line])
