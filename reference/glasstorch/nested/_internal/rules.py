"""Which function answers when an operator is called with a nested tensor?

Mirrors: torch/nested/_internal/ops.py (JAGGED_OPS_TABLE, register_func, check_schema, lookup_jagged, extract_kwargs)
Differs: a rule is a kernel at the key AutogradNestedTensor, too. There it computes on the values as autograd sees them
    (`inner`) and makes a nested tensor of what it has computed (`like`): so its gradient needs no formula.

# Note [Who answers]
An operator with a rule runs that, above autograd or below. One that computes each element by itself needs none: its
autograd kernel records it as for other tensors, and below, `__torch_dispatch__` comes here and runs it on the values.
One that is composed of others is composed. Nothing else is there: NotImplementedError names the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.keys import DispatchKey
from glasstorch.core.symbols import SymInt
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import Operator, keys_of, registry
from glasstorch.dispatch.tags import Tag
from glasstorch.nested._internal.nested_tensor import (
    NestedTensor,
    _nt_view_dummy,
    get_values,
    hooks_of_class,
    view_from_jagged,
)

AUTOGRAD_NESTED = KernelTable("AutogradNestedTensor", calls_operators=True)
Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}

KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "t": ("tensor", lambda x: isinstance(x, TensorImpl) and not isinstance(x, NestedTensor)),
    "jt": (
        "contiguous jagged layout NestedTensor",
        lambda x: isinstance(x, NestedTensor) and x._lengths is None and x._ragged_idx == 1,
    ),
    "jt_all": ("jagged layout NestedTensor", lambda x: isinstance(x, NestedTensor)),
    "any": ("<any type>", lambda x: True),
}


def rule(names: str, expects: str, only_below: bool = False) -> Callable[[Rule], Rule]:
    """Let the function below answer for operators: `function(operator, *arguments)`, the arguments complete.

    `expects` says of the first parameters which must be nested (`jt`: without holes, and ragged next to the batch),
    which must not, and which may be None. With `only_below` the operator's own autograd kernel runs above the rule.
    """
    where = caller(1)

    def register(function: Rule) -> Rule:
        checks = [tuple(part.split(": ")) for part in expects.split(", ") if part != "..."]
        for name in names.split():
            operator = registry.find(f"aten::{name}")

            def answer(*arguments: Any, operator: Operator = operator) -> Any:
                check(function.__name__, expects, checks, arguments)
                return function(operator, *arguments)

            RULES[operator.name] = answer
            if not only_below:
                AUTOGRAD_NESTED.add(name, _AsKernel(answer, function), where)
        return function

    return register


class _AsKernel:
    """A rule as a kernel; a trace shows it under the name and the place of the function."""

    def __init__(self, answer: Rule, function: Rule) -> None:
        self.answer = answer
        self.__qualname__ = function.__qualname__

    def __call__(self, keys: int, *arguments: Any) -> Any:
        return self.answer(*arguments)


def check(function: str, expects: str, checks: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Refuse an argument that is nested where it must not be, or the other way round."""
    for (name, kind), value in zip(checks, arguments, strict=False):
        words, fits = KINDS[kind.removesuffix("?")]
        if not (fits(value) or (value is None and kind.endswith("?"))):
            optional = "optional tensor" if kind == "t?" else words
            raise ValueError(f"NestedTensor {function}({expects}): expected {name} to be a {optional}")


def answer(operator: Operator, arguments: list[Any]) -> Any:
    """What an operator gives below autograd; see Note [Who answers]."""
    found = RULES.get(operator.name)
    if found is not None:
        return found(*arguments)
    if Tag.pointwise in operator.tags:
        for value in arguments:
            if isinstance(value, SymInt):
                raise RuntimeError(f"NestedTensor {short_name(operator)}: invalid argument {value}")
        count = sum(isinstance(value, TensorImpl) and value._number is None for value in arguments)
        if count in elementwise:
            return elementwise[count](operator, *arguments)
    composite = operator.kernels.get(DispatchKey.CompositeImplicitAutograd)
    if composite:
        kernel = composite[-1]
        return kernel.function(0, *arguments) if kernel.takes_keys else kernel.function(*arguments)
    if operator.name.endswith("_as_strided_backward"):
        raise NotImplementedError("a view of a nested tensor that is changed in place has no gradient in glasstorch")
    raise NotImplementedError(operator)


elementwise: dict[int, Rule] = {}  # by how many tensors there are among the arguments: pointwise.py fills it in
hooks_of_class.answer = answer


def short_name(operator: Operator) -> str:
    """`add.Tensor`, and `sin.default` for an overload without a name."""
    return str(operator).partition(".")[2]


def run(operator: Operator, *arguments: Any) -> Any:
    """An operator on complete arguments, in the order of its schema."""
    keys = compute_keys(keys_of(arguments))
    return operator.table[keys](keys, *arguments)


# The values, and nested tensors of values -----------------------------------------------------------------------------


def inner(x: NestedTensor) -> Tensor:
    """The values: with their history where the tensor has one that is recorded."""
    values: Tensor = get_values(x) if grad_mode.get() and x.requires_grad else x._values
    return values


def like(x: NestedTensor, values: Tensor, **other: Any) -> Any:
    """A nested tensor of values whose sequences are those of another; `other` says what differs."""
    return nested_of(values, **(_parts(x) | other))


def viewed(x: NestedTensor, values: Tensor, **other: Any) -> Any:
    """The same where the values are a view: then the result is one too."""
    parts = _parts(x) | other
    if not (values.requires_grad and grad_mode.get()):
        return nested_of(values, **parts)
    known = (parts["cache"].get(name) for name in ("min_seqlen", "max_seqlen"))
    return view_from_jagged(values, parts["offsets"], _nt_view_dummy(), parts["lengths"], parts["ragged_idx"], *known)


def _parts(x: NestedTensor) -> dict[str, Any]:
    return {"offsets": x._offsets, "lengths": x._lengths, "ragged_idx": x._ragged_idx, "cache": x._metadata_cache}


def nested_of(
    values: Tensor, offsets: Tensor, lengths: Tensor | None = None, ragged_idx: int = 1, cache: Any = None
) -> Any:
    """A nested tensor of these parts, which has the history of the values."""
    made: Any = NestedTensor(values, offsets, lengths=lengths, _ragged_idx=ragged_idx, _metadata_cache=cache)
    if values.requires_grad and grad_mode.get():
        set_history(made, NestedFromValuesBackward0((gradient_edge(values),)))
    return made


class NestedFromValuesBackward0(Node):
    """The node of a nested tensor that a rule has made of its values."""

    def apply(self, grads: Gradients) -> Gradients:
        return (None if grads[0] is None else get_values(grads[0]),)


# Dimensions ---------------------------------------------------------------------------------------------------------


def inner_dim(dim: int, ragged_idx: int) -> int:
    """A dimension of the values: the batch lies in the packed one."""
    return ragged_idx - 1 if dim == 0 else dim - 1


def dense_dim(ndim: int, dim: int, ragged_idx: int, name: str, batch: bool = False, ragged: bool = False) -> int:
    """A dimension of the nested tensor that is neither the batch nor the ragged one, unless that is allowed."""
    wrapped = wrap_dim(dim, ndim)
    if wrapped == ragged_idx and not ragged:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    if wrapped == 0 and not batch:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    return wrapped


def dim_of_values(x: NestedTensor, dim: int, name: str) -> int:
    """The dimension of the values that stands for one which is neither the batch nor the ragged one."""
    return inner_dim(dense_dim(len(x._size), dim, x._ragged_idx, name), x._ragged_idx)


def raggedness_matches(x: NestedTensor, size: Sequence[Any]) -> bool:
    """Whether sizes begin with those of a nested tensor, up to the ragged one; -1 stands for any."""
    mine, given = x._size[: x._ragged_idx + 1], tuple(size)[: x._ragged_idx + 1]
    return len(mine) == len(given) and all(a == b or b == -1 for a, b in zip(mine, given, strict=True))
