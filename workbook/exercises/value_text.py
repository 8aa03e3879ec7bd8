"""How is a value shown to the reader of a check: in how many characters, without addresses?"""

from __future__ import annotations

import ast
import linecache
import re
import reprlib
from pathlib import Path
from types import FunctionType
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
TEXT = 800  # characters shown of a value
LINES = 15  # lines shown of it


class _Short(reprlib.Repr):
    """Representations of bounded length, whatever the value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 6
        self.maxtuple = self.maxlist = self.maxset = self.maxdict = 40
        self.maxstring = self.maxother = TEXT
        self.maxlong = 100

    def repr_function(self, function: FunctionType, level: int) -> str:
        """A function: its name, or what a lambda says."""
        return lambda_text(function) if function.__name__ == "<lambda>" else f"the function {function.__name__}"


def short(value: object) -> str:
    """A value as it is shown: its repr without addresses, cut if it is long."""
    try:
        return cut(ADDRESS.sub("", _Short().repr(value)))
    except Exception:  # noqa: BLE001 (a repr of the reader's own may raise)
        return f"<a {type(value).__name__} whose repr fails>"


def lambda_text(function: FunctionType) -> str:
    """A lambda as it is written; without its text, the line on which it stands."""
    code = function.__code__
    place = f"the lambda of line {code.co_firstlineno} of {Path(code.co_filename).name}"
    try:
        module = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return place
    written = [
        ast.unparse(node)
        for node in ast.walk(module)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    return written[0] if len(written) == 1 else place


def described(value: Any) -> str:
    """An argument as it is shown: of a tensor whose memory is not row-major, the strides, too."""
    text = short(value)
    is_strided = hasattr(value, "stride") and hasattr(value, "is_contiguous") and not value.is_contiguous()
    return f"{text} with strides {value.stride()}" if is_strided else text


def cut(text: str) -> str:
    """A text, cut if it is long."""
    head = "\n".join(text[: TEXT + 1].split("\n", LINES)[:LINES])[:TEXT]
    return text if len(head) == len(text) else f"{head} ... ({len(text):,} characters)"


def kind_of(value: object) -> str:
    """What a value is, with its article: `a tuple`, `an int`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
