"""Why does a guard not hold, in PyTorch's words where it has some?

Mirrors: torch/csrc/dynamo/guards.cpp (TensorCheck::check_verbose)
"""

from __future__ import annotations

import ast
import json
import re
from itertools import combinations
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.guards import Guard, Guards
from glasstorch.core.keys import DispatchKeySet

SIZES = re.compile(r"\.(shape|stride\(\)) == (\(.*?\))")
# How PyTorch's C++ calls dtypes.
CLASSES = {
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long",
}  # fmt: skip
ARGUMENT = re.compile(r"L\['(\w+)'\]")


def _class_of(dtype: Any) -> str:
    name = str(dtype).rpartition(".")[2]
    return CLASSES.get(name, name)


def failure(guards: Guards, arguments: dict[str, Any], names: dict[str, Any]) -> str:
    """The first guard that does not hold, told by what differs if it is one of a tensor."""
    guard = guards.first_failure(arguments, names)
    if guard is None:
        return "no guard fails"
    scope = {"L": arguments, "G": names}
    if guard.kind == "NO_TENSOR_ALIASING":
        return f"Duplicate tensors found: {json.dumps(_duplicates(guard, guards, scope))}"
    if guard.kind == "DUPLICATE_INPUT":
        return _shown(guard.expression)
    if guard.kind != "TENSOR_MATCH":
        return str(guard)
    try:
        value = eval(guard.source, guards.names, scope)
    except (AttributeError, KeyError, IndexError, TypeError):
        return str(guard)
    shown = _shown(guard.source)
    if not isinstance(value, Tensor):
        return f"expected type of '{shown}' to be a tensor type, ' but found {type(value)}"
    return _difference(guards, guard, value, scope, f"tensor '{shown}'") or str(guard)


def _shown(expression: str) -> str:
    return ARGUMENT.sub(lambda match: match[1], expression)


def _duplicates(guard: Guard, guards: Guards, scope: dict[str, Any]) -> list[str]:
    """The first two sources that lead to one tensor."""
    written = ast.parse(guard.expression, mode="eval").body
    assert isinstance(written, ast.Call | ast.Compare), "as Guards.no_aliasing writes it"
    places = written.args if isinstance(written, ast.Call) else [written.left, *written.comparators]
    sources = list(map(ast.unparse, places))
    values = [eval(source, guards.names, scope) for source in sources]
    return next(
        [_shown(one), _shown(other)]
        for (i, one), (j, other) in combinations(enumerate(sources), 2)
        if values[i] is values[j]
    )


def _difference(guards: Guards, guard: Guard, value: Tensor, scope: dict[str, Any], who: str) -> str | None:
    for fact in guard.expression.split(" and "):
        if eval(fact, guards.names, scope):
            continue
        if ".dtype is " in fact:
            expected = eval(fact.partition(" is ")[2], guards.names)
            return f"{who} dtype mismatch. expected {_class_of(expected)}, actual {_class_of(value.dtype)}"
        if ".requires_grad is " in fact:
            return f"{who} requires_grad mismatch. expected requires_grad={int(fact.endswith('True'))}"
        if ".key_set == " in fact:
            expected = DispatchKeySet(int(fact.partition(" == ")[2]))
            return f"{who} dispatch key set mismatch. expected {expected}, actual {DispatchKeySet(value.key_set)}"
        found = SIZES.search(fact)
        if found is None:
            return None
        wanted = ast.literal_eval(found[2])
        actual = tuple(value.shape) if found[1] == "shape" else tuple(value.stride())
        if len(wanted) != len(actual):
            return f"{who} rank mismatch. expected {len(wanted)}, actual {len(actual)}"
        index = next(i for i, (a, b) in enumerate(zip(wanted, actual, strict=True)) if a != b)
        what = "size" if found[1] == "shape" else "stride"
        return f"{who} {what} mismatch at index {index}. expected {wanted[index]}, actual {actual[index]}"
    return None
