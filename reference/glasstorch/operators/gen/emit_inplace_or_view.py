"""Emits `autograd/generated/inplace_or_view_kernels.py`: who writes is counted, who views is recorded.

Mirrors: tools/autograd/gen_inplace_or_view_type.py
Differs: nothing in substance.
"""

from __future__ import annotations

from glasstorch.dispatch.tags import Tag
from glasstorch.operators.gen.model import NativeFunction, python_name

HEADER = '''"""The ADInplaceOrView kernels: in-place operators raise versions, views remember their base. {mark}

Mirrors: torch/csrc/autograd/generated/ADInplaceOrViewType_*.cpp
Differs: nothing in substance. Backend kernels never do either.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.views import as_view, as_views, shares_version
from glasstorch.core.keys import BELOW_ADINPLACEORVIEW
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.registry import table

ADINPLACEORVIEW = KernelTable("ADInplaceOrView")
'''

# Views through which no gradient flows: they share the version counter and have no base.
NOT_DIFFERENTIABLE = frozenset(["detach", "view.dtype"])
# The result is the argument itself, though the schema declares a view: of itself nothing can be one.
THE_ARGUMENT_ITSELF = frozenset(["lift_fresh"])


def emit(functions: list[NativeFunction], mark: str) -> str:
    concerned = [f for f in functions if f.schema.is_inplace or f.schema.is_out or f.schema.is_view]
    implicit = {f.name for f in functions if f.is_composite_implicit}
    # The out= form of an operator made of others is made of others too, which count what they write.
    made_of_others = {
        f.name for f in concerned if f.schema.is_out and f.functional in implicit and Tag.own_kernel not in f.tags
    }
    without = made_of_others | implicit | THE_ARGUMENT_ITSELF
    own = [f for f in concerned if f.name not in without]
    return HEADER.format(mark=mark) + "".join(map(_kernel, own))


def _kernel(f: NativeFunction) -> str:
    names = [python_name(a.name) for a in f.schema.arguments]
    declared = ", ".join(f"{n}: Any" for n in names)
    passed = ", ".join(names)
    lines = [
        f"\n\n{f.table} = table({f.name!r})\n\n\n",
        f"@ADINPLACEORVIEW.impl({f.name!r})\n",
        f"def {f.identifier}(keys: int, {declared}) -> Any:\n",
        "    below = keys & BELOW_ADINPLACEORVIEW\n",
    ]
    call = f"{f.table}[below](below, {passed})"
    written = [a.name for a in f.schema.arguments if a.type.is_write]
    lists = {a.name: a.type.is_list for a in f.schema.arguments}
    if written:
        for name in written:
            one, indent = python_name(name), "    "
            if lists[name]:
                lines.append(f"    for tensor in {one}:\n")
                one, indent = "tensor", "        "
            lines.append(f"{indent}if (storage := {one}._storage) is not None and storage.lazy is not None:\n")
            lines.append(f"{indent}    storage.materialize()\n")
        lines.append(f"    returned = {call}\n")
        for name in written:
            if lists[name]:
                lines.append(f"    for tensor in {python_name(name)}:\n        tensor.bump_version()\n")
            else:
                lines.append(f"    {python_name(name)}.bump_version()\n")
        lines.append("    return returned\n")
    else:
        base = next(a.name for a in f.schema.arguments if a.type.alias)
        wrap = "as_views" if f.schema.returns[0].type.is_list else "as_view"
        wrap = "shares_version" if f.name in NOT_DIFFERENTIABLE else wrap
        lines.append(f"    return {wrap}({base}, {call})\n")
    return "".join(lines)
