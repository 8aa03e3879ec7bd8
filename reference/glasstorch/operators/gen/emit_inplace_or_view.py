"""How are the rows of `autograd/generated/inplace_or_view_kernels.py` emitted?

Mirrors: tools/autograd/gen_inplace_or_view_type.py
Differs: it writes a row for each operator; `autograd/inplace_or_view.py` makes the functions.
"""

from __future__ import annotations

import re

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.gen.model import OPERATORS, NativeFunction

HEADER = '''"""The ADInplaceOrView kernel of each operator that has one, as a row that names its maker. {mark}

Mirrors: torch/csrc/autograd/generated/ADInplaceOrViewType_*.cpp
Differs: rows; the functions that they name are in `autograd/inplace_or_view.py`.
"""

from __future__ import annotations

from glasstorch.autograd.inplace_or_view import {makers}
from glasstorch.autograd.views import as_views, shares_version

# fmt: off
'''

MAKERS = OPERATORS.parent / "autograd" / "inplace_or_view.py"
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def in_words(count: int) -> str:
    """`three`; above nine, for which there are no makers, the digits."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def emit(functions: list[NativeFunction], mark: str) -> str:
    concerned = [f for f in functions if f.schema.is_inplace or f.schema.is_out or f.schema.is_view]
    implicit = {f.name for f in functions if f.is_composite_implicit}
    # An out= form may be made of others too, which count what they write. As in PyTorch, so may the one that is
    # generated for an operator made of others, and nobody counts what an operator writes that returns nothing.
    made_of_others = {
        f.name for f in concerned if f.autograd_sees_parts or (f.functional in implicit and Tag.generated in f.tags)
    }
    silent = {f.name for f in concerned if not f.schema.returns}
    without = made_of_others | implicit | silent | {f.name for f in concerned if Tag.no_view in f.tags}
    own = [f for f in concerned if f.name not in without]
    makers = re.findall(r"^def ([a-z]\w*)", MAKERS.read_text(encoding="utf-8"), re.MULTILINE)
    rows = (f'row("{f.name}", {_made(f, makers)})\n' for f in own)
    return HEADER.format(mark=mark, makers=", ".join(makers)) + "".join(rows) + "# fmt: on\n"


def _made(f: NativeFunction, makers: list[str]) -> str:
    """`views_first_of_three`: the maker of an operator's kernel, and its further arguments."""
    arguments = f.schema.arguments
    written = [i for i, a in enumerate(arguments) if a.type.is_write]
    returned = [i for i in written if arguments[i].type.alias in {r.type.alias for r in f.schema.returns}]
    written = returned or written  # as in PyTorch, what is written to beside the result is not counted as changed
    lists = [i for i in written if arguments[i].type.is_list]
    if lists:
        raise SchemaError(
            f"{f.where}: {f.name} writes to a list of tensors and returns something; {MAKERS.name} has no maker"
        )
    if written:
        position = "first" if written == [0] else "last" if written == [len(arguments) - 1] else "several"
        verb = "resizes" if Tag.resizes in f.tags else "writes"
        maker = f"{verb}_{position}_of_{in_words(len(arguments))}"
        if maker not in makers or (position == "several") != (len(written) > 1):
            maker = "writes_several"
        positions = ", ".join(map(str, written))
        return f"{maker}, {positions}" if "several" in maker else maker
    maker = f"views_first_of_{in_words(len(arguments))}"
    if maker not in makers or not arguments[0].type.alias:
        raise SchemaError(f"{f.where}: {f.name} needs {maker} in {MAKERS.name}, which shows its first argument")
    remember = "as_views" if f.schema.returns[0].type.is_list else ""
    remember = "shares_version" if Tag.no_gradient_view in f.tags else remember
    return f"{maker}, {remember}" if remember else maker
