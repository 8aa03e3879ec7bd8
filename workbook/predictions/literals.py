"""When are two short texts the same value?

Values are written as Python literals. `chapters/assets/predictions.js` compares in the same way in the browser; a test
gives both the same texts.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping

SPACED = re.compile(r"[(\[]? *[-+.\w]+( +[-+.\w]+)+ *[)\]]?", re.ASCII)  # words without commas, in brackets or without


def plain(value: object) -> object:
    """The value with subclasses replaced by the types of literals, so that its `repr` is one.

    `torch.Size([2, 3])` becomes `(2, 3)`. Raises TypeError for what no literal expresses.

    >>> plain({"sizes": [1, 2.0, None]})
    {'sizes': [1, 2.0, None]}
    """
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, set | frozenset):
        return set(map(plain, value))
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    raise TypeError(
        f"{value!r} is a {type(value).__name__}\n"
        "  accepted: numbers, text, None, True and False, and tuples, lists, sets and dictionaries of them"
    )


def literal(text: str) -> tuple[object] | None:
    """The value of a Python literal, in a tuple of one; None if the text is not a literal.

    >>> literal(" (2, 1) "), literal("AutogradCPU")
    (((2, 1),), None)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an escape sequence that Python does not know
        try:
            return (ast.literal_eval(text.strip()),)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def same(one: object, other: object) -> bool:
    """Whether two values are equal, where `True` is not 1 and a tuple is not a list.

    >>> same((1, 2.0), (1.0, 2)), same(True, 1), same([1], (1,))
    (True, False, False)
    """
    return tagged(one) == tagged(other)


def tagged(value: object, lists: str = "list") -> object:
    """The value with the name of its type at each level, for comparison; `lists` is that of lists."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, tuple | list):
        return ("tuple" if isinstance(value, tuple) else lists, *(tagged(item, lists) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((tagged(key), tagged(item, lists)) for key, item in value.items()))
    if isinstance(value, set):
        return ("set", frozenset(map(tagged, value)))
    return (type(value).__name__, value)


def same_text(given: str, expected: object) -> bool:
    """Whether a line that was typed means the expected value: as a literal where it is one, else without spacing.

    Quotation marks around a text may be left out, and so may the parentheses of a tuple and the commas between its
    numbers; a list is as good as a tuple.

    >>> same_text("2,1", (2, 1)), same_text("'CPU'", "CPU"), same_text("Autograd CPU", "AutogradCPU")
    (True, True, True)
    >>> same_text("2 1", (2, 1)), same_text("[2 1]", (2, 1)), same_text("21", (2, 1))
    (True, True, False)
    """
    if isinstance(expected, tuple | list) and SPACED.fullmatch(given.strip()):
        given = ",".join(given.strip(" ()[]").split())  # numbers between spaces
    value = literal(given)
    if value is not None and tagged(value[0], lists="tuple") == tagged(expected, lists="tuple"):
        return True
    said = value[0] if value is not None and isinstance(value[0], str) else given
    return without_spaces(said) == without_spaces(shown(expected))


def without_spaces(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def shown(value: object) -> str:
    """The value as a reader types it: a text without quotation marks, anything else as its literal."""
    return value if isinstance(value, str) else written(value)


def written(value: object) -> str:
    """The literal of a plain value, the same in every process: the elements of a set are sorted.

    >>> written({"b", "a"}), written((1,)), written(set())
    ("{'a', 'b'}", '(1,)', 'set()')
    """
    if isinstance(value, set) and value:
        return f"{{{', '.join(sorted(map(written, value)))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{written(key)}: {written(item)}' for key, item in value.items())}}}"
    return repr(value)
