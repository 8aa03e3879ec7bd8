"""What does a library answer to an expression about nested tensors: a text, or an error?

The expressions are written once and run in both libraries. Their operands are nested tensors with names: `a` has three
sequences of elements of size 3 and `a2` has the same offsets; `c` has others, with the same lengths, and `s` others of
other lengths. `r` is `a` with its last two dimensions exchanged, `h` has holes, `v` has numbers as elements, `i`
integers, `b` bools, and `q` matrices. `d` is strided, with a row for each sequence. A symbol is named by the order of
appearance, since a process counts all that it has made.
"""

from __future__ import annotations

import copy
import io
import logging
import pickle
import re
import warnings
from typing import Any

NOT_WHOLE = (" This could be because", " but expected one of:", " INTERNAL ASSERT FAILED")  # after these, places differ
MORE = re.compile(r"\b(\d+\*)?j(\d+)\b")


def operands(library: Any) -> dict[str, Any]:
    """The names that an expression may use."""
    nested, jagged = library.nested, library.jagged
    numbers = library.arange(21.0).reshape(7, 3) / 4 - 2
    offsets = library.tensor([0, 2, 6, 7])

    def N(list_: Any, **options: Any) -> Any:
        return nested.nested_tensor(list_, layout=jagged, **options)

    a = nested.nested_tensor_from_jagged(numbers.clone(), offsets)
    return {
        "torch": library,
        "T": library.tensor,
        "F": library.nn.functional,
        "nested": nested,
        "jagged": jagged,
        "J": nested.nested_tensor_from_jagged,
        "N": N,
        "copy": copy,
        "again": lambda x: pickle.loads(pickle.dumps(x)),
        "saved": lambda x: saved(library, x),
        "gradient": lambda function, *of: gradient(library, function, *of),
        "seeded": lambda function: (library.manual_seed(3), function())[1],
        "numbers": numbers,
        "offsets": offsets,
        "a": a,
        "a2": nested.nested_tensor_from_jagged(numbers.flip(0) + 0.5, offsets),
        "c": N([numbers[:2], numbers[2:6], numbers[6:]]),
        "s": N([numbers[:3], numbers[3:6], numbers[6:]]),
        "r": a.transpose(1, 2),
        "h": nested.nested_tensor_from_jagged(numbers, offsets, library.tensor([1, 3, 1])),
        "v": nested.nested_tensor_from_jagged(numbers[:, 0].clone(), offsets),
        "i": nested.nested_tensor_from_jagged(library.arange(14).reshape(7, 2) % 5, offsets),
        "b": nested.nested_tensor_from_jagged(numbers > 0, offsets),
        "q": nested.nested_tensor_from_jagged(library.arange(56.0).reshape(7, 2, 4) / 16 - 1, offsets),
        "d": library.arange(9.0).reshape(3, 1, 3) / 2,
        "e": library.arange(12.0).reshape(3, 4) / 6 - 1,
    }


def gradient(library: Any, function: Any, *of: Any) -> Any:
    """The gradients of a sum of squares of a function's result with respect to tensors."""
    leaves = [x.detach().requires_grad_() for x in of]
    result = function(*leaves)
    flat = result.values() if result.is_nested else result
    (flat * flat).sum().backward()
    return [f"{leaf.grad.shape} {numbers_of(leaf.grad.values() if leaf.is_nested else leaf.grad)}" for leaf in leaves]


def saved(library: Any, value: Any) -> Any:
    """What comes back from a file."""
    file = io.BytesIO()
    library.save(value, file)
    file.seek(0)
    return library.load(file)


def told(value: Any) -> str:
    """A text that says everything of a nested tensor, and of what is made of some."""
    if getattr(value, "is_nested", False):
        facts = [str(value.shape), f"values={numbers_of(value.values())}", f"offsets={value.offsets().tolist()}"]
        if value.lengths() is not None:
            facts.append(f"lengths={value.lengths().tolist()}")
        known = value._maybe_min_seqlen, value._maybe_max_seqlen
        facts += [f"ragged={value._ragged_idx}", f"{value.dtype}", f"lengths from, to: {known}"]
        facts += ["contiguous"] * value.is_contiguous() + ["requires_grad"] * value.requires_grad
        return f"nested({', '.join(facts)})"
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return f"[{', '.join(map(told, value))}]"
    return numbers_of(value) if hasattr(value, "layout") else str(value)


def numbers_of(tensor: Any) -> str:
    """The elements, rounded: kernels differ in the last places."""
    where = "" if tensor.device.type == "cpu" else f" on {tensor.device}"
    shown = "-" if where else _rounded(tensor.detach().tolist())
    return f"{tuple(tensor.shape)}{shown} {tensor.dtype}{where}"


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.4g}") + 0.0 if isinstance(value, float) else value


def said(library: Any, expression: str) -> str:
    """What the library says to an expression."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = told(eval(expression, operands(library)))
        except Exception as error:  # noqa: BLE001  (whatever it is, it is compared)
            kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            text = f"{kind.__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            for words in NOT_WHOLE:
                text = text.partition(words)[0]
        finally:
            logging.disable(logging.NOTSET)
    seen: dict[str, str] = {}
    return MORE.sub(lambda m: f"{m[1] or ''}j_{seen.setdefault(m[2], chr(97 + len(seen)))}", text).strip()
