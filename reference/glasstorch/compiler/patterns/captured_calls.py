"""What does a call in a captured graph mean, however it is written?

Mirrors: what torch/_inductor/fx_passes/fuse_attention.py gets by tracing each pattern to operators

`q @ k`, `torch.matmul(q, k)`, `q.bmm(k)` and `einsum("bid,bjd->bij", q, k)` are products of matrices. A number is the
second operand of a product, a quotient is a product with the reciprocal, and dimensions are counted from the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeGuard

from glasstorch._tensor import Tensor
from glasstorch.compiler.patterns.matcher import NOTHING, Match, Operation
from glasstorch.compiler.patterns.rewriting import Refused, value_of
from glasstorch.core.dtype import bool_, dtype
from glasstorch.fx._names import at
from glasstorch.fx.node import Node

Given = dict[str, Any]


def read(node: Node) -> Operation | None:
    """The operation of a node, or None if the patterns know none like it."""
    word = _word(node)
    if word is None:
        return None
    names, of = MEANINGS[word]
    if len(node.args) > len(names) or not set(node.kwargs) <= set(names):
        return None
    given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return of(given)


def _word(node: Node) -> str | None:
    if node.op == "call_method":
        return node.target if node.target in MEANINGS else None
    if node.op != "call_function":
        return None
    return _functions().get(node.target) if callable(node.target) and _is_hashable(node.target) else None


def _is_hashable(target: Any) -> bool:
    return type(target).__hash__ is not None


@cache
def _functions() -> dict[Any, str]:
    """Functions of the library, and what they are called."""
    torch = at("")
    found: dict[Any, str] = {function: name for name, function in SIGNS.items()}
    for name in MEANINGS:
        for place in (torch, torch.nn.functional, torch.functional):
            function = getattr(place, name, None)
            if callable(function):
                found[function] = name
    return found


def _matmul(given: Given) -> Operation | None:
    one, other = given.get("input"), given.get("other", given.get("mat2"))
    return Operation("matmul", (one, other, False)) if _are_nodes(one, other) else None


def _are_nodes(*values: Any) -> bool:
    return all(isinstance(value, Node) for value in values)


def _einsum(given: Given) -> Operation | None:
    """A product of the last two dimensions, or of the rows of the second operand, over shared batch dimensions."""
    equation, operands = given.get("equation"), given.get("operands")
    values = [operands, *given.get("more", ())] if isinstance(operands, Node) else operands
    if not isinstance(equation, str) or not isinstance(values, list | tuple) or len(values) != 2:
        return None
    left, arrow, result = equation.replace(" ", "").partition("->")
    one, comma, other = left.partition(",")
    if not (arrow and comma and one.isalpha() and other.isalpha() and result.isalpha() and _are_nodes(*values)):
        return None
    batch, row, inner = one[:-2], one[-2], one[-1]
    if len(set(one)) != len(one) or len(one) < 3 or other[:-2] != batch or result[:-1] != batch + row:
        return None
    column = result[-1]
    if column in one:
        return None
    if other == batch + inner + column:
        return Operation("matmul", (*values, False))
    return Operation("matmul", (*values, True)) if other == batch + column + inner else None


def _mul(given: Given) -> Operation | None:
    one, other = given.get("input"), given.get("other")
    if _is_number(one):
        one, other = other, one
    return Operation("scale", (one, float(other))) if isinstance(one, Node) and _is_number(other) else None


def _div(given: Given) -> Operation | None:
    one, other = given.get("input"), given.get("other")
    if given.get("rounding_mode") is not None or not isinstance(one, Node) or not _is_number(other) or not other:
        return None
    return Operation("scale", (one, 1.0 / other))


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _add(given: Given) -> Operation | None:
    one, other = given.get("input"), given.get("other")
    plain = _are_nodes(one, other) and given.get("alpha", 1) == 1
    return Operation("add", (one, other)) if plain else None


def _masked_fill(given: Given) -> Operation | None:
    one, mask, number = given.get("input"), given.get("mask"), given.get("value")
    if not _are_nodes(one, mask) or not _is_number(number):
        return None
    return Operation("masked_fill", (one, mask, float(number)))


def _where(given: Given) -> Operation | None:
    """The function; the method's first operand is no condition."""
    condition, one, number = given.get("condition"), given.get("input"), given.get("other")
    like = value_of(condition) if isinstance(condition, Node) else None
    if not isinstance(like, Tensor) or like.dtype is not bool_ or not isinstance(one, Node) or not _is_number(number):
        return None
    return Operation("where", (condition, one, float(number)))


def _softmax(given: Given) -> Operation | None:
    one, dim = given.get("input"), given.get("dim")
    like = value_of(one) if isinstance(one, Node) else None
    if not isinstance(like, Tensor) or not isinstance(dim, int) or given.get("dtype") not in (None, like.dtype):
        return None
    return Operation("softmax", (one, dim - like.dim() if dim >= 0 else dim))


def _dropout(given: Given) -> Operation | None:
    """Dropout as `torch.nn.functional` has it, and as torch has it, where `train` must be given."""
    one, share = given.get("input"), given.get("p", 0.5)
    training = given.get("train", given.get("training", True))
    if given.get("inplace") or not isinstance(one, Node) or not _is_number(share) or not isinstance(training, bool):
        return None
    return Operation("dropout", (one, float(share) if training else 0.0))


def _cast(given: Given) -> Operation | None:
    """A cast that changes nothing."""
    one, of = given.get("input"), given.get("dtype")
    like = value_of(one) if isinstance(one, Node) else None
    same = isinstance(like, Tensor) and isinstance(of, dtype) and like.dtype is of
    return Operation(NOTHING, (one,)) if same else None


def _cast_like(given: Given) -> Operation | None:
    other = value_of(given["other"]) if isinstance(given.get("other"), Node) else None
    return _cast({**given, "dtype": other.dtype}) if isinstance(other, Tensor) else None


def _convolution(given: Given) -> Operation | None:
    one, weight, bias = (given.get(name) for name in ("input", "weight", "bias"))
    named = tuple((name, value) for name, value in given.items() if name not in ("input", "weight", "bias"))
    if not _are_nodes(one, weight) or any(isinstance(value, Node) for _, value in named):
        return None
    return Operation("convolution", (one, weight, bias, named))


def _batch_norm(given: Given) -> Operation | None:
    operands = [given.get(name) for name in ("input", "running_mean", "running_var", "weight", "bias")]
    return Operation("batch_norm", (*operands, given.get("training", False), given.get("eps", 1e-5)))


OF_CONVOLUTION: Final = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")

SIGNS: Final[dict[str, Callable[..., Any]]] = {
    "matmul": operator.matmul,
    "mul": operator.mul,
    "div": operator.truediv,
    "add": operator.add,
}

# name -> its parameters, and what a call of it means
MEANINGS: Final[dict[str, tuple[Sequence[str], Callable[[Given], Operation | None]]]] = {
    "matmul": (("input", "other"), _matmul),
    "bmm": (("input", "mat2"), _matmul),
    "einsum": (("equation", "operands", "second"), lambda given: _einsum(_joined(given))),
    "mul": (("input", "other"), _mul),
    "multiply": (("input", "other"), _mul),
    "div": (("input", "other", "rounding_mode"), _div),
    "divide": (("input", "other", "rounding_mode"), _div),
    "true_divide": (("input", "other"), _div),
    "add": (("input", "other", "alpha"), _add),
    "masked_fill": (("input", "mask", "value"), _masked_fill),
    "where": (("condition", "input", "other"), _where),
    "softmax": (("input", "dim", "dtype", "_stacklevel"), _softmax),
    "dropout": (("input", "p", "training", "inplace", "train"), _dropout),
    "conv1d": (OF_CONVOLUTION, _convolution),
    "conv2d": (OF_CONVOLUTION, _convolution),
    "conv3d": (OF_CONVOLUTION, _convolution),
    "batch_norm": (
        ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
        _batch_norm,
    ),
    "to": (("input", "dtype"), _cast),
    "type_as": (("input", "other"), _cast_like),
}


def _joined(given: Given) -> Given:
    return {**given, "more": [given["second"]]} if "second" in given else given


def refuse_others_between(match: Match) -> None:
    """Refused if a node that may do more than compute a value stands between the first and the last of a match."""
    inside = set(match.nodes)
    node = min(inside, key=lambda one: one._sort_key)
    while node is not match.anchor:
        if node not in inside and not is_plain(node):
            raise Refused(f"{node.name} stands in between, and may do more than compute a value")
        node = node.next


def is_plain(node: Node) -> bool:
    """Whether a node only computes a value: it writes to nothing, changes no mode, and draws no random numbers."""
    if node.op in ("placeholder", "get_attr", "output"):
        return True
    if any(key == "out" or (key == "inplace" and value) for key, value in node.kwargs.items()):
        return False
    if node.op == "call_module":
        return False
    name = str(node.target if node.op == "call_method" else getattr(node.target, "__name__", ""))
    written = name.endswith("_") and not name.endswith("__")
    return not written and name not in WRITERS and not name.startswith(MODES) and not any(map(name.count, RANDOM))


WRITERS: Final = frozenset(
    ("setitem", "__setitem__", "iadd", "imul", "isub", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand")
    + ("ior", "ixor", "ilshift", "irshift", "iconcat")
)
MODES: Final = ("_set", "_enter", "_exit", "set_", "apply")
RANDOM: Final = ("rand", "drop", "bernou", "normal", "seed", "multinom", "checkpoint")  # parts of names
