"""Which small patterns of nodes can be simplified?

Mirrors: torch/csrc/jit/passes/peephole.cpp, peephole_alias_sensitive.cpp, peephole_list_idioms.cpp
Differs: `x + 0` stays for floats, as -0.0 + 0 is 0.0. Each rule is a row of one table. Views are replaced only if
    they are neither written to nor returned: PyTorch replaces `x.t().t()` by `x` even if the graph would then return
    its input itself.

# Note [Safe replacements]
A rule returns the value that replaces a node's only output, and says how the two are related:
SAME: they are one tensor already, and the replacement is always safe. VIEW: they are two tensors with the same memory,
sizes and strides; one can replace the other unless one of them is written to, which may change its sizes, or the view
is returned, as the caller would get the original. FRESH: the output has memory of its own; in addition to the
conditions of VIEW, the output must not be returned if the caller may have the other too, as an input or an output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import is_contiguous
from glasstorch.core.layout import contiguous_format
from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.constants import UNKNOWN, known
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.types import DTYPE_OF_NUMBER, MEMORY_FORMATS, TensorType


class Relation(Enum):
    """How the replacement for an output is related to it; see Note [Safe replacements]."""

    SAME = auto()
    VIEW = auto()
    FRESH = auto()


class Rule(NamedTuple):
    """One row: for nodes of this kind, a function that returns a replacement for the only output, or None."""

    kind: str
    find: Callable[[Node], Value | None]
    relation: Relation
    needs_types: bool  # whether it relies on the dtypes and sizes in the types


def peephole(graph: Graph, disable_shape_peepholes: bool = False) -> bool:
    """Simplify small patterns by the rules in RULES.

    With `disable_shape_peepholes`, rules that rely on the tensors' types are skipped, as these may hold for the example
    inputs only. Nodes that become unused are left to dead code elimination.
    """
    changed = _run(graph.block, AliasAnalysis(graph), not disable_shape_peepholes)
    graph.lint()
    return changed


def _run(block: Block, analysis: AliasAnalysis, believe_types: bool) -> bool:
    changed = False
    for node in block.nodes:
        for inner in node.blocks:
            changed |= _run(inner, analysis, believe_types)
        if node.kind in ("prim::TupleUnpack", "prim::ListUnpack"):
            changed |= _unpack(node, analysis)
        elif node.kind == "prim::If":
            changed |= _simplify_if(node, analysis)
        else:
            changed |= _replace_by_rule(node, analysis, believe_types)
    return changed


def _replace_by_rule(node: Node, analysis: AliasAnalysis, believe_types: bool) -> bool:
    for rule in RULES.get(node.kind, ()):
        if rule.needs_types and not believe_types:
            continue
        found = rule.find(node)
        if found is not None and _may_stand_for(found, node, rule, analysis):
            _replace(node.output, found, analysis)
            node.destroy()
            return True
    return False


def _may_stand_for(found: Value, node: Node, rule: Rule, analysis: AliasAnalysis) -> bool:
    output = node.output
    if (rule.needs_types or rule.relation is not Relation.SAME) and analysis.has_writers([found, output]):
        return False
    if rule.relation is Relation.VIEW:
        return not analysis.is_returned(output)
    if rule.relation is Relation.FRESH:
        return not (analysis.is_returned(output) and (analysis.is_returned(found) or analysis.is_outside(found)))
    return True


def _replace(old: Value, new: Value, analysis: AliasAnalysis) -> None:
    analysis.merged(new, old)
    old.replace_all_uses_with(new)


# Containers and control flow -----------------------------------------------------------------------------------------


def _unpack(node: Node, analysis: AliasAnalysis) -> bool:
    """Unpacking (a, b) gives a and b."""
    maker = node.inputs[0].node
    if maker.kind != node.kind.replace("Unpack", "Construct"):
        return False
    for output, element in zip(node.outputs, maker.inputs, strict=True):
        _replace(output, element, analysis)
    node.destroy()
    return True


def _simplify_if(node: Node, analysis: AliasAnalysis) -> bool:
    """Replace an output by the condition if the branches give True and False, or by the value if both give the same."""
    changed = False
    for i, output in reversed(list(enumerate(node.outputs))):
        then, otherwise = (block.outputs[i] for block in node.blocks)
        if known(then) is True and known(otherwise) is False:
            stands = node.inputs[0]
        elif then is otherwise:
            stands = then
        else:
            continue
        _replace(output, stands, analysis)
        node.erase_output(i)
        for block in node.blocks:
            block.erase_output(i)
        changed = True
    return changed


# Views ---------------------------------------------------------------------------------------------------------------


def _transposed_twice(node: Node) -> Value | None:
    """x.t().t()"""
    inner = node.inputs[0].node
    return inner.inputs[0] if inner.kind == node.kind else None


def _swapped_twice(node: Node) -> Value | None:
    """x.transpose(a, b).transpose(a, b), or (b, a)"""
    inner = node.inputs[0].node
    if inner.kind != node.kind:
        return None
    dims, others = ([known(value) for value in one.inputs[1:]] for one in (node, inner))
    if any(dim is UNKNOWN for dim in (*dims, *others)):
        return None
    return inner.inputs[0] if sorted(dims) == sorted(others) else None


def _same_sizes(node: Node) -> Value | None:
    """x.expand(x.size()), x.view(x.size()), x.reshape(x.size())"""
    sizes = _tensor_type(node.inputs[0]).sizes
    asked = known(node.inputs[1])
    return node.inputs[0] if sizes is not None and asked is not UNKNOWN and list(sizes) == asked else None


# Conversions that return their argument ------------------------------------------------------------------------------


def _contiguous_already(node: Node) -> Value | None:
    """x.contiguous() of a contiguous x"""
    x, asked = node.inputs
    type = _tensor_type(x)
    if type.sizes is None or type.strides is None or known(asked) != MEMORY_FORMATS.index(contiguous_format):
        return None
    if None in type.sizes or None in type.strides:
        return None
    return x if is_contiguous(type.sizes, type.strides) else None  # type: ignore[arg-type]


def _of_that_dtype(node: Node) -> Value | None:
    """x.to(dtype) of an x with this dtype"""
    if len(node.inputs) != 5:
        return None
    x, dtype, _, copy, memory_format = node.inputs
    wanted = DTYPE_OF_NUMBER.get(known(dtype)) if isinstance(known(dtype), int) else None
    kept = known(copy) is False and known(memory_format) is None
    return x if kept and wanted is not None and _tensor_type(x).dtype is wanted else None


def _of_that_type(node: Node) -> Value | None:
    """x.type_as(y) of an x with y's dtype and device"""
    x, y = map(_tensor_type, node.inputs)
    same = x.dtype is y.dtype and x.device == y.device
    return node.inputs[0] if same and x.dtype is not None and x.device is not None else None


# Arithmetic with a neutral element ---------------------------------------------------------------------------------


def _times_one(node: Node) -> Value | None:
    """x * 1"""
    return node.inputs[0] if _neutral(node) == 1 else None


def _over_one(node: Node) -> Value | None:
    """x / 1 of floats; integers become floats"""
    floating = getattr(_tensor_type(node.inputs[0]).dtype, "is_floating_point", False)
    return node.inputs[0] if len(node.inputs) == 2 and floating and _neutral(node) == 1 else None


def _minus_zero(node: Node) -> Value | None:
    """x - 0; not x - -0.0, which turns -0.0 into 0.0"""
    zero = _neutral(node)
    positive = zero == 0 and math.copysign(1, zero) > 0
    return node.inputs[0] if positive and known(node.inputs[2]) == 1 else None


def _plus_zero(node: Node) -> Value | None:
    """x + 0 of integers; -0.0 + 0 is 0.0"""
    integer = not getattr(_tensor_type(node.inputs[0]).dtype, "is_floating_point", True)
    return node.inputs[0] if integer and _neutral(node) == 0 and known(node.inputs[2]) == 1 else None


def _neutral(node: Node) -> Any:
    """The second operand if it is a number and the result keeps the first one's dtype and sizes; else None.

    A 0-dim constant does not change the sizes of a tensor with dimensions, and its dtype only to a higher category.
    """
    type, other = _tensor_type(node.inputs[0]), known(node.inputs[1])
    if not isinstance(other, Tensor) or other.dim() or other.requires_grad:
        return None
    if type.dtype is None or not type.sizes:
        return None
    if type.dtype.category == 0 or other.dtype.category > type.dtype.category:
        return None
    return other.item()


def _tensor_type(value: Value) -> TensorType:
    return value.type if isinstance(value.type, TensorType) else TensorType()


ROWS: Final = (
    Rule("aten::t", _transposed_twice, Relation.VIEW, needs_types=False),
    Rule("aten::transpose", _swapped_twice, Relation.VIEW, needs_types=False),
    Rule("aten::expand", _same_sizes, Relation.VIEW, needs_types=True),
    Rule("aten::view", _same_sizes, Relation.VIEW, needs_types=True),
    Rule("aten::reshape", _same_sizes, Relation.VIEW, needs_types=True),
    Rule("aten::contiguous", _contiguous_already, Relation.SAME, needs_types=True),
    Rule("aten::to", _of_that_dtype, Relation.SAME, needs_types=True),
    Rule("aten::type_as", _of_that_type, Relation.SAME, needs_types=True),
    Rule("aten::mul", _times_one, Relation.FRESH, needs_types=True),
    Rule("aten::div", _over_one, Relation.FRESH, needs_types=True),
    Rule("aten::sub", _minus_zero, Relation.FRESH, needs_types=True),
    Rule("aten::add", _plus_zero, Relation.FRESH, needs_types=True),
)
RULES: Final = {row.kind: [other for other in ROWS if other.kind == row.kind] for row in ROWS}
